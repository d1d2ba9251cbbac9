/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three look-ups, cheapest first: (device, inode) of the mapping; the build-id of the open file;
 * the unwind table, only for a file that is not known under any key. A file can be replaced or
 * rewritten under the same inode number, so an entry of the first kind is checked with stat(2) of
 * the mapping, at most once a second.
 *
 * A reader process (readers.h) reads all files. Usually it answers at once. If not, the file stays
 * `loading`, and its mappings are looked up again when the answer arrives.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/binary/binary_open.h"
#include "record/binary/binary_registry.h"
#include "record/reader/readers.h"

#define CHECK_NS 1000000000ULL
#define KEEP_NS 60000000000ULL

/* Entry for one (device, inode). */
struct file {
	uint32_t major, minor;
	uint64_t inode, generation;
	bool generation_known;
	struct stat st;
	uint64_t checked_ns;
	bool awaited;	       /* file_gone is due when it ends */
	bool loading, known;   /* read in progress; was read at least once */
	struct binary *binary; /* NULL: see rc */
	int rc;		       /* 1; 0: not ELF, code is generated; -ENOENT: out of room */
	struct file *other;    /* with the same hash */
};

/* ---- a file that is being read ---- */

/* Outlives the mapping for which the read was started. */
struct loading {
	struct binaries *b;
	struct file *f; /* NULL: the vDSO */
	struct binary *binary;
	struct mapped m;
	char path[];
};

static struct loading *loading_new(struct binaries *b, struct file *f, const struct mapped *m)
{
	struct loading *l = malloc(sizeof(*l) + m->path.len);

	if (!l)
		return NULL;
	*l = (struct loading){.b = b, .f = f, .m = *m};
	memcpy(l->path, m->path.p, m->path.len);
	l->m.path.p = l->path;
	if (f)
		f->loading = true;
	return l;
}

/* `err` as in binaries__resolve(). Nobody else is notified. */
static int loading_end(struct loading *l, int err)
{
	if (l->f)
		l->f->loading = false;
	free(l);
	return err;
}

static void end_late(struct loading *l, int err)
{
	struct binaries *b = l->b;

	if (err == -EINPROGRESS)
		return;
	loading_end(l, err);
	if (b->opts.late)
		b->opts.late(b->opts.late_ctx);
}

/* ---- its unwind table ---- */

static void take_table(struct binaries *b, struct binary *bin, struct parcel *answer)
{
	struct unwind_table t;
	const char *cause = read_table_take(answer, &t);

	if (t.row_cnt) {
		if (!unwind_store__add(b->opts.store, &t, &bin->table))
			bin->range_flags = RANGE_TABLE;
		else
			cause = "no space for its rows";
	}
	if (cause)
		message_verbose("%s: unwind table: %s", bin->path, cause);
	bin->no_table = cause;
}

static void on_table_late(void *ctx, struct reading_request *r)
{
	struct loading *l = ctx;

	l->binary->loading = false;
	take_table(l->b, l->binary, &r->m);
	end_late(l, 1);
}

static int load_table(struct loading *l, int fd)
{
	struct binaries *b = l->b;
	uint64_t room = UINT64_MAX;
	struct reading_request *r;
	struct parcel ask;

	if (!b->opts.store)
		return 1;
	if (b->opts.room)
		room = b->opts.room(b->opts.room_ctx, l->binary->size);
	read_table_ask(&ask, fd, room);
	r = readers__ask(b->opts.readers, &ask, l->m.pid, binaries_device_of(&l->m));
	if (r && !readers__await(b->opts.readers, r)) {
		l->binary->loading = true;
		readers__later(r, on_table_late, l);
		return -EINPROGRESS;
	}
	if (r)
		take_table(b, l->binary, &r->m);
	readers__done(r);
	return 1;
}

/* ---- the file itself ---- */

/* From here on no file system has to respond for this file. */
static void keep_file(struct loading *l, struct file_read *r)
{
	struct binaries *b = l->b;
	struct binary *bin = l->binary;

	binaries_keep(b, bin, r->fd);
	r->fd = -1;
	bin->root = binaries_root(b, r);
	bin->pid = l->m.pid;
	bin->start = l->m.start;
	bin->end = l->m.end;
	if (bin->hit) { /* known from before: keeps its former name */
		binaries_settle_id(b, bin);
		binaries_close(b, bin);
	}
}

/* Returns 1: l->binary is set; -EINPROGRESS: its table is being read; -ENOMEM. */
static int take_image(struct loading *l, struct span path, struct file_read *r)
{
	struct binaries *b = l->b;
	struct build build;
	int fd, rc;

	l->binary = binaries_find_build(b, &r->image, r->fd, &r->st, &build);
	if (l->binary)
		return 1;
	l->binary = binaries_add_build(b, path, &r->image, r->fd, r->st.st_size, &build);
	if (!l->binary)
		return -ENOMEM;
	r->image = (struct image){0}; /* now owned by the binary */
	fd = r->fd;
	rc = load_table(l, fd);
	keep_file(l, r);
	return rc;
}

/* ---- files by inode ---- */

static bool same_stat(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static uint64_t file_key(uint32_t major, uint32_t minor, uint64_t inode)
{
	return idmap_mix(inode ^ idmap_mix((uint64_t)major << 32 | minor));
}

static struct file *find_file(struct binaries *b, const struct mapped *m)
{
	struct file *f = idmap_get(&b->files, file_key(m->major, m->minor, m->inode));

	while (f && (f->inode != m->inode || f->major != m->major || f->minor != m->minor))
		f = f->other;
	return f;
}

/* Gets the current stat of the mapped file; false if it is unavailable. */
static bool stat_mapped(struct binaries *b, const struct mapped *m, struct stat *st)
{
	struct reading_request *r;
	struct parcel ask;
	int err;

	read_stat_ask(&ask, m);
	r = binaries_ask_now(b, &ask, m->pid, binaries_device_of(m));
	err = r ? read_stat_take(&r->m, st) : -ETIMEDOUT;
	readers__done(r);
	return !err;
}

/* Is the entry still the mapped file? */
static bool file_fresh(struct binaries *b, struct file *f, const struct mapped *m)
{
	uint64_t now = clock_now_ns();
	struct stat st;

	if (!f->known ||
	    (m->generation_known && f->generation_known && m->generation != f->generation))
		return false;
	if (now - f->checked_ns < CHECK_NS)
		return true;
	if (stat_mapped(b, m, &st) && !same_stat(&st, &f->st))
		return false;
	f->checked_ns = now;
	if (m->generation_known) {
		f->generation = m->generation;
		f->generation_known = true;
	}
	return true;
}

static int insert_file(struct binaries *b, struct file *f)
{
	uint64_t key = file_key(f->major, f->minor, f->inode);

	f->other = idmap_get(&b->files, key);
	return idmap_put(&b->files, key, f);
}

static struct file *add_file(struct binaries *b, const struct mapped *m)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->major = m->major;
	f->minor = m->minor;
	f->inode = m->inode;
	if (insert_file(b, f)) {
		free(f);
		return NULL;
	}
	return f;
}

/* An unreadable file still has a name; its addresses are file offsets. */
static struct binary *unreadable(struct binaries *b, struct span path, int err)
{
	struct binary *bin;

	bin = binaries_add(b, path);
	if (bin)
		bin->why = err == -ESTALE ? "the file was replaced while it was mapped"
			   : err == -EPERM || err == -EACCES ? "no permission to read the file"
			   : err == -EBADMSG		     ? "its ELF headers are malformed"
			   : err == -ETIMEDOUT		     ? "reading the file timed out"
							     : "the file could not be read";
	return bin;
}

static bool tell_file(struct binaries *b, const struct file_read *r, struct span path)
{
	char *name = b->opts.file ? strndup(path.p, path.len) : NULL;
	bool awaited = name && b->opts.file(b->opts.file_ctx, &r->facts, r->fd, &r->st, name);

	free(name);
	return awaited;
}

static void tell_gone(struct binaries *b, const struct stat *st)
{
	if (b->opts.file_gone)
		b->opts.file_gone(b->opts.file_ctx, st);
}

/* Facts known from an earlier read may be outdated. */
static void take_facts(struct loading *l, struct file_read *r, struct span path)
{
	struct binaries *b = l->b;
	struct file *f = l->f;
	struct stat before = f->st;
	bool awaited = f->awaited;

	f->st = r->st;
	r->facts.mapped_ns = l->m.ts_ns;
	f->awaited = r->fd >= 0 && tell_file(b, r, path);
	/*
	 * Rewritten in place. A different file that has the same numbers in maps is not a rewrite.
	 */
	if (awaited && before.st_dev == r->st.st_dev && before.st_ino == r->st.st_ino)
		tell_gone(b, &before);
}

/* Handles the answer of the reader. */
static int load_file(struct loading *l, struct parcel *answer)
{
	struct file *f = l->f;
	struct binary *before = f->binary;
	struct span path = l->m.path;
	struct file_read r;
	int err = binaries_lose_answer(l->b, read_file_take(answer, &r)), rc = 0;

	if (err == -ENOENT || err == -ESRCH) /* the process has exited */
		return -ENOENT;
	binary_path_deleted(&path);
	f->known = err != -ETIMEDOUT; /* read again if it is mapped again */
	f->generation = l->m.generation;
	f->generation_known = l->m.generation_known;
	f->checked_ns = clock_now_ns();
	f->binary = NULL;
	if (!err) {
		take_facts(l, &r, path);
		err = r.image_err == -ENOEXEC ? -ENXIO : r.image_err;
	}
	if (!err) {
		rc = take_image(l, path, &r);
		f->binary = l->binary;
	} else if (err != -ENXIO) {
		f->binary = before && before->why ? before : unreadable(l->b, path, err);
		rc = f->binary ? 1 : -ENOENT;
	}
	f->rc = rc == -EINPROGRESS ? 1 : rc == -ENOMEM ? -ENOENT : rc;
	file_read_fini(&r);
	return rc == -EINPROGRESS ? rc : f->rc;
}

static void on_file_late(void *ctx, struct reading_request *r)
{
	struct loading *l = ctx;

	end_late(l, load_file(l, &r->m));
}

static int resolve_vdso(struct binaries *b, const struct mapped *m, struct binary **out)
{
	size_t len = m->end - m->start;
	bool compat = m->end <= 1ULL << 32;
	struct reading_request *r;
	struct file_read file = {.fd = -1};
	struct parcel ask;
	struct loading *l;
	int rc;

	for (unsigned i = 0; i < b->vdso_cnt; i++) {
		if (b->vdso[i].len == len && b->vdso[i].compat == compat) {
			*out = b->vdso[i].binary;
			return 1;
		}
	}
	read_file_ask(&ask, m, 0);
	r = binaries_ask_now(b, &ask, m->pid, 0);
	l = r && !read_file_take(&r->m, &file) ? loading_new(b, NULL, m) : NULL;
	readers__done(r);
	if (!l)
		return -ENOENT;
	rc = file.image_err ? -ENOENT : take_image(l, span_of("[vdso]"), &file);
	file_read_fini(&file);
	*out = l->binary;
	if (rc != -EINPROGRESS)
		loading_end(l, rc);
	if (*out && b->vdso_cnt < sizeof(b->vdso) / sizeof(*b->vdso)) {
		b->vdso[b->vdso_cnt].len = len;
		b->vdso[b->vdso_cnt].compat = compat;
		b->vdso[b->vdso_cnt++].binary = *out;
	}
	return *out ? 1 : -ENOENT;
}

static int resolve_file(struct binaries *b, const struct mapped *m, struct binary **out)
{
	struct file *f = find_file(b, m);
	struct reading_request *r;
	struct parcel ask;
	struct loading *l;
	int rc;

	if (f && f->loading)
		return -EINPROGRESS;
	if (f && file_fresh(b, f, m)) {
		*out = f->binary;
		return f->rc;
	}
	if (!f && !(f = add_file(b, m)))
		return -ENOMEM;
	l = loading_new(b, f, m);
	if (!l)
		return -ENOMEM;
	read_file_ask(&ask, m, b->opts.facts);
	r = readers__ask(b->opts.readers, &ask, m->pid, binaries_device_of(m));
	if (!r)
		return loading_end(l, -ENOMEM);
	if (!readers__await(b->opts.readers, r)) {
		readers__later(r, on_file_late, l);
		return -EINPROGRESS;
	}
	rc = load_file(l, &r->m);
	readers__done(r);
	if (rc == -EINPROGRESS)
		return rc;
	*out = f->binary;
	return loading_end(l, rc);
}

static bool is_path(struct span p, const char *s)
{
	return p.len == strlen(s) && !memcmp(p.p, s, p.len);
}

int binaries__resolve(struct binaries *b, const struct mapped *m, struct binary **out)
{
	int rc;

	*out = NULL;
	if (is_path(m->path, "[vdso]"))
		return resolve_vdso(b, m, out);
	if (is_path(m->path, "[vsyscall]") || is_path(m->path, "[uprobes]"))
		return -ENOENT;
	if (!m->inode)
		return 0;
	rc = resolve_file(b, m, out);
	if (rc == 1 && !(*out)->hit) {
		(*out)->pid = m->pid;
		(*out)->start = m->start;
		(*out)->end = m->end;
	}
	return rc;
}

/*
 * Rebuilds the table with the entries to keep, because entries cannot be deleted during iteration.
 */
static void keep_files(struct binaries *b,
		       bool (*keep)(const struct binaries *b, const struct file *f,
				    uint64_t since_ns),
		       uint64_t since_ns)
{
	struct idmap old = b->files;
	struct file *f, *other;

	b->files = (struct idmap){0};
	for (size_t i = 0; (f = idmap_next(&old, &i));) {
		for (; f; f = other) {
			other = f->other;
			if (keep(b, f, since_ns) && !insert_file(b, f))
				continue;
			if (f->awaited)
				tell_gone(b, &f->st);
			free(f);
		}
	}
	idmap_fini(&old);
}

static bool keep_none(const struct binaries *b, const struct file *f, uint64_t since_ns)
{
	return false;
}

/* One build can have any number of files (containers, rebuilds), and reading a file again costs a
 * read of its headers. A binary without build-id can be found only through its file. */
static bool keep_used(const struct binaries *b, const struct file *f, uint64_t since_ns)
{
	const struct binary *bin = f->binary;

	if (f->loading)
		return true;
	if (!bin)
		return f->awaited || f->checked_ns >= since_ns;
	if (bin->doomed)
		return false;
	return f->awaited || !bin->key || idmap_get(&b->builds, bin->key) != bin ||
	       f->checked_ns + KEEP_NS >= since_ns;
}

void binaries_drop_files(struct binaries *b, uint64_t since_ns)
{
	keep_files(b, keep_used, since_ns);
}

void binaries_free_files(struct binaries *b)
{
	b->opts.file_gone = NULL; /* the receiver may already be freed */
	keep_files(b, keep_none, 0);
}
