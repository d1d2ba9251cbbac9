/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Paths in events, as of d_path() in the kernel. A path is built from its last component on, at the
 * end of the event's text, then moved to its place.
 */
#include "bpf/event.bpf.h"

enum { PATH_SZ = EVENT_STR_MAX, NAME_SZ = 256 };
/* Behind a component there is room for one of the maximum length, for the verifier. */
#define PATH_AT (EVENT_END - PATH_SZ - NAME_SZ)

struct qstr {
	__u32 len;
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
} __attribute__((preserve_access_index));
struct vfsmount {
	struct dentry *mnt_root;
} __attribute__((preserve_access_index));
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
} __attribute__((preserve_access_index));
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct fs_struct {
	struct path root, pwd;
} __attribute__((preserve_access_index));
struct kernfs_node___name {
	const char *name;
} __attribute__((preserve_access_index));
/* 6.15, 633488947ef6 ("kernfs: Use RCU to access kernfs_node::parent."): it became `__parent`. */
struct kernfs_node___parent {
	struct kernfs_node *parent;
} __attribute__((preserve_access_index));
struct kernfs_node___rcu {
	struct kernfs_node *__parent;
} __attribute__((preserve_access_index));
struct task_struct___fs {
	struct fs_struct *fs;
} __attribute__((preserve_access_index));

static __always_inline struct fs_struct *current_fs(void)
{
	return BPF_CORE_READ((struct task_struct___fs *)bpf_get_current_task(), fs);
}

/* Prepends a component. Returns 1, or -1: no room. */
static __always_inline int path_prepend(struct event_scratch *e, const void *name, __u32 len)
{
	char *p = (char *)e + PATH_AT;
	__u64 at = e->path.at;

	len &= NAME_SZ - 1;
	if (at < len + 1)
		return -1;
	at -= len + 1;
	e->path.at = at;
	at &= PATH_SZ - 1;
	p[at] = '/';
	bpf_probe_read_kernel(p + at + 1, len, name);
	return 1;
}

/* Returns 0: the root has been reached; 1: there is more; -1: no room. */
__noinline int event_path_step(__u32 entry)
{
	struct event_scratch *e = event_scratch_of(entry);
	struct dentry *dentry, *parent;
	struct vfsmount *vfs;
	struct mount *m, *up;

	if (!e || (e->path.node == e->path.root && e->path.mount == e->path.root_mount))
		return 0;
	dentry = (void *)e->path.node;
	vfs = (void *)e->path.mount;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == parent || dentry == BPF_CORE_READ(vfs, mnt_root)) {
		m = (void *)vfs - bpf_core_field_offset(struct mount, mnt);
		up = BPF_CORE_READ(m, mnt_parent);
		if (up == m)
			return 0;
		e->path.node = (__u64)BPF_CORE_READ(m, mnt_mountpoint);
		e->path.mount = (__u64)&up->mnt;
		return 1;
	}
	e->path.node = (__u64)parent;
	return path_prepend(e, BPF_CORE_READ(dentry, d_name.name),
			    BPF_CORE_READ(dentry, d_name.len));
}

static __always_inline __u64 kernfs_parent(__u64 node)
{
	struct kernfs_node___parent *with_parent = (void *)node;
	struct kernfs_node___rcu *with_rcu = (void *)node;

	if (bpf_core_field_exists(with_parent->parent))
		return (__u64)BPF_CORE_READ(with_parent, parent);
	return (__u64)BPF_CORE_READ(with_rcu, __parent);
}

/* As event_path_step(), of a cgroup's directory; its length is only known once it was read. */
__noinline int event_cgroup_step(__u32 entry)
{
	struct event_scratch *e = event_scratch_of(entry);
	struct kernfs_node___name *node;
	__u64 parent;
	char *name;
	long len;

	if (!e)
		return 0;
	node = (void *)e->path.node;
	parent = kernfs_parent(e->path.node);
	if (!parent)
		return 0;
	name = (char *)e + PATH_AT + PATH_SZ;
	len = bpf_probe_read_kernel_str(name, NAME_SZ, BPF_CORE_READ(node, name));
	e->path.node = parent;
	return len > 0 ? path_prepend(e, name, len - 1) : -1;
}

/* Moves the path to `at`, before where it is; both places may overlap. */
__noinline int event_path_move(__u32 entry, __u32 at, __u32 cut)
{
	struct event_scratch *e = event_scratch_of(entry);
	__u64 from, len;
	char *p;

	if (!e || at > PATH_AT)
		return 0;
	p = (char *)e + PATH_AT;
	if (e->path.at == PATH_SZ)
		path_prepend(e, NULL, 0);
	from = e->path.at;
	if (cut && from >= 3) {
		from -= 3;
		__builtin_memset(p + (from & (PATH_SZ - 1)), '.', 3);
	}
	asm volatile("" : "+r"(from));
	if (from > PATH_SZ)
		return 0;
	len = PATH_SZ - from;
	asm volatile("" : "+r"(len));
	if (len > PATH_SZ)
		return 0;
	bpf_probe_read_kernel((char *)e + at, len, p + from);
	return len;
}

__noinline int event_path(__u32 entry, __u32 at, __u64 dentry, __u64 mount)
{
	struct event_scratch *e = event_scratch_of(entry);
	struct fs_struct *fs = current_fs();
	int more = 0;

	if (!e)
		return 0;
	e->path.node = dentry;
	e->path.mount = mount;
	e->path.root = (__u64)BPF_CORE_READ(fs, root.dentry);
	e->path.root_mount = (__u64)BPF_CORE_READ(fs, root.mnt);
	e->path.at = PATH_SZ;
	for (int i = 0; i < EVENT_PATH_DEPTH; i++) {
		more = event_path_step(entry);
		if (more <= 0)
			break;
	}
	return event_path_move(entry, at, more != 0);
}

__noinline int event_cwd(__u32 entry, __u32 at)
{
	struct fs_struct *fs = current_fs();

	return event_path(entry, at, (__u64)BPF_CORE_READ(fs, pwd.dentry),
			  (__u64)BPF_CORE_READ(fs, pwd.mnt));
}

__noinline int event_cgroup(__u32 entry, __u32 at, __u64 cgroup)
{
	struct event_scratch *e = event_scratch_of(entry);
	int more = 0;

	if (!e || !cgroup)
		return 0;
	e->path.node = (__u64)BPF_CORE_READ((struct cgroup *)cgroup, kn);
	e->path.at = PATH_SZ;
	for (int i = 0; i < EVENT_PATH_DEPTH; i++) {
		more = event_cgroup_step(entry);
		if (more <= 0)
			break;
	}
	return event_path_move(entry, at, more != 0);
}
