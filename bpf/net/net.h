/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* What the traffic probes and obrec share: sockets and payload records; see wire.h for the rest. */
#ifndef BPF_NET_H
#define BPF_NET_H

#include "bpf/wire.h"

#define NET_MAX_PAYLOAD 65536u /* --payload's upper bound; a power of two */
#define NET_FRAMES_MAX 16384u	/* of HTTP/2's frames in a record, */
#define NET_FRAMES_MORE 10240u	/* where a header block does not end there */
#define NET_UNIX_PATH 108
#define NET_UNSURE_MAX 4096 /* bytes a direction of unknown traffic that --l7 keeps */
#define NET_GONE_SOCKS 6    /* that net_gone is asked of at once: a raw_tp has twelve arguments */
#define NET_GONE_TCP 1u	    /* added to an address, which is a multiple of 8: no CLOSE was noted */

enum net_dir { NET_SENT, NET_RECEIVED };

/* What the kernel takes a socket's protocol for. */
enum net_protocol {
	NET_PROTO_UNKNOWN,
#define PROTOCOL(name) NET_PROTO_##name,
#include "format/protocols.def"
#undef PROTOCOL
	NET_PROTO_CNT
};
_Static_assert(NET_PROTO_CNT <= 64, "a bit each in net_l7_keep");

/* The ends of a socket as its process sees them; network byte order nowhere. */
struct net_addr {
	__u8 addr[16]; /* IPv4 in the first four bytes (v4-mapped IPv6 too) */
	__u16 port;
	__u16 family; /* 4, 6; 0 for none */
	__u32 pad;
};

enum net_sock_flags {
	NET_CLIENT = 1,
	NET_SERVER = 2,
	NET_SAMPLED_OUT = 4, /* --sample left this connection's payload out */
	NET_OPENED = 8,	     /* opened while recording: opened_ns is exact */
	NET_SEQ = 16,	     /* << enum net_dir: seq is known */
	NET_TLS = 64,	     /* its payload is what its TLS library takes and gives */
	NET_SHARE = 128,     /* not the socket, but what one more process moves on it */
	NET_SHARED = 256,    /* there is such an entry */
};

/* HTTP/2: 0 where it is not known where the next frame begins; else FRAME_KNOWN and what follows. */
enum frame_state {
	FRAME_HEAD_SEEN = 15, /* of its head so many bytes, in the call before */
	FRAME_IN_BLOCK = 64,  /* what ends there carries header fields */
	FRAME_KNOWN = 128,
};

/*
 * One socket: the value of map `net_socks`, key: address of its struct sock, or its id once that is
 * another socket's; or what a second process moves on it, key: NET_SHARE_KEY(). Counts only grow;
 * obrec reads them every second and takes the differences. An entry is checked against the socket's
 * inode, since a struct sock is used again.
 */
struct net_sock {
	__u64 inode; /* of the socket in sockfs */
	__u32 id;    /* never used again in a capture */
	__u32 tgid;  /* whose bytes moved first; until then, who was seen with it first */
	__u64 opened_ns;
	__u64 closed_ns; /* 0: open; obrec removes the entry a little later */
	__u64 seen_ns;
	__u64 bytes[2], calls[2]; /* by enum net_dir; of all processes */
	struct net_addr local, remote;
	__u32 netns;
	__u16 transport; /* enum transport of format/records.h */
	__u16 flags;	 /* enum net_sock_flags */
	__u32 peer_pid;
	__u32 retransmits;
	__u32 srtt_us;
	union {
		__u32 seq[2]; /* TCP, with NET_SEQ: the sequence number that the counted bytes reach */
		__u32 shared; /* NET_SHARE: id of the socket's own entry */
	};
	/* The memory of guesses, a filter only: from the first bytes of either direction, kept when
	 * later calls cannot tell, replaced after repeated contradiction. */
	__u8 protocol; /* enum net_protocol */
	__u8 doubts;   /* guesses in a row that were another */
	union {
		__u8 pipelined;	     /* more than the head is kept of so many more calls */
		__u8 frame_state[2]; /* HTTP/2: enum frame_state */
	};
	union {
		struct {
			__u32 left[2];	 /* of a message larger than the calls that carry it */
			union {
				__u32 unsure[2]; /* --l7: bytes kept while unknown */
				__u32 single[2]; /* without: what the last whole message took */
			};
		};
		struct {
			__u32 frame[2];	     /* HTTP/2: where a frame begins next, or its rest */
			__u32 frame_head[2]; /* what was seen of its head, four bytes at most */
		};
	};
	__u64 plain[2];	 /* NET_TLS: bytes of clear text */
	__u64 key;	 /* address of its struct sock, as a number to programs that may know it as a
			    pointer only */
};
/* The kernel's allocator adds 64 bytes and rounds up to 256, the next size being 512. */
_Static_assert(sizeof(struct net_sock) <= 192, "an entry takes twice its memory");
/* Addresses of the kernel differ below bit 40, unless it has a terabyte. */
#define NET_SHARE_KEY(sk, tgid) ((sk) ^ (__u64)(tgid) << 40)

/* What others than the entry's process have moved on a socket: the value of map `net_others`, by the
 * entry's key. */
struct net_others {
	__u64 bytes[2], calls[2];
};

/* What counts a socket's bytes; the rest is counted at the exits of system calls. */
enum net_by {
	NET_BY_EXIT,
	NET_BY_SOCK,  /* tracepoints on sockets: every transport */
	NET_BY_ENTRY, /* entries of the protocols' functions: TCP and UDP */
};

/* What makes others' calls dearer is attached when it is first needed, with NET_BY_SOCK: the kernel
 * side asks for it, and obrec attaches it. */
enum net_on_demand {
	NET_DEMAND_OFF,
	NET_DEMAND_WANTED,
	NET_DEMAND_ON,
	NET_DEMAND_NONE, /* cannot be attached */
};

/* ---- ring-buffer records ---- */

/* A socket seen for the first time (first), or its end with the final counts. */
struct wire_sock {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 closed; /* 0: new or better known, 1: gone */
	__u32 path_sz;
	struct net_sock sock;
	char path[NET_UNIX_PATH]; /* Unix sockets: the bound name, of either end */
	char comm[WIRE_COMM_LEN];
};

struct wire_payload {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 sock; /* net_sock.id */
	__u32 tgid, tid;
	__u32 flags; /* enum payload_flags of format/records.h */
	__u64 pos;   /* of the first byte in this direction */
	__u32 len;   /* what the call moved */
	__u32 kept;  /* bytes of data */
	__u32 tcp_seq;
	__u32 dir;
	char comm[WIRE_COMM_LEN];
	struct net_addr peer; /* datagrams on unconnected sockets */
	__u8 data[];
};

/*
 * Where payload records are put together: how an element of map `net_scratch` begins. obrec reads
 * them there, with one writer at a time, as in a ring buffer of the kernel's
 * (Documentation/bpf/ringbuf.rst): BPF_RINGBUF_HDR_SZ bytes with its size before each record, the
 * next behind it. Where the kernel joins the end to the beginning by mapping it twice, a record
 * that begins in the ring goes on beyond its end. What finds no room is put together behind that.
 */
struct net_ring {
	__u64 consumer; /* where obrec has come to, in cache lines of its own */
	__u64 pad[15];
	__u64 producer;
};
#define NET_RING_DATA 512u /* where the bytes of a ring begin */
/* What a record takes at most: with what comes before it, and rounded up. */
#define NET_RECORD_SZ(kept) (8 + sizeof(struct wire_payload) + (kept) + 7)
/* Where those lie that find no room. */
#define NET_RING_ASIDE(ring_sz) (((ring_sz) + NET_RECORD_SZ(NET_MAX_PAYLOAD)) & ~7ULL)
/* An offset and a length below the bound always fit behind a record's beginning. */
#define NET_SCRATCH_SZ(ring_sz) \
	(NET_RING_DATA + NET_RING_ASIDE(ring_sz) + NET_RECORD_SZ(2 * NET_MAX_PAYLOAD))

#endif
