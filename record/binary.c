/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three look-ups, cheapest first: (device, inode) as the mapping shows them; the open file's
 * build-id; and only for a file not seen in any guise, its unwind table. A file can be replaced or
 * rewritten under its inode number, so an entry of the first kind is compared with stat(2) of the
 * mapping, at most once a second.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "../format/text.h"
#include "binary.h"
#include "binary_open.h"
#include "idmap.h"

#define ID_MAX 0xfffeu
#define ROOTS_MAX 256
#define CHECK_NS 1000000000ULL

/* What a (device, inode) stands for. */
struct file {
	uint32_t major, minor;
	uint64_t inode, generation;
	bool generation_known;
	struct stat st;
	uint64_t checked_ns;
	struct binary *binary; /* NULL: see rc */
	int rc;		       /* 1; 0: not ELF, its code is generated; -ENOENT: no room for it */
	struct file *other;    /* of the same hash */
};

/* A root directory that binaries were found under, kept for looking up separate debug files. */
struct root {
	ino_t mnt_ns, ino;
	dev_t dev;
	int fd;
};

struct binaries {
	struct binaries_opts opts;
	struct idmap files;
	struct idmap builds; /* hash of build-id, size and segments -> struct binary */
	struct binary **by_id;
	uint32_t cnt, cap;
	struct root root[ROOTS_MAX];
	int root_cnt;
	uint64_t fds, fds_max;
	struct {
		size_t len;
		bool compat;
		struct binary *binary;
	} vdso[4];
	unsigned vdso_cnt;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void lose(struct binaries *b, const char *source, const char *cause, uint64_t count)
{
	if (b->opts.loss)
		b->opts.loss(b->opts.loss_ctx, source, cause, count);
}

int binaries__new(struct binaries **out, const struct binaries_opts *opts)
{
	struct binaries *b = calloc(1, sizeof(*b));
	struct rlimit r;

	if (!b)
		return -ENOMEM;
	b->opts = *opts;
	/* One descriptor a binary is kept until it is hit. */
	if (!getrlimit(RLIMIT_NOFILE, &r)) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
		getrlimit(RLIMIT_NOFILE, &r);
		b->fds_max = r.rlim_cur / 2;
	}
	*out = b;
	return 0;
}

static void close_file(struct binaries *b, struct binary *bin)
{
	if (bin->fd >= 0) {
		close(bin->fd);
		b->fds--;
	}
	bin->fd = -1;
}

static void free_files(struct binaries *b)
{
	struct file *f, *other;

	for (size_t i = 0; (f = idmap_next(&b->files, &i));) {
		for (; f; f = other) {
			other = f->other;
			free(f);
		}
	}
	idmap_fini(&b->files);
}

void binaries__free(struct binaries *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->cnt; i++) {
		struct binary *bin = b->by_id[i];

		close_file(b, bin);
		image_fini(&bin->image);
		perfmap__free(bin->perfmap);
		free(bin->path);
		free(bin);
	}
	for (int i = 0; i < b->root_cnt; i++)
		if (b->root[i].fd >= 0)
			close(b->root[i].fd);
	free(b->by_id);
	free_files(b);
	idmap_fini(&b->builds);
	free(b);
}

struct binary *binaries__get(struct binaries *b, uint32_t id)
{
	return id && id <= b->cnt ? b->by_id[id - 1] : NULL;
}

/* ---- making one ---- */

static struct binary *add_binary(struct binaries *b, struct span path)
{
	struct binary *bin;

	if (b->cnt >= ID_MAX) {
		lose(b, "binary", "more than 65534 binaries", 1);
		return NULL;
	}
	if (b->cnt == b->cap) {
		uint32_t cap = b->cap ? b->cap * 2 : 64;
		struct binary **v = realloc(b->by_id, cap * sizeof(*v));

		if (!v)
			return NULL;
		b->by_id = v;
		b->cap = cap;
	}
	bin = calloc(1, sizeof(*bin));
	if (bin)
		bin->path = strndup(path.p, path.len);
	if (!bin || !bin->path) {
		free(bin);
		return NULL;
	}
	b->by_id[b->cnt] = bin;
	bin->id = ++b->cnt;
	bin->fd = bin->root = -1;
	bin->range_flags = RANGE_FP;
	return bin;
}

/* The index of the process's root directory among those kept, -1 when it cannot be. */
static int find_root(struct binaries *b, uint32_t pid)
{
	struct stat dir, ns;
	char name[32];
	int i;

	snprintf(name, sizeof(name), "%u/ns/mnt", pid);
	if (fstatat(b->opts.proc, name, &ns, 0))
		return -1;
	snprintf(name, sizeof(name), "%u/root/", pid);
	if (fstatat(b->opts.proc, name, &dir, 0))
		return -1;
	for (i = 0; i < b->root_cnt; i++)
		if (b->root[i].ino == dir.st_ino && b->root[i].dev == dir.st_dev &&
		    b->root[i].mnt_ns == ns.st_ino)
			return i;
	if (i == ROOTS_MAX)
		return -1;
	b->root[i] = (struct root){ns.st_ino, dir.st_ino, dir.st_dev, -1};
	b->root[i].fd = openat(b->opts.proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (b->root[i].fd < 0)
		return -1;
	return b->root_cnt++;
}

static void load_table(struct binaries *b, struct binary *bin, int fd)
{
	struct unwind_table t = {0};
	const char *cause = NULL;
	Elf *elf;
	int err;

	if (!b->opts.store)
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = elf ? unwind_table__build(elf, &t) : -EBADMSG;
	if (err)
		cause = err == -ENODATA	  ? "no unwind information"
			: err == -EBADMSG ? "malformed"
					  : "no memory";
	if (t.row_cnt) {
		err = unwind_store__add(b->opts.store, &t, &bin->page0);
		if (!err)
			bin->range_flags = RANGE_TABLE;
		else
			cause = "no room for its rows";
	}
	if (cause) {
		message_verbose("%s: unwind table: %s", bin->path, cause);
		lose(b, "unwind table", cause, 1);
	}
	unwind_table__fini(&t);
	elf_end(elf);
}

static uint64_t build_key(const struct image *im, uint64_t size)
{
	uint64_t h = idmap_mix(im->loads_hash ^ size);

	for (const char *p = im->build_id; *p; p++)
		h = idmap_mix(h ^ (unsigned char)*p);
	return h;
}

/* The same build seen before, under another inode. */
static struct binary *find_build(struct binaries *b, const struct image *im, uint64_t size)
{
	struct binary *bin = im->build_id[0] ? idmap_get(&b->builds, build_key(im, size)) : NULL;

	return bin && bin->size == size && bin->image.loads_hash == im->loads_hash &&
			       !strcmp(bin->image.build_id, im->build_id)
		       ? bin
		       : NULL;
}

/* Takes fd. 0 and *out (NULL: not ELF). */
static int take_file(struct binaries *b, const struct mapped *m, struct span path, int fd,
		     uint64_t size, struct binary **out)
{
	struct binary *bin;
	struct image im;
	int err = image_read(&im, fd);

	*out = NULL;
	if (err) {
		close(fd);
		return err == -ENOEXEC ? 0 : err;
	}
	bin = find_build(b, &im, size);
	if (bin) {
		image_fini(&im);
		close(fd);
		*out = bin;
		return 0;
	}
	bin = add_binary(b, path);
	if (!bin) {
		image_fini(&im);
		close(fd);
		return -ENOMEM;
	}
	bin->image = im;
	bin->size = size;
	if (im.build_id[0])
		idmap_put(&b->builds, build_key(&im, size), bin);
	load_table(b, bin, fd);
	if (b->fds < b->fds_max) {
		bin->fd = fd;
		b->fds++;
	} else {
		close(fd);
	}
	bin->root = find_root(b, m->pid);
	*out = bin;
	return 0;
}

static void remember_place(struct binary *bin, const struct mapped *m)
{
	bin->pid = m->pid;
	bin->start = m->start;
	bin->end = m->end;
}

static int resolve_vdso(struct binaries *b, const struct mapped *m, struct binary **out)
{
	size_t len = m->end - m->start;
	bool compat = m->end <= 1ULL << 32;
	int fd, err;

	for (unsigned i = 0; i < b->vdso_cnt; i++) {
		if (b->vdso[i].len == len && b->vdso[i].compat == compat) {
			*out = b->vdso[i].binary;
			return 1;
		}
	}
	fd = binary_open_vdso(m);
	if (fd < 0)
		return -ENOENT;
	err = take_file(b, m, span_of("[vdso]"), fd, len, out);
	if (err || !*out)
		return -ENOENT;
	if (b->vdso_cnt < sizeof(b->vdso) / sizeof(*b->vdso)) {
		b->vdso[b->vdso_cnt].len = len;
		b->vdso[b->vdso_cnt].compat = compat;
		b->vdso[b->vdso_cnt++].binary = *out;
	}
	return 1;
}

/* ---- files by inode ---- */

static bool same_stat(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static uint64_t file_key(const struct mapped *m)
{
	return idmap_mix(m->inode ^ idmap_mix((uint64_t)m->major << 32 | m->minor));
}

static struct file *find_file(struct binaries *b, const struct mapped *m)
{
	struct file *f = idmap_get(&b->files, file_key(m));

	while (f && (f->inode != m->inode || f->major != m->major || f->minor != m->minor))
		f = f->other;
	return f;
}

/* Still what is mapped? */
static bool file_fresh(struct binaries *b, struct file *f, const struct mapped *m)
{
	uint64_t now = now_ns();
	struct stat st;

	if (m->generation_known && f->generation_known && m->generation != f->generation)
		return false;
	if (now - f->checked_ns < CHECK_NS)
		return true;
	if (binary_stat_mapped(b->opts.proc, m, &st) == 0 && !same_stat(&st, &f->st))
		return false;
	f->checked_ns = now;
	if (m->generation_known) {
		f->generation = m->generation;
		f->generation_known = true;
	}
	return true;
}

static struct file *add_file(struct binaries *b, const struct mapped *m)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->major = m->major;
	f->minor = m->minor;
	f->inode = m->inode;
	f->other = idmap_get(&b->files, file_key(m));
	if (idmap_put(&b->files, file_key(m), f)) {
		free(f);
		return NULL;
	}
	return f;
}

/* A file that cannot be read still has a name; its addresses are file offsets. */
static struct binary *unreadable(struct binaries *b, const struct mapped *m, struct span path,
				 int err)
{
	struct binary *bin;

	lose(b, "binary", err == -ESTALE ? "replaced on disk while mapped" : "not readable", 1);
	bin = add_binary(b, path);
	if (bin)
		bin->why = err == -ESTALE ? "the file was replaced while it was mapped"
			   : err == -EPERM || err == -EACCES ? "no permission to read the file"
							     : "the file could not be read";
	return bin;
}

/* Opens and takes the file anew; what is known of it may be outdated. */
static void load_file(struct binaries *b, struct file *f, const struct mapped *m, int fd, const struct stat *st)
{
	struct binary *before = f->binary;
	struct span path = m->path;
	int err;

	binary_path_deleted(&path);
	f->generation = m->generation;
	f->generation_known = m->generation_known;
	f->checked_ns = now_ns();
	f->st = *st;
	f->binary = NULL;
	err = fd < 0 ? fd : take_file(b, m, path, fd, st->st_size, &f->binary);
	if (err && err != -ENXIO && err != -ENOMEM)
		f->binary = before && before->why ? before : unreadable(b, m, path, err);
	f->rc = f->binary ? 1 : err && err != -ENXIO ? -ENOENT : 0;
}

static int resolve_file(struct binaries *b, const struct mapped *m, struct binary **out)
{
	struct file *f = find_file(b, m);

	if (!f || !file_fresh(b, f, m)) {
		struct stat st = {0};
		int fd = binary_open_mapped(b->opts.proc, m, &st);

		if (fd == -ENOENT || fd == -ESRCH) {
			lose(b, "binary", "process gone before its file could be read", 1);
			return -ENOENT;
		}
		if (!f && !(f = add_file(b, m))) {
			if (fd >= 0)
				close(fd);
			return -ENOMEM;
		}
		load_file(b, f, m, fd, &st);
	}
	*out = f->binary;
	return f->rc;
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
	if (rc == 1 && !(*out)->hit)
		remember_place(*out, m);
	return rc;
}

struct binary *binaries__jit(struct binaries *b, uint32_t pid)
{
	struct binary *bin;
	char name[32];

	snprintf(name, sizeof(name), "[jit %u]", pid);
	bin = add_binary(b, span_of(name));
	if (bin && perfmap__new(&bin->perfmap, b->opts.proc, pid))
		bin->perfmap = NULL;
	if (bin)
		bin->range_flags = RANGE_JIT;
	return bin;
}

/* ---- the first hit ---- */

static void write_record(struct binaries *b, const struct binary *bin)
{
	struct rec_binary rec = {
		.id = bin->id,
		.build_id = span_of(bin->image.build_id),
		.path = span_of(bin->path),
		.size = bin->size,
	};

	obz_writer__put(b->opts.writer, REC_binary, &rec);
	if (bin->why) {
		struct rec_debuginfo none = {bin->id, span_of(""), span_of("none"),
					     span_of(bin->why)};

		obz_writer__put(b->opts.writer, REC_debuginfo, &none);
	}
}

/* The descriptor was not kept: the process that had the file may still be there. */
static void reopen(struct binaries *b, struct binary *bin)
{
	struct mapped m = {
		.pid = bin->pid, .start = bin->start, .end = bin->end, .path = span_of(bin->path)};
	struct image im;
	struct stat st;
	int fd;

	if (bin->fd >= 0 || bin->perfmap || bin->why)
		return;
	fd = binary_open_mapped(b->opts.proc, &m, &st);
	if (fd < 0) {
		bin->why = "the file was gone when it was needed";
		return;
	}
	if (image_read(&im, fd) || im.loads_hash != bin->image.loads_hash ||
	    strcmp(im.build_id, bin->image.build_id) || (uint64_t)st.st_size != bin->size) {
		bin->why = "the file had changed when it was needed";
		close(fd);
	} else {
		bin->fd = fd;
		b->fds++;
	}
	image_fini(&im);
}

bool binaries__hit(struct binaries *b, struct binary *bin)
{
	if (bin->hit)
		return false;
	bin->hit = true;
	reopen(b, bin);
	if (bin->fd >= 0 && !bin->image.build_id[0])
		image_content_id(bin->fd, bin->image.build_id);
	write_record(b, bin);
	if (bin->fd >= 0 && b->opts.debuginfo)
		debuginfo__want(b->opts.debuginfo, bin->id, bin->fd,
				bin->root >= 0 ? b->root[bin->root].fd : -1, bin->path,
				bin->image.build_id);
	close_file(b, bin);
	return true;
}

int binaries__reanchor(struct binaries *b)
{
	for (uint32_t i = 0; i < b->cnt; i++)
		if (b->by_id[i]->hit)
			write_record(b, b->by_id[i]);
	return 0;
}
