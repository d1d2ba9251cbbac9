/* SPDX-License-Identifier: (GPL-2.0 OR BSD-2-Clause) */
/*
 * Reads, writes and syncs of regular files and block devices by system calls, each with its own
 * tracepoints. The file is identified at the entry, as another thread may close the descriptor
 * during the call; a file with its current name has an entry in file_paths, made at its first call.
 * A renamed or removed file thus is another one from then on, as is one whose directory was
 * replaced; one whose directory was renamed is not.
 *
 * There may be a million calls a second, so a thread has a slot for its call and the cells are in
 * an array: no lock and no entry is made. Typed programs (kernel.bpf.h) read the kernel's
 * structures without a helper.
 *
 * Page cache: no tracepoint tells of a hit. Accesses are the pages that the bytes returned by a
 * read lie in; misses are the pages that the reading thread adds to the cache of that file during
 * the call, including those read ahead; hits are what remains of the accesses. Direct reads and
 * those of files without pages in the cache, as of /proc, are no accesses. Pages that threads add
 * or dirty outside such calls, as by page faults, are counted by device. Files of overlayfs have
 * their pages in the cache of a file below, which is not known: pages of any regular file are
 * theirs.
 */
#include "bpf/event.bpf.h"
#include "bpf/probe/file.h"
#include "bpf/syscall_args.bpf.h"

const volatile __u64 file_min_ns; /* calls of this length or more become events */
const volatile bool file_typed;	  /* programs may cast */
const volatile __u32 file_page_shift = 12;

/* Not static: see block_ops. */
const char file_calls_names[16][FILE_CALL_LEN] = {
#define X(name, ...) [FILE_CALL_##name] = #name,
	FILE_CALLS(X) FILE_PAIRS(X)
#undef X
};

/* A file of a call. */
struct file_side {
	__u64 id;	 /* FILE_NONE: no file */
	__u64 mapping;	 /* struct address_space; FILE_BELOW: not known */
	__u32 pages;	 /* read from: missed; written to: dirtied */
	bool has_cached; /* it had pages in the cache */
};
#define FILE_BELOW 0ULL
enum { FROM, TO }; /* the file read or synced; the file written */
/* The file of a thread's last call: while these pointers and its name are the same, so is its id.
 */
struct file_seen {
	__u64 inode, dentry, parent, hash_len, id;
	bool is_removed, is_overlay;
};
struct file_call {
	__u64 begin_ns; /* 0: no call */
	struct file_side side[2];
	__u64 offset;
	__u32 call, op; /* op: of side[FROM] */
	__u32 flags;
	__u32 tid;
	struct file_seen seen;
};

/*
 * Who adds the number of a slot to file_owned may take the slot, until that thread exits. Threads
 * that find theirs taken have an entry in file_calls during a call.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, struct file_call);
} file_slots SEC(".maps");
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u32);
	__type(value, __u32);
} file_owned SEC(".maps");
CALLS_IN_PROGRESS(file_calls, file_call);
bool file_calls_used;

/* Of the programs at the exit: perf tracepoints, of which one at a time runs on a CPU. */
struct metric_own_map file_cells SEC(".maps");

struct file_path {
	char text[FILE_PATH_LEN];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* obrec sets it */
	__type(key, __u64);
	__type(value, struct file_path);
} file_paths SEC(".maps");

struct inode;
struct hlist_bl_node {
	struct hlist_bl_node **pprev;
} __attribute__((preserve_access_index));
struct qstr {
	union {
		struct {
			__u32 hash, len;
		};
		__u64 hash_len;
	};
	const unsigned char *name;
} __attribute__((preserve_access_index));
struct dentry {
	struct hlist_bl_node d_hash;
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
} __attribute__((preserve_access_index));
struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
} __attribute__((preserve_access_index));
struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
	struct super_block *i_sb;
} __attribute__((preserve_access_index));
struct address_space {
	struct inode *host;
	unsigned long nrpages;
} __attribute__((preserve_access_index));
struct folio___file {
	struct address_space *mapping;
	unsigned int _nr_pages;
} __attribute__((preserve_access_index));
/* 6.15, 4996fc547f5b ("mm: let _folio_nr_pages overlay memcg_data in first tail page") */
struct folio___6_14 {
	unsigned int _folio_nr_pages;
} __attribute__((preserve_access_index));
struct page___file {
	struct address_space *mapping;
} __attribute__((preserve_access_index));
enum pageflags { PG_head = 1 };
struct vfsmount;
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
} __attribute__((preserve_access_index));
struct file {
	struct path f_path;
	struct inode *f_inode;
	struct address_space *f_mapping;
	unsigned int f_flags;
	__s64 f_pos;
} __attribute__((preserve_access_index));

enum { S_FMT = 0170000, S_REG = 0100000, S_BLK = 0060000, OVERLAYFS_MAGIC = 0x794c7630 };
#if defined(__TARGET_ARCH_x86)
enum { O_DIRECT = 0040000 };
#else
enum { O_DIRECT = 0200000 };
#endif

/* What a call needs of an open file. */
struct file_facts {
	struct file_seen seen; /* without what file_identify() adds */
	__u64 mapping, cached;
	__u32 flags;
};

static __always_inline void file_read_typed(struct file_facts *x, struct file *file)
{
	struct file *f = cast_typed(struct file, file);
	struct dentry *d = f->f_path.dentry;

	x->seen.inode = (__u64)f->f_inode;
	x->seen.dentry = (__u64)d;
	x->seen.parent = (__u64)d->d_parent;
	x->seen.hash_len = (__u64)d->d_name.len << 32 | d->d_name.hash;
	x->seen.is_removed = !d->d_hash.pprev;
	x->mapping = (__u64)f->f_mapping;
	x->cached = f->f_mapping->nrpages;
	x->flags = f->f_flags;
}

/* By one helper call where the fields are side by side, as on all kernels so far. */
static __always_inline void dentry_read(struct file_seen *x, struct dentry *d)
{
	__u32 at = bpf_core_field_offset(struct dentry, d_hash.pprev);
	struct {
		__u64 pprev, parent, hash_len;
	} r = {};

	if (bpf_core_field_offset(struct dentry, d_parent) == at + 8 &&
	    bpf_core_field_offset(struct dentry, d_name.hash_len) == at + 16) {
		bpf_probe_read_kernel(&r, sizeof(r), (void *)d + at);
	} else {
		r.pprev = (__u64)BPF_CORE_READ(d, d_hash.pprev);
		r.parent = (__u64)BPF_CORE_READ(d, d_parent);
		r.hash_len = BPF_CORE_READ(d, d_name.hash_len);
	}
	x->dentry = (__u64)d;
	x->parent = r.parent;
	x->hash_len = r.hash_len;
	x->is_removed = !r.pprev;
}

static __always_inline void file_read(struct file_facts *x, struct file *f)
{
	struct address_space *mapping = BPF_CORE_READ(f, f_mapping);

	dentry_read(&x->seen, BPF_CORE_READ(f, f_path.dentry));
	x->seen.inode = (__u64)BPF_CORE_READ(f, f_inode);
	x->mapping = (__u64)mapping;
	x->cached = BPF_CORE_READ(mapping, nrpages);
	x->flags = BPF_CORE_READ(f, f_flags);
}

static __always_inline struct file *file_of_fd(__u32 fd)
{
	return have_task_pt_regs ? current_file_typed(fd, file_typed) : current_file(fd);
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

static __always_inline bool is_seen(const struct file_seen *a, const struct file_seen *b)
{
	return a->inode == b->inode && a->dentry == b->dentry && a->parent == b->parent &&
	       a->hash_len == b->hash_len && a->is_removed == b->is_removed;
}

/* Adds what its inode tells, and the id. False: it is not a regular file or a block device. */
static __noinline bool file_identify(struct file_seen *x, struct file *f)
{
	struct inode *inode = (void *)x->inode;
	__u16 format = BPF_CORE_READ(inode, i_mode) & S_FMT;
	struct dentry *parent = (void *)x->parent;
	struct super_block *sb;

	if (format != S_REG && format != S_BLK)
		return false;
	sb = BPF_CORE_READ(inode, i_sb);
	x->is_overlay = BPF_CORE_READ(sb, s_magic) == OVERLAYFS_MAGIC;
	x->id = mix(0, BPF_CORE_READ(inode, i_ino));
	x->id = mix(x->id, BPF_CORE_READ(sb, s_dev));
	x->id = mix(x->id, BPF_CORE_READ(parent, d_inode, i_ino));
	x->id = mix(x->id, x->hash_len);
	x->id = mix(x->id, x->is_removed);
	if (x->id < FILE_FIRST)
		x->id = FILE_FIRST;
	if (bpf_map_lookup_elem(&file_paths, &x->id) ||
	    !file_path_new(x->id, (__u64)BPF_CORE_READ(f, f_path.dentry),
			   (__u64)BPF_CORE_READ(f, f_path.mnt)))
		return true;
	loss_count(LOSS_FILE_PATHS);
	x->id = FILE_OTHER;
	return true;
}

static __always_inline bool is_wanted(void)
{
	return enabled && is_recorded(bpf_get_current_pid_tgid() >> 32);
}

/* Threads started one after the other have slots far apart, on other cache lines. */
static __always_inline __u32 slot_number(__u32 tid)
{
	return tid * 0x19b1 & (FILE_SLOTS - 1);
}

static __always_inline struct file_call *slot_of(__u32 tid)
{
	__u32 at = slot_number(tid);

	return bpf_map_lookup_elem(&file_slots, &at);
}

/* The thread's call in progress; NULL: none. */
static __always_inline struct file_call *call_of(__u32 tid)
{
	struct file_call *call = slot_of(tid);

	if (call && call->tid != tid)
		call = file_calls_used ? bpf_map_lookup_elem(&file_calls, &tid) : NULL;
	return call && call->begin_ns ? call : NULL;
}

/* A thread has no slot: adds an entry for this call. */
static __noinline int call_add(__u32 tid)
{
	struct file_call none = {.tid = tid};
	int err = bpf_map_update_elem(&file_calls, &tid, &none, BPF_ANY);

	file_calls_used = true;
	if (err)
		loss_count(LOSS_PENDING);
	return err;
}

static __always_inline struct file_call *call_new(__u32 tid)
{
	struct file_call *call = slot_of(tid);
	__u32 at = slot_number(tid);

	if (call && call->tid == tid)
		return call;
	if (call && !call->tid && !bpf_map_update_elem(&file_owned, &at, &at, BPF_NOEXIST)) {
		call->tid = tid;
		return call;
	}
	return call_add(tid) ? NULL : bpf_map_lookup_elem(&file_calls, &tid);
}

SEC("?raw_tp/sched_process_exit")
int file_thread_end(struct bpf_raw_tracepoint_args *ctx)
{
	__u32 tid = task_pid((void *)ctx->args[0], false), at = slot_number(tid);
	struct file_call *call = slot_of(tid);

	if (call && call->tid == tid) {
		call->begin_ns = 0;
		call->tid = 0;
		bpf_map_delete_elem(&file_owned, &at);
	} else {
		bpf_map_delete_elem(&file_calls, &tid);
	}
	return 0;
}

/* `offset` negative: the file's own position. Returns whether the descriptor is of a file. */
static __always_inline bool take_file(struct file_call **call, __u32 at, __u32 fd, __u64 offset)
{
	__u32 tid = bpf_get_current_pid_tgid();
	struct file *f = file_of_fd(fd);
	struct file_call *slot = slot_of(tid);
	struct file_facts x = {};
	struct file_side *side;

	if (!f)
		return false;
	if (file_typed)
		file_read_typed(&x, f);
	else
		file_read(&x, f);
	if (slot && slot->tid == tid && is_seen(&slot->seen, &x.seen)) {
		x.seen.id = slot->seen.id;
		x.seen.is_overlay = slot->seen.is_overlay;
	} else if (!file_identify(&x.seen, f)) {
		return false;
	}
	if (!*call) {
		*call = call_new(tid);
		if (!*call)
			return false;
		(*call)->side[FROM].id = (*call)->side[TO].id = FILE_NONE;
	}
	if (x.seen.id != FILE_OTHER)
		(*call)->seen = x.seen;
	side = &(*call)->side[at];
	side->id = x.seen.id;
	/* On some kernels an open file of overlayfs has the mapping of the file below. */
	side->mapping = x.seen.is_overlay && !x.cached ? FILE_BELOW : x.mapping;
	side->has_cached = x.seen.is_overlay || x.cached;
	side->pages = 0;
	(*call)->offset = (__s64)offset < 0 ? (__u64)BPF_CORE_READ(f, f_pos) : offset;
	(*call)->flags = x.flags;
	return true;
}

static __always_inline int file_begin(__u32 number, __u32 op, __u32 fd, __u64 offset)
{
	struct file_call *call = NULL;

	if (!is_wanted() || !take_file(&call, op == FILE_WRITE ? TO : FROM, fd, offset))
		return 0;
	call->call = number;
	call->op = op;
	call->begin_ns = bpf_ktime_get_ns();
	return 0;
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
	struct file_call *call = NULL;

	if (!is_wanted())
		return 0;
	take_file(&call, TO, to, offset_at(to_at));
	take_file(&call, FROM, from, offset_at(from_at));
	if (!call)
		return 0;
	call->call = number;
	call->op = FILE_READ;
	call->begin_ns = bpf_ktime_get_ns();
	return 0;
}

/* ---- page cache */

/* A function: see file_count(). */
static __noinline int cache_count(__u32 op, __u32 dev, __u32 pages)
{
	struct metric_key key = {};

	metric_key_process(&key);
	key.part[FILE_PART_FILE] = dev;
	key.part[FILE_PART_OP] = op;
	count_add(PROBE_file, SERIES_file_cache, &key, pages);
	return 0;
}

/* Of what the tracepoints have: a folio, before 5.16 a page. */
static __always_inline __u32 pages_of(struct folio___file *folio)
{
	struct folio___6_14 *old = (void *)folio;
	unsigned long flags = 0;
	__u32 n = 0;

	if (!bpf_core_field_exists(folio->mapping))
		return 1;
	/* The first field on all kernels; by name a number, since 6.18 a struct. */
	bpf_probe_read_kernel(&flags, sizeof(flags), folio);
	if (!(flags >> bpf_core_enum_value(enum pageflags, PG_head) & 1))
		return 1;
	if (bpf_core_field_exists(folio->_nr_pages))
		n = BPF_CORE_READ(folio, _nr_pages);
	else if (bpf_core_field_exists(old->_folio_nr_pages))
		n = BPF_CORE_READ(old, _folio_nr_pages);
	return n ? n : 1;
}

static __always_inline struct address_space *mapping_of(void *folio)
{
	struct folio___file *f = folio;
	struct page___file *page = folio;

	return bpf_core_field_exists(f->mapping) ? BPF_CORE_READ(f, mapping)
						 : BPF_CORE_READ(page, mapping);
}

static __always_inline bool is_in(const struct file_side *side, struct address_space *mapping)
{
	return side->id != FILE_NONE && side->mapping == (__u64)mapping;
}

static __always_inline bool is_below(const struct file_side *side, struct address_space *mapping)
{
	return side->id != FILE_NONE && side->mapping == FILE_BELOW &&
	       (BPF_CORE_READ(mapping, host, i_mode) & S_FMT) == S_REG;
}

/* The current thread added or dirtied a page. */
static __always_inline int cache_page(void *folio, struct address_space *mapping, bool dirtied)
{
	struct file_call *call;
	struct file_side *side, *other;

	if (!is_wanted())
		return 0;
	call = call_of(bpf_get_current_pid_tgid());
	if (call) {
		side = &call->side[dirtied ? TO : FROM];
		other = &call->side[dirtied ? FROM : TO];
		if (is_in(side, mapping) || (!is_in(other, mapping) && is_below(side, mapping))) {
			side->pages += pages_of(folio);
			return 0;
		}
		if (!dirtied && (is_in(other, mapping) || is_below(other, mapping)))
			return 0; /* to be written */
	}
	return cache_count(dirtied ? FILE_DIRTIED_OTHER : FILE_ADDED_OTHER,
			   BPF_CORE_READ(mapping, host, i_sb, s_dev), pages_of(folio));
}

SEC("?raw_tp/mm_filemap_add_to_page_cache")
int file_page_added(struct bpf_raw_tracepoint_args *ctx)
{
	void *folio = (void *)ctx->args[0];

	return cache_page(folio, mapping_of(folio), false);
}

SEC("?raw_tp/writeback_dirty_folio")
int file_folio_dirtied(struct bpf_raw_tracepoint_args *ctx)
{
	return cache_page((void *)ctx->args[0], (void *)ctx->args[1], true);
}

/* 5.16, b9b0ff61eef5 ("mm/writeback: Convert tracing writeback_page_template to folios") */
SEC("?raw_tp/writeback_dirty_page")
int file_page_dirtied(struct bpf_raw_tracepoint_args *ctx)
{
	return cache_page((void *)ctx->args[0], (void *)ctx->args[1], true);
}

/* Outside a call: of a page that was written to in memory. */
SEC("?tracepoint/writeback/balance_dirty_pages")
int file_paused(struct trace_event_raw_balance_dirty_pages *ctx)
{
	struct metric_key key = {};
	long pause = ctx->pause;
	struct file_call *call;

	if (pause <= 0 || !is_wanted())
		return KEEP_SAMPLES;
	call = call_of(bpf_get_current_pid_tgid());
	metric_key_process(&key);
	key.part[FILE_PART_FILE] = call && call->side[TO].id ? call->side[TO].id : FILE_OTHER;
	hist_add_coarse(PROBE_file, SERIES_file_paused, &key, pause * 1000000);
	return KEEP_SAMPLES;
}

/* ---- end of a call */

static __always_inline void own_count(struct metric_key *key, __u32 series, __u64 amount)
{
	key->series = SERIES_NUMBER(PROBE_file, series);
	key->bucket = 0;
	metric_own_add(&file_cells, key, amount);
}

/* A function, as its key would be too much for the stack of programs that also take stacks. */
static __noinline int file_count(const struct file_call *call, __u32 at, __u64 ns, __s64 ret)
{
	const struct file_side *side = &call->side[at & 1];
	__u32 op = at == TO ? FILE_WRITE : call->op;
	struct metric_key key = {};
	__u64 pages = 0;

	if (have_task_pt_regs)
		task_process_name(key.part, (void *)bpf_get_current_task_btf(), true);
	else
		metric_key_process(&key);
	key.part[FILE_PART_FILE] = side->id;
	key.part[FILE_PART_OP] = op;
	key.series = SERIES_NUMBER(PROBE_file, SERIES_file_latency);
	key.bucket = METRIC_COARSE(metric_bucket_of(ns));
	metric_own_add(&file_cells, &key, ns);
	if (ret < 0)
		event_count_error(PROBE_file, SERIES_file_failed, -ret);
	else
		own_count(&key, SERIES_file_bytes, op == FILE_SYNC ? 0 : ret);
	if (op == FILE_READ && ret > 0 && (side->has_cached || side->pages) &&
	    !(call->flags & O_DIRECT)) {
		pages = ((call->offset + ret - 1) >> file_page_shift) -
			(call->offset >> file_page_shift) + 1;
		key.part[FILE_PART_OP] = FILE_ACCESSED;
		own_count(&key, SERIES_file_cache, pages);
	}
	if (side->pages) {
		key.part[FILE_PART_OP] = at == TO ? FILE_DIRTIED : FILE_MISSED;
		own_count(&key, SERIES_file_cache, side->pages);
	}
	return 0;
}

/* Of two files of overlayfs: the pages added that were dirtied are those of the one written. */
static __always_inline void divide_pages(struct file_call *call)
{
	struct file_side *from = &call->side[FROM], *to = &call->side[TO];

	if (from->id == FILE_NONE || to->id == FILE_NONE || from->mapping != FILE_BELOW ||
	    to->mapping != FILE_BELOW)
		return;
	from->pages -= from->pages < to->pages ? from->pages : to->pages;
}

static __always_inline void file_send(void *ctx, struct file_call *call, __u64 ns, __s64 ret)
{
	__u64 id = bpf_get_current_pid_tgid(), file = call->side[FROM].id;
	struct file_path *path;
	struct event_file *e;
	long n;

	if (!file)
		file = call->side[TO].id;
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
	struct file_call *call = call_of(tid);
	__u64 ns;

	if (!call)
		return 0;
	ns = bpf_ktime_get_ns() - call->begin_ns;
	if (enabled) {
		divide_pages(call);
		if (call->side[FROM].id != FILE_NONE)
			file_count(call, FROM, ns, ctx->ret);
		if (call->side[TO].id != FILE_NONE)
			file_count(call, TO, ns, ctx->ret);
		if (ns >= file_min_ns)
			file_send(ctx, call, ns, ctx->ret);
	}
	call->begin_ns = 0;
	if (slot_of(tid) != call)
		bpf_map_delete_elem(&file_calls, &tid);
	return 0;
}

#define ENTER(name)                                                                                \
	SEC("?tracepoint/syscalls/sys_enter_" #name)                                               \
	int file_enter_##name(struct syscall_enter *ctx)
#define ARG(n) ((n) == FILE_POS ? 0 : ctx->args[(n) % 6])
#define X(name, op, offset)                                                                        \
	ENTER(name)                                                                                \
	{                                                                                          \
		file_begin(FILE_CALL_##name, op, ctx->args[0],                                     \
			   (offset) == FILE_POS ? -1 : ARG(offset));                               \
		return KEEP_SAMPLES;                                                               \
	}
FILE_CALLS(X)
#undef X
#define X(name, from, from_at, to, to_at)                                                          \
	ENTER(name)                                                                                \
	{                                                                                          \
		file_begin_pair(FILE_CALL_##name, ctx->args[from], ARG(from_at), ctx->args[to],    \
				ARG(to_at));                                                       \
		return KEEP_SAMPLES;                                                               \
	}
FILE_PAIRS(X)
#undef X

SEC("?tracepoint")
int file_exit(struct syscall_exit *ctx)
{
	file_end(ctx);
	return KEEP_SAMPLES;
}
