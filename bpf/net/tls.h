/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the TLS probe and obrec share: which function of a TLS library a uprobe stands in. */
#ifndef BPF_TLS_H
#define BPF_TLS_H

/*
 * By their arguments; all begin with (session, buffer, length).
 *   READ, WRITE        return how many bytes went
 *   READ_EX, WRITE_EX  return 1, and the count where the next argument that is a pointer points
 *   READ_TYPED         a READ whose second argument is the kind of record (GnuTLS, inside)
 *   READ_ELSEWHERE, WRITE_ELSEWHERE
 *                      return how many bytes went, from or to no buffer of the caller's
 *   SESSION            moves nothing of the program's: handshakes, looking ahead, shutting down
 *   FREE               a session's end
 *   GO_...             (*Conn).Read and Write of crypto/tls, in registers. RETURN: a return
 *                      instruction of theirs, as a uretprobe would put an address on the stack that
 *                      Go's runtime does not know. DEFERRED: the entry of a closure that a
 *                      LATE_RETURN calls first, with the count above its return address
 */
enum tls_kind {
	TLS_NONE,
	TLS_READ,
	TLS_WRITE,
	TLS_READ_EX,
	TLS_WRITE_EX,
	TLS_READ_TYPED,
	TLS_READ_ELSEWHERE,
	TLS_WRITE_ELSEWHERE,
	TLS_SESSION,
	TLS_FREE,
	TLS_GO_READ,
	TLS_GO_WRITE,
	TLS_GO_RETURN,
	TLS_GO_LATE_RETURN,
	TLS_GO_DEFERRED,
	TLS_KIND_CNT
};

#define TLS_GO_MAX_SZ 65536u /* of a function's code, and of its frame */

/* What a probe that stands in several places is told of each. */
#define TLS_COOKIE(kind, result_at) ((kind) | (__u64)(result_at) << 8)
#define TLS_COOKIE_KIND(cookie) ((cookie)&0xff)
#define TLS_COOKIE_RESULT_AT(cookie) ((__u32)((cookie) >> 8))

#endif
