/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Three look-ups, cheapest first: (device, inode) as the mapping shows them; the open file's
 * build-id; and only for a file not seen in any guise, its unwind table. A file can be replaced or
 * rewritten under its inode number, so an entry of the first kind is compared with stat(2) of the
 * mapping, at most once a second.
 */
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../format/clock.h"
#include "../format/text.h"
#include "binary_open.h"
#include "binary_registry.h"

#define CHECK_NS 1000000000ULL
#define KEEP_NS 60000000000ULL
#define CFI_MAX_SZ (128u << 20)

/* What a (device, inode) stands for. */
struct file {
	uint32_t major, minor;
	uint64_t inode, generation;
	bool generation_known;
	struct stat st;
	uint64_t checked_ns;
	bool awaited;	       /* its end is to be told */
	struct binary *binary; /* NULL: see rc */
	int rc;		       /* 1; 0: not ELF, its code is generated; -ENOENT: no room for it */
	struct file *other;    /* of the same hash */
};

/* ---- making one ---- */

/*
 * A file can claim any size at no cost (holes), and all of a section is read, if not at once. The
 * largest real .eh_frame are some tens of MiB.
 */
static bool too_large(Elf *elf, uint64_t file_sz)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	if (file_sz <= CFI_MAX_SZ)
		return false;
	if (elf_getshdrstrndx(elf, &names) || !elf_nextscn(elf, NULL))
		return true; /* its extent is not told */
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (!name || sh.sh_type == SHT_NOBITS || sh.sh_size <= CFI_MAX_SZ)
			continue;
		if (strstr(name, "_frame") || strstr(name, "pclntab"))
			return true;
	}
	return false;
}

static void load_table(struct binaries *b, struct binary *bin, int fd)
{
	uint64_t room = b->opts.room ? b->opts.room(b->opts.room_ctx, bin->size) : UINT64_MAX;
	struct unwind_table t = {0};
	const char *cause = NULL;
	Elf *elf;
	int err;

	if (!b->opts.store)
		return;
	elf = elf_begin(fd, ELF_C_READ, NULL);
	err = !elf			  ? -EBADMSG
	      : too_large(elf, bin->size) ? -EFBIG
					  : unwind_table__build(elf, fd, room, &t);
	if (err)
		cause = err == -ENODATA	  ? "no unwind information"
			: err == -EBADMSG ? "malformed"
			: err == -EFBIG	  ? "too large to be true"
			: err == -E2BIG	  ? "takes more than --max-mem leaves"
					  : "no memory";
	if (t.row_cnt) {
		err = unwind_store__add(b->opts.store, &t, &bin->table);
		if (!err)
			bin->range_flags = RANGE_TABLE;
		else
			cause = "no room for its rows";
	}
	if (cause)
		message_verbose("%s: unwind table: %s", bin->path, cause);
	bin->no_table = cause;
	unwind_table__fini(&t);
	elf_end(elf);
}

/* Takes fd. 0 and *out (NULL: not ELF). */
static int take_file(struct binaries *b, const struct mapped *m, struct span path, int fd,
		     uint64_t size, struct binary **out)
{
	struct build build;
	struct binary *bin;
	struct image im;
	int err = image_read(&im, fd);

	*out = NULL;
	if (err) {
		close(fd);
		return err == -ENOEXEC ? 0 : err;
	}
	bin = binaries_find_build(b, &im, fd, size, &build);
	if (bin) {
		image_fini(&im);
		close(fd);
		*out = bin;
		return 0;
	}
	bin = binaries_add_build(b, path, &im, fd, size, &build);
	if (!bin) {
		image_fini(&im);
		close(fd);
		return -ENOMEM;
	}
	load_table(b, bin, fd);
	binaries_keep(b, bin, fd);
	if (bin->hit) { /* and forgotten: as it was named then */
		binaries_settle_id(b, bin);
		binaries_close(b, bin);
	}
	bin->root = binaries_root(b, m->pid);
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
	remember_place(*out, m);
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

/* Still what is mapped? */
static bool file_fresh(struct binaries *b, struct file *f, const struct mapped *m)
{
	uint64_t now = clock_now_ns();
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
static struct binary *unreadable(struct binaries *b, const struct mapped *m, struct span path,
				 int err)
{
	struct binary *bin;

	bin = binaries_add(b, path);
	if (bin)
		bin->why = err == -ESTALE ? "the file was replaced while it was mapped"
			   : err == -EPERM || err == -EACCES ? "no permission to read the file"
			   : err == -EBADMSG		     ? "its ELF headers are malformed"
							     : "the file could not be read";
	return bin;
}

static bool tell_file(struct binaries *b, int fd, const struct stat *st, struct span path)
{
	char *name = b->opts.file && fd >= 0 ? strndup(path.p, path.len) : NULL;
	bool awaited = name && b->opts.file(b->opts.file_ctx, fd, st, name);

	free(name);
	return awaited;
}

static void tell_gone(struct binaries *b, const struct stat *st)
{
	if (b->opts.file_gone)
		b->opts.file_gone(b->opts.file_ctx, st);
}

/* Opens and takes the file anew; what is known of it may be outdated. */
static void load_file(struct binaries *b, struct file *f, const struct mapped *m, int fd,
		      const struct stat *st)
{
	struct binary *before = f->binary;
	struct span path = m->path;
	struct stat st_before = f->st;
	bool awaited = f->awaited;
	int err;

	binary_path_deleted(&path);
	f->generation = m->generation;
	f->generation_known = m->generation_known;
	f->checked_ns = clock_now_ns();
	f->st = *st;
	f->binary = NULL;
	f->awaited = tell_file(b, fd, st, path);
	/* Rewritten in place; another one that maps show by the same numbers is there as before. */
	if (awaited && st_before.st_dev == st->st_dev && st_before.st_ino == st->st_ino)
		tell_gone(b, &st_before);
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

		if (fd == -ENOENT || fd == -ESRCH) /* its process has gone */
			return -ENOENT;
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
