/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Reads, writes and syncs of regular files and block devices by system calls, each with its own
 * tracepoints. The file is identified at the entry, as another thread may close the descriptor
 * during the call; a file with its current name has an entry in file_paths, made at its first call.
 * A renamed or removed file thus is another one from then on, as is one whose directory was
 * replaced; one whose directory was renamed is not.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/file.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 file_min_ns; /* calls of this length or more become events */

/* Not static: see block_ops. */
const char file_calls_names[16][FILE_CALL_LEN] = {
#define X(name, ...) [FILE_CALL_##name] = #name,
	FILE_CALLS(X) FILE_PAIRS(X)
#undef X
};

struct file_call {
	__u64 begin_ns;
	__u64 from, to; /* files read or synced, written; FILE_NONE: none */
	__u64 offset;
	__u32 call, op; /* op: of `from` */
	__u32 flags, pad;
};
CALLS_IN_PROGRESS(file_calls, file_call);

struct file_path {
	char text[FILE_PATH_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct file_path);
} file_paths SEC(".maps");

struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} __attribute__((preserve_access_index));
struct qstr {
	__u64 hash_len;
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
} __attribute__((preserve_access_index));
struct super_block {
	__u32 s_dev;
} __attribute__((preserve_access_index));
struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
} __attribute__((preserve_access_index));
struct vfsmount;
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct file {
	struct path f_path;
	struct inode *f_inode;
	unsigned int f_flags;
	__s64 f_pos;
} __attribute__((preserve_access_index));

enum { S_FMT = 0170000, S_REG = 0100000, S_BLK = 0060000 };

/* NULL: not a regular file or a block device. */
static __always_inline struct file *file_of_fd(__u32 fd)
{
	struct file *file = current_file(fd);
	__u16 mode;

	if (!file)
		return NULL;
	mode = BPF_CORE_READ(file, f_inode, i_mode) & S_FMT;
	return mode == S_REG || mode == S_BLK ? file : NULL;
}

static __always_inline bool is_removed(struct dentry *d)
{
	return !BPF_CORE_READ(d, d_hash.pprev);
}

/* Stores the path, as the current process sees it. Of a long one the end. Returns 0 on success. */
__noinline int file_path_new(__u64 id, __u64 dentry, __u64 mount)
{
	struct scratch *s = scratch_claim(ENTRY_TRACEPOINT);
	char *e = event_scratch_of(ENTRY_TRACEPOINT), *text;
	struct dentry *d = (void *)dentry;
	__u64 n, cut;
	long err = -1;

	if (!s)
		return -1;
	if (!e)
		goto out;
	text = e + EVENT_TEXT_AT(file);
	n = event_path(ENTRY_TRACEPOINT, EVENT_TEXT_AT(file), dentry, mount);
	if (BPF_CORE_READ(d, d_parent) == d) { /* in no directory, as those of memfd_create() */
		err = bpf_probe_read_kernel_str(text + 1, FILE_PATH_LEN - 1,
						BPF_CORE_READ(d, d_name.name));
		n = err > 0 ? err : 1; /* with '/', without NUL */
	}
	n &= EVENT_STR_MAX - 1;
	text[n] = 0;
	if (is_removed(d)) {
		__builtin_memcpy(text + n, " (deleted)", 11);
		n += 10;
	}
	cut = n >= FILE_PATH_LEN ? n - (FILE_PATH_LEN - 1) : 0;
	asm volatile("%0 &= %1" : "+r"(cut) : "i"(EVENT_STR_MAX - 1)); /* known to the compiler */
	text += cut;
	if (cut)
		__builtin_memcpy(text, "...", 3);
	err = bpf_map_update_elem(&file_paths, &id, text, BPF_ANY);
out:
	scratch_release(s);
	return err ? -1 : 0;
}

static __always_inline __u64 mix(__u64 h, __u64 v)
{
	h = (h ^ v) * 0xff51afd7ed558ccdULL;
	return h ^ h >> 32;
}

static __always_inline __u64 file_id(struct file *f)
{
	struct dentry *d = BPF_CORE_READ(f, f_path.dentry);
	__u64 id = mix(0, BPF_CORE_READ(f, f_inode, i_ino));

	id = mix(id, BPF_CORE_READ(f, f_inode, i_sb, s_dev));
	id = mix(id, (__u64)BPF_CORE_READ(d, d_parent));
	id = mix(id, BPF_CORE_READ(d, d_name.hash_len));
	id = mix(id, is_removed(d));
	if (id < FILE_FIRST)
		id = FILE_FIRST;
	if (bpf_map_lookup_elem(&file_paths, &id) ||
	    !file_path_new(id, (__u64)d, (__u64)BPF_CORE_READ(f, f_path.mnt)))
		return id;
	loss_count(LOSS_FILE_PATHS);
	return FILE_OTHER;
}

static __always_inline bool is_wanted(void)
{
	return enabled && is_recorded(bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void take_file(struct file_call *call, struct file *f, __u64 offset)
{
	call->offset = (__s64)offset < 0 ? (__u64)BPF_CORE_READ(f, f_pos) : offset;
	call->flags = BPF_CORE_READ(f, f_flags);
}

/* `offset` -1: the file's own position. */
static __always_inline int file_begin(__u32 number, __u32 op, __u32 fd, __u64 offset)
{
	struct file_call call = {.call = number, .op = op};
	struct file *f = is_wanted() ? file_of_fd(fd) : NULL;

	if (!f)
		return 0;
	call.from = file_id(f);
	take_file(&call, f, offset);
	return call_begin(&file_calls, &call);
}

static __always_inline __u64 offset_at(__u64 at)
{
	__u64 offset;

	return at && !bpf_probe_read_user(&offset, sizeof(offset), (void *)at) ? offset : -1;
}

/* `from_at`, `to_at`: user addresses of the offsets; 0: the files' own positions. The event has the
 * offset of the file that is read, if it is one. */
static __always_inline int file_begin_pair(__u32 number, __u32 from, __u64 from_at, __u32 to,
					   __u64 to_at)
{
	struct file_call call = {.call = number, .op = FILE_READ};
	struct file *f;

	if (!is_wanted())
		return 0;
	f = file_of_fd(to);
	if (f) {
		call.to = file_id(f);
		take_file(&call, f, offset_at(to_at));
	}
	f = file_of_fd(from);
	if (f) {
		call.from = file_id(f);
		take_file(&call, f, offset_at(from_at));
	}
	return call.from || call.to ? call_begin(&file_calls, &call) : 0;
}

/* A function, as its key would be too much for the stack of programs that also take stacks. */
static __noinline int file_count(__u64 file, __u32 op, __u64 ns, __s64 ret)
{
	struct metric_key key = {};

	if (file == FILE_NONE)
		return 0;
	bpf_get_current_comm(key.part, WIRE_COMM_LEN);
	key.part[FILE_PART_FILE] = file;
	key.part[FILE_PART_OP] = op;
	hist_add_coarse(PROBE_file, SERIES_file_latency, &key, ns);
	if (ret < 0)
		event_count_error(PROBE_file, SERIES_file_failed, -ret);
	else
		count_add(PROBE_file, SERIES_file_bytes, &key, op == FILE_SYNC ? 0 : ret);
	return 0;
}

static __always_inline void file_send(void *ctx, struct file_call *call, __u64 ns, __s64 ret)
{
	__u64 id = bpf_get_current_pid_tgid(), file = call->from ? call->from : call->to;
	struct file_path *path;
	struct event_file *e;
	long n;

	e = EVENT_BEGIN(file, ENTRY_TRACEPOINT, id);
	if (!e)
		return;
	e->position = call->offset;
	e->flags = call->flags;
	if (ret < 0)
		e->error = -ret;
	else
		e->bytes = ret;
	e->duration_ns = ns;
	event_stacks(ctx, ENTRY_TRACEPOINT, e);
	n = bpf_probe_read_kernel_str(e->text, FILE_CALL_LEN, file_calls_names[call->call & 15]);
	e->call = n = n > 0 ? (n - 1) & (FILE_CALL_LEN - 1) : 0;
	path = bpf_map_lookup_elem(&file_paths, &file);
	if (path) {
		n = bpf_probe_read_kernel_str(e->text + n, FILE_PATH_LEN, path->text);
		e->path = n > 0 ? (n - 1) & (FILE_PATH_LEN - 1) : 0;
	}
	EVENT_SEND(file, e, ENTRY_TRACEPOINT, e->call + e->path);
}

static __always_inline int file_end(struct syscall_exit *ctx)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct file_call *call = bpf_map_lookup_elem(&file_calls, &tid);
	__u64 ns;

	if (!call)
		return 0;
	ns = bpf_ktime_get_ns() - call->begin_ns;
	if (enabled) {
		file_count(call->from, call->op, ns, ctx->ret);
		file_count(call->to, FILE_WRITE, ns, ctx->ret);
		if (ns >= file_min_ns)
			file_send(ctx, call, ns, ctx->ret);
	}
	bpf_map_delete_elem(&file_calls, &tid);
	return 0;
}

#define ENTER(name)                                                                                \
	SEC("?tracepoint/syscalls/sys_enter_" #name)                                               \
	int file_enter_##name(struct syscall_enter *ctx)
#define EXIT(name, ...)                                                                            \
	SEC("?tracepoint/syscalls/sys_exit_" #name)                                                \
	int file_exit_##name(struct syscall_exit *ctx)                                             \
	{                                                                                          \
		return file_end(ctx);                                                              \
	}
#define ARG(n) ((n) == FILE_POS ? 0 : ctx->args[(n) % 6])
#define X(name, op, offset)                                                                        \
	ENTER(name)                                                                                \
	{                                                                                          \
		return file_begin(FILE_CALL_##name, op, ctx->args[0],                              \
				  (offset) == FILE_POS ? -1 : ARG(offset));                        \
	}                                                                                          \
	EXIT(name)
FILE_CALLS(X)
#undef X
#define X(name, from, from_at, to, to_at)                                                          \
	ENTER(name)                                                                                \
	{                                                                                          \
		return file_begin_pair(FILE_CALL_##name, ctx->args[from], ARG(from_at),            \
				       ctx->args[to], ARG(to_at));                                 \
	}                                                                                          \
	EXIT(name)
FILE_PAIRS(X)
#undef X
