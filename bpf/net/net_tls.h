/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the TLS probe and obrec: the kind of function of a TLS library that a uprobe is
 * attached to. */
#ifndef BPF_NET_TLS_H
#define BPF_NET_TLS_H

/*
 * Functions by their arguments; all start with (session, buffer, length).
 *   READ, WRITE        return the number of bytes
 *   READ_EX, WRITE_EX  return 1; the number of bytes is stored where the next pointer argument
 *                      points
 *   READ_TYPED         a READ whose second argument is the record type (GnuTLS, internal)
 *   READ_ELSEWHERE, WRITE_ELSEWHERE
 *                      return the number of bytes; the data is not in a buffer of the caller
 *   SESSION            transfers no application data: handshake, peek, shutdown
 *   FREE               frees a session
 *   GO_...             (*Conn).Read and Write of crypto/tls, arguments in registers. RETURN: one
 *                      of their return instructions; a uretprobe would put an address on the
 *                      stack that Go's runtime does not know. DEFERRED: entry of a closure that
 *                      LATE_RETURN calls first, with the result above its return address
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

#define TLS_GO_MAX_SZ 65536u /* limit of a function's code size and of its frame size */

/* Cookie of a probe that is attached in several places. */
#define TLS_COOKIE(kind, result_at) ((kind) | (__u64)(result_at) << 8)
#define TLS_COOKIE_KIND(cookie) ((cookie)&0xff)
#define TLS_COOKIE_RESULT_AT(cookie) ((__u32)((cookie) >> 8))

#endif
