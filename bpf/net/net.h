/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* Interface between the traffic probes and obrec: sockets and payload records; see also wire.h. */
#ifndef BPF_NET_H
#define BPF_NET_H

#include "bpf/wire.h"

#define NET_MAX_PAYLOAD 65536u /* --payload's upper bound; a power of two */
#define NET_FRAMES_MAX 16384u	/* bytes of HTTP/2 frames in a record, */
#define NET_FRAMES_MORE 10240u	/* additional bytes to complete a header block */
#define NET_UNIX_PATH 108
#define NET_UNSURE_MAX 4096 /* bytes captured per direction while --l7 does not know the protocol */
#define NET_GONE_SOCKS 6    /* per net_gone query: a raw_tp has twelve arguments */
#define NET_GONE_TCP 1u	    /* added to an address (a multiple of 8): no CLOSE was seen */

enum net_dir { NET_SENT, NET_RECEIVED };

/* A socket's protocol as guessed in the kernel. */
enum net_protocol {
	NET_PROTO_UNKNOWN,
#define PROTOCOL(name, shown) NET_PROTO_##name,
#include "format/protocols.def"
#undef PROTOCOL
	NET_PROTO_CNT
};
_Static_assert(NET_PROTO_CNT <= 64, "a bit each in net_l7_keep");

/*
 * An address of a socket, from the point of view of its process. All fields are in host byte order.
 */
struct net_addr {
	__u8 addr[16]; /* IPv4 in the first four bytes (also of IPv4-mapped IPv6) */
	__u16 port;
	__u16 family; /* 4, 6; 0 for none */
	__u32 pad;
};

enum net_sock_flags {
	NET_CLIENT = 1,
	NET_SERVER = 2,
	NET_SAMPLED_OUT = 4, /* payload not captured because of --sample */
	NET_OPENED = 8,	     /* opened during the capture: opened_ns is exact */
	NET_SEQ = 16,	     /* << enum net_dir: seq is known */
	NET_TLS = 64,	     /* payload is captured in the TLS library */
	NET_SHARE = 128,     /* entry for the traffic of another process on the socket */
	NET_SHARED = 256,    /* a NET_SHARE entry exists for the socket */
	NET_RESET = 512,     /* closed by the peer's RST */
	NET_TIMED_OUT = 1024, /* closed because no acknowledgement came */
};

/* HTTP/2 parser state of a direction. 0: the position of the next frame is not known; else
 * FRAME_KNOWN and the flags below. */
enum frame_state {
	FRAME_HEAD_SEEN = 15, /* mask: bytes of the frame header seen in the previous call */
	FRAME_IN_BLOCK = 64,  /* the current frame carries header fields */
	FRAME_KNOWN = 128,
};

/*
 * One socket: value of map `net_socks`. The key is the address of its struct sock, or the socket's
 * id after the struct sock was reused. Also the traffic of a second process on the socket, key:
 * NET_SHARE_KEY(). Counters never decrease; obrec reads them every second and computes differences.
 * A struct sock may be reused, so the entry is verified by the socket's inode.
 */
struct net_sock {
	__u64 inode; /* inode of the socket in sockfs */
	__u32 id;    /* unique in a capture */
	__u32 tgid;  /* process of the first transfer or, before it, first process seen */
	__u64 opened_ns;
	__u64 closed_ns; /* 0: open; obrec removes closed entries later */
	__u64 seen_ns;
	__u64 bytes[2], calls[2]; /* by enum net_dir; sums of all processes */
	struct net_addr local, remote;
	__u32 netns;
	__u16 transport; /* enum transport of format/records.h */
	__u16 flags;	 /* enum net_sock_flags */
	__u32 peer_pid;
	__u32 retransmits;
	__u32 srtt_us;
	union {
		__u32 seq[2]; /* TCP, with NET_SEQ: number after the counted bytes */
		__u32 shared; /* NET_SHARE: id of the socket's main entry */
	};
	/*
	 * State of the protocol guess, used only as a filter. Set from the first bytes of either
	 * direction, kept when later calls are inconclusive, replaced after repeated contradiction.
	 */
	__u8 protocol; /* enum net_protocol */
	__u8 doubts;   /* number of consecutive contradicting guesses */
	union {
		__u8 pipelined;	     /* number of further calls captured beyond --payload */
		__u8 frame_state[2]; /* HTTP/2: enum frame_state */
	};
	union {
		struct {
			__u32 left[2];	 /* rest of a message that spans several calls */
			union {
				__u32 unsure[2]; /* --l7: bytes captured while unknown */
				__u32 single[2]; /* without --l7: size of the last complete
						  * message */
			};
		};
		struct {
			__u32 frame[2];	     /* HTTP/2: next frame or rest of its header */
			__u32 frame_head[2]; /* header bytes seen so far, at most four */
		};
	};
	__u64 plain[2];	 /* NET_TLS: plaintext bytes */
	__u64 key;	 /* address of its struct sock, as a number */
};
/* The kernel's allocator adds 64 bytes and rounds up to 256; the next size is 512. */
_Static_assert(sizeof(struct net_sock) <= 192, "an entry takes twice its memory");
/* Kernel addresses differ below bit 40 unless the machine has a terabyte of memory. */
#define NET_SHARE_KEY(sk, tgid) ((sk) ^ (__u64)(tgid) << 40)

/* Traffic of processes other than the entry's on a socket: value of map `net_others`, same key as
 * the entry. */
struct net_others {
	__u64 bytes[2], calls[2];
};

/* Hook that counts the bytes of sockets. Bytes that it does not see are counted at system call
 * exit. */
enum net_by {
	NET_BY_EXIT,
	NET_BY_SOCK,  /* tracepoints on sockets: all transports */
	NET_BY_ENTRY, /* entry of the protocol functions: TCP and UDP */
};

/* State of a hook that slows down calls of other processes. It is attached when first needed, with
 * NET_BY_SOCK: the kernel side requests it, and obrec attaches it. */
enum net_on_demand {
	NET_DEMAND_OFF,
	NET_DEMAND_WANTED,
	NET_DEMAND_ON,
	NET_DEMAND_NONE, /* cannot be attached */
};

/* ---- ring-buffer records ---- */

/* A new socket, an update of its data, or its end with the final counters. */
struct wire_sock {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 closed; /* 0: new or updated, 1: closed */
	__u32 path_sz;
	struct net_sock sock;
	char path[NET_UNIX_PATH]; /* Unix sockets: the bound name of either end */
	char comm[WIRE_COMM_LEN];
};

struct wire_payload {
	struct wire_hdr hdr;
	__u64 ts_ns;
	__u32 sock; /* net_sock.id */
	__u32 tgid, tid;
	__u32 flags; /* enum payload_flags of format/records.h */
	__u64 pos;   /* stream position of the first byte in this direction */
	__u32 len;   /* bytes transferred by the call */
	__u32 kept;  /* bytes captured in data */
	__u32 tcp_seq;
	__u32 dir;
	char comm[WIRE_COMM_LEN];
	struct net_addr peer; /* for datagrams on unconnected sockets */
	__u8 data[];
};

/*
 * Header of an element of map `net_scratch`, where payload records are assembled. obrec reads the
 * records in place; there is one writer at a time. The layout is that of a kernel ring buffer
 * (Documentation/bpf/ringbuf.rst): each record follows BPF_RINGBUF_HDR_SZ bytes that contain its
 * size. The kernel maps its ring twice so that records are contiguous; here a record that starts in
 * the ring continues beyond its end. A record that does not fit is assembled after that area and
 * lost.
 */
struct net_ring {
	__u64 consumer; /* read position of obrec, in separate cache lines */
	__u64 pad[15];
	__u64 producer;
};
#define NET_RING_DATA 512u /* offset of the ring's data */
/* Maximum space of a record, with its size header and padding. */
#define NET_RECORD_SZ(kept) (8 + sizeof(struct wire_payload) + (kept) + 7)
/* Offset of a record that does not fit into the ring. */
#define NET_RING_ASIDE(ring_sz) (((ring_sz) + NET_RECORD_SZ(NET_MAX_PAYLOAD)) & ~7ULL)
/* Leaves room after the start of any record for an offset and a length below the limit. */
#define NET_SCRATCH_SZ(ring_sz) \
	(NET_RING_DATA + NET_RING_ASIDE(ring_sz) + NET_RECORD_SZ(2 * NET_MAX_PAYLOAD))
/* Elements for uprobes, after one for each CPU. A uprobe's program can be preempted while it holds
 * one; the next on the same CPU then needs another. */
#define NET_PLAIN_SLOTS(cpus) (((cpus)*3 + 1) / 2)

#endif
