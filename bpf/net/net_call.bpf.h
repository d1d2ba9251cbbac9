/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/* The current system call of a program: its thread, number, arguments and kind of buffers. */
#ifndef BPF_NET_CALL_BPF_H
#define BPF_NET_CALL_BPF_H

#include "bpf/net/net_sock.bpf.h"

/* How a system call passes its buffers. */
enum buffers { BUF_NONE, BUF_PLAIN, BUF_IOVEC, BUF_MSGHDR };

struct call {
	__u64 who; /* value of bpf_get_current_pid_tgid() */
	__u64 nr, arg[3];
	__u32 flags; /* MSG_... flags of a receiving call */
};
enum { NR_none = -1 }; /* also the number that the kernel uses for interrupts */

#if defined(__TARGET_ARCH_x86)
enum {
	NR_read = 0,
	NR_write = 1,
	NR_close = 3,
	NR_readv = 19,
	NR_writev = 20,
	NR_connect = 42,
	NR_accept = 43,
	NR_sendto = 44,
	NR_recvfrom = 45,
	NR_sendmsg = 46,
	NR_recvmsg = 47,
	NR_accept4 = 288,
	NR_recvmmsg = 299,
	NR_sendmmsg = 307,
	NR_sendfile = 40,
	NR_splice = 275
};
#elif defined(__TARGET_ARCH_arm64)
enum {
	NR_read = 63,
	NR_write = 64,
	NR_close = 57,
	NR_readv = 65,
	NR_writev = 66,
	NR_connect = 203,
	NR_accept = 202,
	NR_sendto = 206,
	NR_recvfrom = 207,
	NR_sendmsg = 211,
	NR_recvmsg = 212,
	NR_accept4 = 242,
	NR_recvmmsg = 243,
	NR_sendmmsg = 269,
	NR_sendfile = 71,
	NR_splice = 76
};
#endif

/* Flags of a receiving call, from its arguments; 0 for other calls. */
int net_flags_of(__u64 nr, __u64 arg2, __u64 arg3);

/* Reads only the registers needed: struct arch_regs is large, and the stack is small. */
static __always_inline long current_call(struct call *c)
{
	const struct arch_regs *regs = current_regs_place();
#if defined(__TARGET_ARCH_x86)
	struct {
		__u64 r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	} r;

	_Static_assert(sizeof(r) == __builtin_offsetof(struct arch_regs, ip) -
					    __builtin_offsetof(struct arch_regs, r10),
		       "struct arch_regs from r10 on");
	if (bpf_probe_read_kernel(&r, sizeof(r), &regs->r10))
		return -1;
	c->nr = r.orig_ax;
	c->arg[0] = r.di, c->arg[1] = r.si, c->arg[2] = r.dx;
	c->flags = net_flags_of(c->nr, r.dx, r.r10);
#else
	__u64 args[4];
	struct {
		__u64 orig_x0;
		__s32 syscallno;
	} r;

	if (bpf_probe_read_kernel(&r, sizeof(r), &regs->orig_x0) ||
	    bpf_probe_read_kernel(args, sizeof(args), regs->regs))
		return -1;
	c->nr = r.syscallno;
	c->arg[0] = r.orig_x0, c->arg[1] = args[1], c->arg[2] = args[2];
	c->flags = net_flags_of(c->nr, args[2], args[3]);
#endif
	return 0;
}

/* As current_call(), for kernels with bpf_task_pt_regs() and dereferenceable results: much cheaper.
 * Reads as little as possible, because each word becomes a dozen instructions. */
static __always_inline void current_call_typed(struct call *c, struct task_struct *current,
					       __u32 flags)
{
	const struct arch_regs *r = current_regs_typed(current);

#if defined(__TARGET_ARCH_x86)
	c->nr = r->orig_ax;
	c->arg[0] = r->di, c->arg[1] = r->si, c->arg[2] = r->dx;
#else
	c->nr = r->syscallno;
	c->arg[0] = r->orig_x0, c->arg[1] = r->regs[1], c->arg[2] = r->regs[2];
#endif
	c->flags = flags;
}

/* Address of a datagram's peer in sendto() and recvfrom(): their fifth argument. */
static __always_inline __u64 current_peer(void)
{
	const struct arch_regs *regs = current_regs_place();
	__u64 user = 0;

#if defined(__TARGET_ARCH_x86)
	bpf_probe_read_kernel(&user, sizeof(user), &regs->r8);
#else
	bpf_probe_read_kernel(&user, sizeof(user), &regs->regs[4]);
#endif
	return user;
}

struct task_struct___io_uring {
	void *io_uring;
} __attribute__((preserve_access_index));

/* Whether the task has used io_uring. */
static __always_inline bool uses_io_uring(struct task_struct *task, bool typed)
{
	struct task_struct___io_uring *t = (void *)task;

	if (!bpf_core_field_exists(t->io_uring))
		return false;
	if (typed) /* as in sock_inode() */
		return ((struct task_struct___io_uring *)cast_typed(struct task_struct, t))
			->io_uring;
	return BPF_CORE_READ(t, io_uring);
}

/*
 * Whether the current system call is not the one that transfers the socket's data, so that its
 * buffer is unrelated. io_uring transfers data when the thread returns from any system call, and
 * file systems use the kernel's own sockets, which have no file. `current`: the current task, typed
 * or not.
 */
static __always_inline bool is_others_call(const struct net_sock *s, const struct call *c,
					   struct task_struct *current, bool typed)
{
	return !s->inode || (uses_io_uring(current, typed) && !net_sock_has_fd(s->key, c->arg[0]));
}

static __always_inline bool of_many(const struct call *c)
{
	return c->nr == NR_sendmmsg || c->nr == NR_recvmmsg;
}

/* Returns its argument as a value unknown to the verifier, which can then prune states that differ
 * only in it. */
int net_number(__u64 number);
/* How a system call passes its buffers: enum buffers, and enum net_dir << BUFFERS_DIR. */
int net_buffers_of(__u64 nr);
#define BUFFERS_HOW 0xff
#define BUFFERS_DIR 8

struct user_msghdr { /* ABI: <linux/socket.h> on 64-bit */
	__u64 name;
	__u32 name_sz, pad;
	__u64 iov, iov_cnt, control, control_sz;
	__u32 flags, pad2;
};
struct user_iovec {
	__u64 base, len;
};

/*
 * Whether a call's payload is captured at its exit. The sender of a datagram is in the caller's
 * memory only at the exit (read() does not return it). The destination is available at any time,
 * but at the entry of a function the transferred length is not known.
 */
static __always_inline bool left_to_exit(const struct net_sock *s, __u32 dir, const struct call *c)
{
	if (!unconnected_datagram(s) || c->nr == NR_read || c->nr == NR_readv || c->nr == NR_none)
		return false;
	return dir == NET_RECEIVED || net_by != NET_BY_SOCK;
}

extern __u32 net_exits_state; /* enum net_on_demand */

/* Whether any payload was captured at a system call exit, indexed by the low bits of the tgid. */
extern bool net_at_exit[256];
static __always_inline bool *at_exit_of(__u32 tgid)
{
	return &net_at_exit[tgid & (sizeof(net_at_exit) - 1)];
}

#endif
