/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * TCP connections: how long connect() takes or why it fails, and what a connection did in its life.
 *
 *   client  CLOSE -> SYN_SENT           by the process that connects
 *           SYN_SENT -> ESTABLISHED     softirq: connected
 *           SYN_SENT -> CLOSE           sk_err: why; 0: the program gave up
 *   server  -> SYN_RECV -> ESTABLISHED  softirq: nobody's yet
 *           first read                  by the process that reads
 *   both    -> FIN_WAIT1, LAST_ACK      by the process that closes
 *           -> CLOSE                    the row is sent, unless it is nobody's
 *           tcp_destroy_sock            by the process that closes after a reset: the row is sent
 *
 * Rows are sent at CLOSE where possible, as tcp_disconnect() clears the counters afterwards.
 *
 * The time in a state is counted when it is left; of a state that began before the capture, since
 * its start; of one that goes on at its end, by obrec. There is none in TIME-WAIT: the socket is
 * gone by then. SYN-RECV is that of the new socket, which begins with the last ACK.
 */
#include "bpf/probe/tcp.bpf.h"

const volatile __u64 tcp_min_ns;	    /* connects of this length or more become events */
const volatile __u64 tcp_tick_ns = 4000000; /* of jiffies */

enum { SOCK_DONE = 1 }; /* bit of skc_flags: a FIN was received */
enum { CHRONO_BUSY, CHRONO_RWND_LIMITED, CHRONO_SNDBUF_LIMITED }; /* enum tcp_chrono, minus 1 */

struct sock___flags {
	struct {
		unsigned long skc_flags;
	} __sk_common;
} __attribute__((preserve_access_index));
struct minmax_sample {
	__u32 v;
} __attribute__((preserve_access_index));
struct minmax {
	struct minmax_sample s[3];
} __attribute__((preserve_access_index));
struct tcp_sock___life {
	__u64 bytes_sent, bytes_retrans, bytes_received;
	__u32 segs_out, segs_in, total_retrans, srtt_us, snd_cwnd, lost, chrono_stat[3];
	struct minmax rtt_min;
} __attribute__((preserve_access_index));

struct tcp_conns_map tcp_conns SEC(".maps");
struct tcp_ports_map tcp_ports SEC(".maps");
struct tcp_listeners_map tcp_listeners SEC(".maps");
struct tcp_flows_map tcp_flows SEC(".maps");
struct tcp_calls_map tcp_calls SEC(".maps");

static __always_inline void tcp_unseen(void)
{
	struct metric_key key = {};

	count_add(PROBE_tcp, SERIES_tcp_unseen, &key, 0);
}

static __always_inline void tcp_owned_by_current(struct tcp_conn *conn)
{
	conn->who = bpf_get_current_pid_tgid();
	bpf_get_current_comm(conn->comm, sizeof(conn->comm));
	task_process_name(conn->process, (void *)bpf_get_current_task(), false);
}

/* The current thread's call to connect(). */
static __always_inline struct tcp_call *tcp_call_of(struct sock *sk)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct tcp_call *call = bpf_map_lookup_elem(&tcp_calls, &tid);

	return call && call->sk == (__u64)sk ? call : NULL;
}

static __always_inline void tcp_begin(struct sock *sk, __u32 role, __u32 state)
{
	struct tcp_conn conn = {.begin_ns = bpf_ktime_get_ns(), .role = role, .state = state};
	__u64 id = (__u64)sk;
	struct tcp_conn *before;
	struct tcp_call *call;
	struct tcp_place at;
	struct tcp_port *port;
	int err;

	conn.since_ns = conn.begin_ns;
	before = bpf_map_lookup_elem(&tcp_conns, &id);
	if (before && !before->failed)
		tcp_unseen(); /* its end */
	if (role == ROLE_CLIENT) {
		tcp_owned_by_current(&conn);
		if (!is_recorded(conn.who >> 32)) {
			bpf_map_delete_elem(&tcp_conns, &id);
			return;
		}
		call = tcp_call_of(sk);
		if (call)
			call->begun = 1;
	} else {
		tcp_place_of(&at, sk);
		port = tcp_listener_at(&at);
		if (port) {
			conn.listener = port->tgid;
			__builtin_memcpy(conn.process, port->process, sizeof(conn.process));
		}
	}
	err = bpf_map_update_elem(&tcp_conns, &id, &conn, BPF_ANY);
	if (err)
		loss_count(LOSS_PENDING);
}

/* A connection whose beginning was not seen. */
static __always_inline struct tcp_conn *tcp_add(struct sock *sk, __u32 state)
{
	struct tcp_conn conn = {.since_ns = bpf_ktime_get_ns(), .state = state, .connected = 1};
	__u64 id = (__u64)sk;
	int err;

	err = bpf_map_update_elem(&tcp_conns, &id, &conn, BPF_NOEXIST);
	if (err)
		loss_count(LOSS_PENDING);
	return bpf_map_lookup_elem(&tcp_conns, &id);
}

static __always_inline void tcp_flow_of(struct tcp_flow *flow, struct sock *sk)
{
	tcp_address(flow->local, sk, false);
	tcp_address(flow->remote, sk, true);
	flow->local_port = BPF_CORE_READ(sk, __sk_common.skc_num);
	flow->remote_port = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
}

static __noinline int tcp_note_flow(struct sock *sk)
{
	struct tcp_flow flow = {};
	__u64 id = (__u64)sk;

	tcp_flow_of(&flow, sk);
	bpf_map_update_elem(&tcp_flows, &flow, &id, BPF_ANY);
	return 0;
}

static __always_inline void tcp_connect_end(struct sock *sk, struct tcp_conn *conn, bool failed)
{
	__u64 ns = bpf_ktime_get_ns() - conn->begin_ns;
	__u32 error = failed ? BPF_CORE_READ(sk, sk_err) : 0;
	struct event_tcp_connect *e;
	struct tcp_flow flow = {};
	struct tcp_call *call;

	call = failed && !error ? tcp_call_of(sk) : NULL;
	if (call) { /* its result says why */
		call->begun = 0;
		return;
	}
	tcp_flow_of(&flow, sk);
	tcp_count_connect(&flow, ns, error, failed);
	if (ns < tcp_min_ns)
		return;
	e = EVENT_BEGIN_OF(tcp, tcp_connect, SERIES_EVENTS, conn->who >> 32, ENTRY_INTERRUPT,
			   conn->who, conn->comm, conn->process);
	if (!e)
		return;
	TCP_PUT_ENDS(e, sk);
	e->duration_ns = ns;
	e->failed = failed;
	e->error = error;
	e->retransmits = BPF_CORE_READ((struct tcp_sock *)sk, total_retrans);
	EVENT_SEND(tcp_connect, e, ENTRY_INTERRUPT, 2 * TCP_ADDRESS_SZ);
}

static __always_inline void tcp_put_life(struct event_tcp_close *e, struct sock *sk)
{
	struct tcp_sock___life *tp = (void *)sk;
	unsigned long flags = BPF_CORE_READ((struct sock___flags *)sk, __sk_common.skc_flags);

	e->bytes_sent = BPF_CORE_READ(tp, bytes_sent) - BPF_CORE_READ(tp, bytes_retrans);
	/* It counts the sequence number of a FIN as well. */
	e->bytes_received = BPF_CORE_READ(tp, bytes_received);
	if (flags >> SOCK_DONE & 1 && e->bytes_received)
		e->bytes_received--;
	e->segments_sent = BPF_CORE_READ(tp, segs_out);
	e->segments_received = BPF_CORE_READ(tp, segs_in);
	e->retransmits = BPF_CORE_READ(tp, total_retrans);
	e->rtt_ns = (__u64)BPF_CORE_READ(tp, srtt_us) * 1000 >> 3;
	e->min_rtt_ns = (__u64)BPF_CORE_READ(tp, rtt_min.s[0].v) * 1000;
	if (e->min_rtt_ns == (__u64)~0U * 1000)
		e->min_rtt_ns = 0; /* not measured */
	e->lost = BPF_CORE_READ(tp, lost);
	e->rwnd_limited_ns = BPF_CORE_READ(tp, chrono_stat[CHRONO_RWND_LIMITED]) * tcp_tick_ns;
	e->sndbuf_limited_ns = BPF_CORE_READ(tp, chrono_stat[CHRONO_SNDBUF_LIMITED]) * tcp_tick_ns;
	/* tcp_get_info_chrono_stats() */
	e->busy_ns = BPF_CORE_READ(tp, chrono_stat[CHRONO_BUSY]) * tcp_tick_ns +
		     e->rwnd_limited_ns + e->sndbuf_limited_ns;
}

static __always_inline void tcp_send_close(struct sock *sk, const struct tcp_conn *conn)
{
	__u64 end_ns = conn->end_ns ? conn->end_ns : bpf_ktime_get_ns();
	struct event_tcp_close *e;

	if (!is_recorded(conn->who >> 32))
		return;
	e = EVENT_BEGIN_OF(tcp, tcp_close, SERIES_tcp_close_events, conn->who >> 32,
			   ENTRY_INTERRUPT, conn->who, conn->comm, conn->process);
	if (!e)
		return;
	TCP_PUT_ENDS(e, sk);
	e->ts_ns = end_ns;
	e->role = conn->role;
	e->error = conn->error;
	e->duration_ns = conn->begin_ns ? end_ns - conn->begin_ns : 0;
	tcp_put_life(e, sk);
	EVENT_SEND(tcp_close, e, ENTRY_INTERRUPT, 2 * TCP_ADDRESS_SZ);
}

static __always_inline void tcp_leave(struct tcp_conn *conn, __u32 state, __u32 next)
{
	__u64 now = bpf_ktime_get_ns();

	if (conn->since_ns && tcp_conn_is_recorded(conn))
		tcp_count_state(conn->process, state, next, now - conn->since_ns);
	conn->since_ns = now;
	conn->state = next;
}

static __always_inline int tcp_change(struct sock *sk, int old, int new)
{
	__u64 id = (__u64)sk;
	struct tcp_conn *conn;
	bool open;
	int error;

	if (old == TCP_LISTEN || new == TCP_LISTEN)
		tcp_listen_change(id, old, new);
	if (new == TCP_LISTEN)
		return 0;
	/* Simultaneous open: SYN-RECV is still the client's. */
	if ((new == TCP_SYN_SENT || new == TCP_SYN_RECV) && old != TCP_SYN_SENT) {
		tcp_begin(sk, new == TCP_SYN_SENT ? ROLE_CLIENT : ROLE_SERVER, new);
		return 0;
	}
	conn = bpf_map_lookup_elem(&tcp_conns, &id);
	if (conn)
		tcp_leave(conn, old, new);
	if (new == TCP_SYN_RECV)
		return 0;
	if (new == TCP_ESTABLISHED) {
		if (!conn)
			return 0;
		conn->connected = 1;
		tcp_note_flow(sk);
		if (conn->role == ROLE_CLIENT)
			tcp_connect_end(sk, conn, false);
		return 0;
	}
	if (old == TCP_SYN_SENT) {
		if (!conn || new != TCP_CLOSE)
			return 0;
		conn->failed = 1;
		tcp_connect_end(sk, conn, true);
		return 0;
	}
	open = old == TCP_ESTABLISHED || old == TCP_CLOSE_WAIT;
	if (new == TCP_CLOSE_WAIT || (!open && new != TCP_CLOSE))
		return 0;
	if (!conn && open)
		conn = tcp_add(sk, new);
	if (!conn)
		return 0;
	if (!conn->connected && open) {
		conn->connected = 1;
		tcp_unseen(); /* the handshake's end */
	}
	error = BPF_CORE_READ(sk, sk_err);
	if (!conn->who && open && (new != TCP_CLOSE || !error)) {
		tcp_owned_by_current(conn);
		if (!is_recorded(conn->who >> 32)) {
			bpf_map_delete_elem(&tcp_conns, &id);
			return 0;
		}
	}
	if (new != TCP_CLOSE)
		return 0;
	conn->end_ns = bpf_ktime_get_ns();
	conn->error = error;
	if (!conn->who)
		return 0; /* the process will close it */
	if (conn->connected)
		tcp_send_close(sk, conn);
	bpf_map_delete_elem(&tcp_conns, &id);
	return 0;
}

SEC("?raw_tp/inet_sock_set_state")
int tcp_state(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];

	if (!enabled || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return tcp_change(sk, ctx->args[1], ctx->args[2]);
}

SEC("?raw_tp/tcp_destroy_sock")
int tcp_destroy(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock *sk = (void *)ctx->args[0];
	struct tcp_conn *found, conn;
	__u64 id = (__u64)sk;

	found = bpf_map_lookup_elem(&tcp_conns, &id);
	if (!found)
		return 0;
	conn = *found;
	bpf_map_delete_elem(&tcp_conns, &id);
	if (!enabled || conn.failed)
		return 0;
	if (!conn.connected) {
		if (conn.role == ROLE_CLIENT)
			tcp_unseen();
		return 0;
	}
	if (!conn.who)
		tcp_owned_by_current(&conn);
	tcp_send_close(sk, &conn);
	return 0;
}

struct sock___lock {
	struct {
		int owned; /* by a task, not by a softirq */
	} sk_lock;
} __attribute__((preserve_access_index));

SEC("?raw_tp/tcp_rcv_space_adjust")
int tcp_read(struct bpf_raw_tracepoint_args *ctx)
{
	struct sock___lock *lock = (void *)ctx->args[0];
	__u64 id = ctx->args[0];
	struct tcp_conn *conn;

	if (!enabled)
		return 0;
	conn = bpf_map_lookup_elem(&tcp_conns, &id);
	if (!conn || conn->who || !BPF_CORE_READ(lock, sk_lock.owned) ||
	    task_is_kernel((void *)bpf_get_current_task(), false))
		return 0;
	tcp_owned_by_current(conn);
	if (!is_recorded(conn->who >> 32))
		bpf_map_delete_elem(&tcp_conns, &id);
	return 0;
}

struct bpf_iter__task_file {
	struct task_struct *task;
	struct file *file;
} __attribute__((preserve_access_index));

/* Runs once after the start: the sockets that targets have. */
SEC("?iter/task_file")
int tcp_existing(struct bpf_iter__task_file *ctx)
{
	struct tcp_conn conn = {.connected = 1};
	struct task_struct *task = ctx->task;
	struct file *file = ctx->file;
	struct tcp_port listens;
	struct sock *sk;
	__u64 id;
	__u8 state;

	if (!task || !file || !is_recorded(task->tgid))
		return 0;
	sk = sock_of_file(file);
	if (!sk || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state == TCP_LISTEN) {
		listens.tgid = task->tgid;
		task_process_name(listens.process, task, false);
		tcp_listens(sk, &listens);
	}
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		return 0;
	id = (__u64)sk;
	conn.since_ns = bpf_ktime_get_ns();
	conn.state = state;
	conn.who = (__u64)task->tgid << 32 | task->pid;
	bpf_probe_read_kernel(conn.comm, sizeof(conn.comm), task->comm);
	task_process_name(conn.process, task, false);
	bpf_map_update_elem(&tcp_conns, &id, &conn, BPF_NOEXIST);
	tcp_note_flow(sk);
	if (BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_CLOSE) /* seen or not */
		bpf_map_delete_elem(&tcp_conns, &id);
	return 0;
}
