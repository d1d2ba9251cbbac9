/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three look-ups, cheapest first: (device, inode) as the mapping shows them; the open file's
 * build-id; and only for a file not seen in any guise, its unwind table. A file can be replaced or
 * rewritten under its inode number, so an entry of the first kind is compared with stat(2) of the
 * mapping, at most once a second.
 *
 * All that is read is read by a reader process (readers.h). Mostly its answer is there at once; if
 * not, the file stays `loading`, and its mappings are asked for again when it is known.
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

/* What a (device, inode) stands for. */
struct file {
	uint32_t major, minor;
	uint64_t inode, generation;
	bool generation_known;
	struct stat st;
	uint64_t checked_ns;
	bool awaited;	       /* its end is to be told */
	bool loading, known;   /* being read; was read once */
	struct binary *binary; /* NULL: see rc */
	int rc;		       /* 1; 0: not ELF, its code is generated; -ENOENT: no room for it */
	struct file *other;    /* of the same hash */
};

/* ---- one that is being read ---- */

/* Outlives the mapping that it was begun for. */
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

/* `err` as binaries__resolve(); nobody else is told. */
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

/* ---- itself ---- */

/* The rest of its life needs no file system's answer. */
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
	if (bin->hit) { /* and forgotten: as it was named then */
		binaries_settle_id(b, bin);
		binaries_close(b, bin);
	}
}

/* 1: l->binary; -EINPROGRESS: with its table; -ENOMEM. */
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
	r->image = (struct image){0}; /* it is the binary's */
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

/* The file as it is now; false: not to be known. */
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

/* Still what is mapped? */
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

/* A file that cannot be read still has a name; its addresses are file offsets. */
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

/* What is known of it may be outdated. */
static void take_facts(struct loading *l, const struct file_read *r, struct span path)
{
	struct binaries *b = l->b;
	struct file *f = l->f;
	struct stat before = f->st;
	bool awaited = f->awaited;

	f->st = r->st;
	f->awaited = r->fd >= 0 && tell_file(b, r, path);
	/* Rewritten in place; another one that maps show by the same numbers is there as before. */
	if (awaited && before.st_dev == r->st.st_dev && before.st_ino == r->st.st_ino)
		tell_gone(b, &before);
}

/* The reader has answered. */
static int load_file(struct loading *l, struct parcel *answer)
{
	struct file *f = l->f;
	struct binary *before = f->binary;
	struct span path = l->m.path;
	struct file_read r;
	int err = binaries_lose_answer(l->b, read_file_take(answer, &r)), rc = 0;

	if (err == -ENOENT || err == -ESRCH) /* its process has gone */
		return -ENOENT;
	binary_path_deleted(&path);
	f->known = err != -ETIMEDOUT; /* asked again, should it be mapped again */
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

/* Takes those that are to stay over into a new table, as nothing may be deleted in a walk. */
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

/* One build can have any number of files, of containers and rebuilds; each new look at one costs a
 * read of its headers. What has no build-id is found by its file alone. */
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
	b->opts.file_gone = NULL; /* who wants to know may be gone itself */
	keep_files(b, keep_none, 0);
}
