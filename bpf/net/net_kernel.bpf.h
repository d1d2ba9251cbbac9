/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Kernel types of sockets, and map `net_socks`. Include after core.bpf.h.
 */
#ifndef BPF_NET_KERNEL_BPF_H
#define BPF_NET_KERNEL_BPF_H

#include <bpf/bpf_endian.h>

#include "bpf/core.bpf.h"
#include "bpf/net/net.h"

#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_DGRAM 2
#define SOCK_SEQPACKET 5
#define IPPROTO_TCP 6
#define IPPROTO_UDP 17
#define TRANSPORT_UNIX_STREAM 257
#define TRANSPORT_UNIX_DGRAM 258
#define RCV_SHUTDOWN 1
#define MSG_PEEK 2
#define MSG_TRUNC 0x20

/* <net/tcp_states.h> */
enum {
	TCP_ESTABLISHED = 1,
	TCP_SYN_SENT,
	TCP_SYN_RECV,
	TCP_FIN_WAIT1,
	TCP_FIN_WAIT2,
	TCP_TIME_WAIT,
	TCP_CLOSE,
	TCP_CLOSE_WAIT,
	TCP_LAST_ACK,
	TCP_LISTEN,
	TCP_CLOSING,
	TCP_NEW_SYN_RECV,
};

struct ns_common {
	unsigned int inum;
} __attribute__((preserve_access_index));
struct net {
	struct ns_common ns;
} __attribute__((preserve_access_index));
typedef struct {
	struct net *net;
} __attribute__((preserve_access_index)) possible_net_t;
struct in6_addr {
	union {
		__u8 u6_addr8[16];
		__u32 u6_addr32[4];
	} in6_u;
} __attribute__((preserve_access_index));

struct sock_common {
	__u32 skc_daddr, skc_rcv_saddr;
	__u16 skc_dport, skc_num;
	unsigned short skc_family;
	unsigned char skc_state;
	possible_net_t skc_net;
	struct in6_addr skc_v6_daddr, skc_v6_rcv_saddr;
} __attribute__((preserve_access_index));

struct inode {
	unsigned long i_ino;
} __attribute__((preserve_access_index));
struct file {
	struct inode *f_inode;
	void *private_data;
} __attribute__((preserve_access_index));
struct upid {
	int nr;
} __attribute__((preserve_access_index));
struct pid {
	struct upid numbers[1];
} __attribute__((preserve_access_index));
struct sock;
struct socket {
	struct file *file;
	struct sock *sk;
} __attribute__((preserve_access_index));
struct sk_buff_head {
	__u32 qlen;
} __attribute__((preserve_access_index));
struct sock {
	struct sock_common __sk_common;
	struct sk_buff_head sk_receive_queue;
	__u16 sk_type, sk_protocol;
	__u32 sk_max_ack_backlog;
	__u8 sk_shutdown;
	int sk_err;
	__u8 sk_userlocks : 4;
	struct socket *sk_socket;
	struct pid *sk_peer_pid;
} __attribute__((preserve_access_index));
struct inet_sock {
	__u16 inet_sport;
} __attribute__((preserve_access_index));
struct inet_bind_bucket {
	signed char fastreuse;
} __attribute__((preserve_access_index));
struct inet_connection_sock {
	struct inet_bind_bucket *icsk_bind_hash;
	const struct tcp_ulp_ops *icsk_ulp_ops;
} __attribute__((preserve_access_index));
struct tcp_sock {
	__u32 copied_seq, write_seq, rcv_nxt, rcv_wup, snd_una, snd_nxt, srtt_us, total_retrans;
	__u64 bytes_received;
} __attribute__((preserve_access_index));
struct sockaddr_un {
	char sun_path[108];
} __attribute__((preserve_access_index));
struct refcount_struct {
	struct {
		int counter;
	} refs;
} __attribute__((preserve_access_index));
struct unix_address {
	struct refcount_struct refcnt;
	int len;
	struct sockaddr_un name[];
} __attribute__((preserve_access_index));
struct unix_sock {
	struct unix_address *addr;
	struct sock *peer;
} __attribute__((preserve_access_index));

/* Not preallocated. Sized for proxies, which often have a hundred thousand connections. */
struct net_socks_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 131072);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct net_sock);
};
extern struct net_socks_map net_socks SEC(".maps");

/*
 * A TLS library sent or received `len` bytes of plaintext at ts_ns, at user address `user`, for the
 * socket with this key (net_plain.bpf.c). PLAIN_ID() combines the socket's id and the direction,
 * because functions have at most five arguments. Returns -1 when there is no such socket.
 */
#define PLAIN_ID(id, dir) ((id) | (__u64)(dir) << 32)
int net_take_plain(__u64 sk, __u64 id_dir, __u64 user, __u32 len, __u64 ts_ns);
int net_take_plain_5_10(__u64 sk, __u64 id_dir, __u64 user, __u32 len, __u64 ts_ns);

/* `typed`: see kernel.bpf.h; otherwise the pointer may be from any source. */
/* Uses a cast: for each pointer read from a trusted struct, the verifier looks up four names in the
 * whole BTF of the kernel (btf_nested_type_is_trusted()), which takes a millisecond. */
static __always_inline __u64 sock_inode(struct sock *sk, bool typed)
{
	if (typed)
		return cast_typed(struct sock, sk)->sk_socket->file->f_inode->i_ino;
	return BPF_CORE_READ(sk, sk_socket, file, f_inode, i_ino);
}

/* struct sock of an open file; NULL when it is not a socket. */
static __always_inline struct sock *sock_of_file(struct file *file)
{
	/* Every file has private_data; that of a socket points back to the file. */
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk;

	if (!socket || BPF_CORE_READ(socket, file) != file)
		return NULL;
	sk = BPF_CORE_READ(socket, sk);
	return sk && BPF_CORE_READ(sk, sk_socket) == socket ? sk : NULL;
}

/* struct sock of a file descriptor of the current task; NULL when it is not a socket. */
static __always_inline struct sock *sock_of_fd(__u32 fd)
{
	struct file *file = current_file(fd);

	return file ? sock_of_file(file) : NULL;
}

#endif
