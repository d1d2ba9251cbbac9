/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the TLS probe and obrec share: which function of a TLS library a uprobe stands in. */
#ifndef BPF_TLS_H
#define BPF_TLS_H

/*
 * By their arguments; all begin with (session, buffer, length).
 *   READ, WRITE        return how many bytes went
 *   READ_EX, WRITE_EX  return 1, and the count where the next argument that is a pointer points
 *   READ_TYPED         a READ whose second argument is the kind of record (GnuTLS, inside)
 *   HANDSHAKE          only a session; FREE: its end
 *   GO_...             (*Conn).Read and Write of crypto/tls, in registers; RETURN: their return
 *                      instructions, as a uretprobe would put an address on the stack that Go's
 *                      runtime does not know
 */
enum tls_kind {
	TLS_NONE,
	TLS_READ,
	TLS_WRITE,
	TLS_READ_EX,
	TLS_WRITE_EX,
	TLS_READ_TYPED,
	TLS_HANDSHAKE,
	TLS_FREE,
	TLS_GO_READ,
	TLS_GO_WRITE,
	TLS_GO_RETURN,
	TLS_KIND_CNT
};

#endif
