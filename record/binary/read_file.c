/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "record/binary/alloc_find.h"
#include "record/binary/binary_open.h"
#include "record/elf/elf_open.h"
#include "record/elf/file_holes.h"
#include "record/binary/read_file.h"
#include "record/reader/reader_process.h"
#include "record/binary/splice_find.h"
#include "record/binary/tls_find.h"
#include "record/unwind/unwind_table.h"

#define CFI_MAX_SZ (128u << 20)
#define COMPARED_MAX_SZ (64u << 20)
#define LOADS_MAX 4096

/* ---- both sides ---- */

static void put_mapped(struct parcel *m, const struct mapped *what)
{
	parcel_put_u64(m, what->pid);
	parcel_put_u64(m, what->start);
	parcel_put_u64(m, what->end);
	parcel_put_u64(m, what->inode);
	parcel_put_span(m, what->path);
}

static struct mapped get_mapped(struct parcel *m)
{
	struct mapped what = {.pid = parcel_get_u64(m)};

	what.start = parcel_get_u64(m);
	what.end = parcel_get_u64(m);
	what.inode = parcel_get_u64(m);
	what.path = parcel_get_span(m);
	return what;
}

static void put_stat(struct parcel *m, const struct stat *st)
{
	parcel_put_u64(m, st->st_dev);
	parcel_put_u64(m, st->st_ino);
	parcel_put_u64(m, st->st_size);
	parcel_put_u64(m, st->st_mtim.tv_sec);
	parcel_put_u64(m, st->st_mtim.tv_nsec);
}

static void get_stat(struct parcel *m, struct stat *st)
{
	*st = (struct stat){.st_dev = parcel_get_u64(m)};
	st->st_ino = parcel_get_u64(m);
	st->st_size = parcel_get_u64(m);
	st->st_mtim.tv_sec = parcel_get_u64(m);
	st->st_mtim.tv_nsec = parcel_get_u64(m);
}

static void put_image(struct parcel *m, const struct image *im)
{
	parcel_put_u64(m, im->loads_hash);
	parcel_put_string(m, im->build_id);
	parcel_put_u64(m, im->load_cnt);
	parcel_put(m, im->loads, im->load_cnt * sizeof(*im->loads));
}

static void get_id(struct parcel *m, char id[IMAGE_ID_CAP])
{
	struct span s = parcel_get_span(m);

	snprintf(id, IMAGE_ID_CAP, "%.*s", (int)(s.len < IMAGE_ID_CAP ? s.len : 0), s.p);
}

static int get_image(struct parcel *m, struct image *im)
{
	*im = (struct image){.loads_hash = parcel_get_u64(m)};
	get_id(m, im->build_id);
	im->load_cnt = parcel_get_u64(m);
	if (im->load_cnt > LOADS_MAX)
		m->bad = true;
	if (m->bad || !im->load_cnt) {
		im->load_cnt = 0;
		return m->bad ? -EBADMSG : 0;
	}
	im->loads = calloc(im->load_cnt, sizeof(*im->loads));
	if (!im->loads) {
		im->load_cnt = 0;
		return -ENOMEM;
	}
	parcel_get(m, im->loads, im->load_cnt * sizeof(*im->loads));
	return m->bad ? -EBADMSG : 0;
}

static int reopen(int path_fd)
{
	return reader_reopen(path_fd, O_RDONLY | O_NONBLOCK | O_NOCTTY);
}

static int path_of(int fd)
{
	return reader_reopen(fd, O_PATH);
}

/* ---- a file ---- */

static bool is_vdso(const struct mapped *what)
{
	return !what->inode && what->path.len == 6 && !memcmp(what->path.p, "[vdso]", 6);
}

static int open_mapped(int proc, const struct mapped *what, struct stat *st)
{
	int fd;

	if (!is_vdso(what))
		return binary_open_mapped(proc, what, st);
	fd = binary_open_vdso(what);
	if (fd >= 0 && fstat(fd, st)) {
		close(fd);
		return -errno;
	}
	return fd;
}

static bool is_remote(int fd)
{
	static const uint32_t remote[] = {
		0x65735546 /* fuse */, NFS_SUPER_MAGIC, 0xff534d42 /* cifs */,
		0xfe534d42 /* smb2 */, SMB_SUPER_MAGIC, V9FS_MAGIC,
		CEPH_SUPER_MAGIC,      AFS_FS_MAGIC,	CODA_SUPER_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return true;
	for (size_t i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((uint32_t)fs.f_type == remote[i])
			return true;
	return false;
}

static void put_alloc(struct parcel *m, int fd, unsigned wanted)
{
	struct alloc_site *site =
		wanted & FILE_FACT_ALLOC ? calloc(ALLOC_FUNCS, sizeof(*site)) : NULL;
	enum alloc_go_lack go = ALLOC_GO_LACKS_NOTHING;
	size_t cnt = site ? alloc_find(fd, site, &go) : 0;

	parcel_put_u64(m, go);
	parcel_put_span(m, (struct span){(const char *)site, cnt * sizeof(*site)});
	free(site);
}

static void put_facts(struct parcel *m, int fd, unsigned wanted)
{
	struct tls_site site[TLS_SITES_MAX];
	size_t cnt = wanted & FILE_FACT_TLS ? tls_find(fd, site) : 0;

	parcel_put_u64(m, wanted & FILE_FACT_SPLICE && splice_find(fd));
	parcel_put_u64(m, is_remote(fd));
	parcel_put_u64(m, cnt);
	for (size_t i = 0; i < cnt; i++) {
		parcel_put_u64(m, site[i].offset);
		parcel_put_u64(m, site[i].kind);
		parcel_put_u64(m, site[i].step);
		parcel_put_u64(m, site[i].result_at);
		parcel_put_span(m, (struct span){site[i].name, strlen(site[i].name) + 1});
	}
	put_alloc(m, fd, wanted);
}

static void get_facts(struct parcel *m, struct file_facts *f)
{
	f->may_splice = parcel_get_u64(m);
	f->remote = parcel_get_u64(m);
	f->tls_cnt = parcel_get_u64(m);
	if (f->tls_cnt > TLS_SITES_MAX)
		m->bad = true;
	for (size_t i = 0; i < f->tls_cnt && !m->bad; i++) {
		struct tls_site *s = &f->tls[i];
		struct span name;

		s->offset = parcel_get_u64(m);
		s->kind = parcel_get_u64(m);
		s->step = parcel_get_u64(m);
		s->result_at = parcel_get_u64(m);
		name = parcel_get_span(m);
		if (!name.len || name.p[name.len - 1] || s->kind >= TLS_KIND_CNT)
			m->bad = true;
		s->name = name.p;
	}
	f->alloc_go = parcel_get_u64(m);
	f->alloc = parcel_get_span(m);
	if (m->bad)
		f->tls_cnt = f->alloc.len = f->alloc_go = 0;
}

/* Sends the process's root directory, used to look up separate debug files. */
static void put_root(struct parcel *m, int proc, uint32_t pid)
{
	struct stat ns = {0}, dir = {0};
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "%u/ns/mnt", pid);
	if (fstatat(proc, name, &ns, 0))
		ns.st_ino = 0;
	snprintf(name, sizeof(name), "%u/root/", pid);
	fd = openat(proc, name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &dir)) {
		close(fd);
		fd = -1;
	}
	parcel_put_u64(m, ns.st_ino);
	parcel_put_u64(m, dir.st_ino);
	parcel_put_u64(m, dir.st_dev);
	parcel_put_fd(m, 1, fd);
}

int read_file_serve(int proc, struct parcel *request, struct parcel *answer)
{
	struct mapped what = get_mapped(request);
	unsigned facts = parcel_get_u64(request);
	struct image im = {0};
	struct stat st;
	int fd, path_fd, err;

	if (request->bad)
		return -EBADMSG;
	fd = open_mapped(proc, &what, &st);
	if (fd < 0)
		return fd;
	path_fd = path_of(fd);
	if (path_fd < 0) {
		close(fd);
		return path_fd;
	}
	err = image_read(&im, fd);
	put_stat(answer, &st);
	parcel_put_u64(answer, -err);
	put_image(answer, &im);
	put_facts(answer, fd, facts);
	put_root(answer, proc, what.pid);
	parcel_put_fd(answer, 0, path_fd);
	image_fini(&im);
	close(fd);
	return 0;
}

void read_file_ask(struct parcel *m, const struct mapped *what, unsigned facts)
{
	parcel_init(m, READING_file);
	put_mapped(m, what);
	parcel_put_u64(m, facts);
}

int read_file_take(struct parcel *m, struct file_read *f)
{
	int err = m->rc;

	*f = (struct file_read){.fd = -1, .root_fd = -1};
	if (err)
		return err > 0 ? -EBADMSG : err;
	get_stat(m, &f->st);
	f->image_err = -(int)parcel_get_u64(m);
	err = get_image(m, &f->image);
	get_facts(m, &f->facts);
	f->root.mnt_ns = parcel_get_u64(m);
	f->root.ino = parcel_get_u64(m);
	f->root.dev = parcel_get_u64(m);
	f->fd = parcel_take_fd(m, 0);
	f->root_fd = parcel_take_fd(m, 1);
	if (!err && (m->bad || f->fd < 0 || f->image_err > 0))
		err = -EBADMSG;
	if (err)
		file_read_fini(f);
	return err;
}

void file_read_fini(struct file_read *f)
{
	image_fini(&f->image);
	if (f->fd >= 0)
		close(f->fd);
	if (f->root_fd >= 0)
		close(f->root_fd);
	f->fd = f->root_fd = -1;
}

int read_stat_serve(int proc, struct parcel *request, struct parcel *answer)
{
	struct mapped what = get_mapped(request);
	struct stat st;
	int err = request->bad ? -EBADMSG : binary_stat_mapped(proc, &what, &st);

	if (!err)
		put_stat(answer, &st);
	return err;
}

void read_stat_ask(struct parcel *m, const struct mapped *what)
{
	parcel_init(m, READING_stat);
	put_mapped(m, what);
}

int read_stat_take(struct parcel *m, struct stat *st)
{
	if (m->rc)
		return m->rc;
	get_stat(m, st);
	return m->bad ? -EBADMSG : 0;
}

/* ---- its unwind table ---- */

enum table_lack {
	LACK_NOTHING,
	LACK_NONE,
	LACK_MALFORMED,
	LACK_LIAR,
	LACK_ROOM,
	LACK_MEMORY,
	LACKS
};

static const char *const lacks[LACKS] = {
	[LACK_NONE] = "no unwind information",
	[LACK_MALFORMED] = "malformed",
	[LACK_LIAR] = "implausibly large",
	[LACK_ROOM] = "exceeds the memory left by "
		      "--max-mem",
	[LACK_MEMORY] = "no memory",
};

static enum table_lack lack_of(int err)
{
	return !err		 ? LACK_NOTHING
	       : err == -ENODATA ? LACK_NONE
	       : err == -EBADMSG ? LACK_MALFORMED
	       : err == -EFBIG	 ? LACK_LIAR
	       : err == -E2BIG	 ? LACK_ROOM
				 : LACK_MEMORY;
}

/* A sparse file can claim any size, and a whole section is read eventually. The largest real
 * .eh_frame sections have some tens of MiB. */
static bool too_large(Elf *elf, int fd)
{
	Elf_Scn *scn = NULL;
	size_t names;
	struct stat st;
	GElf_Shdr sh;

	if (fstat(fd, &st))
		return true;
	if (elf_getshdrstrndx(elf, &names) || !elf_nextscn(elf, NULL))
		return st.st_size > CFI_MAX_SZ; /* size of the section unknown */
	while ((scn = elf_nextscn(elf, scn))) {
		const char *name =
			gelf_getshdr(scn, &sh) ? elf_strptr(elf, names, sh.sh_name) : NULL;

		if (!name || sh.sh_type == SHT_NOBITS ||
		    (!strstr(name, "_frame") && !strstr(name, "pclntab")))
			continue;
		if (sh.sh_size > CFI_MAX_SZ || file_is_hollow(fd, sh.sh_offset, sh.sh_size))
			return true;
	}
	return false;
}

static int build_table(int fd, uint64_t room, struct unwind_table *t)
{
	Elf *elf = elf_open(fd);
	int err = !elf		       ? -EBADMSG
		  : too_large(elf, fd) ? -EFBIG
				       : unwind_table__build(elf, fd, room, t);

	elf_end(elf);
	return err;
}

int read_table_serve(int proc, struct parcel *request, struct parcel *answer)
{
	/* One table per reader process, valid until the next request: the answer borrows its
	 * arrays. */
	static struct unwind_table t;
	uint64_t room = parcel_get_u64(request);
	int fd = reopen(request->fd[0]), err;

	if (fd < 0)
		return fd;
	unwind_table__fini(&t);
	err = build_table(fd, room, &t);
	close(fd);
	parcel_put_u64(answer, lack_of(err));
	parcel_put_u64(answer, t.first_page);
	parcel_put_u64(answer, t.row_cnt);
	parcel_put_u64(answer, t.page_cnt);
	parcel_put_u64(answer, t.rule_cnt);
	if (!t.row_cnt)
		return 0;
	parcel_put_tail(answer, t.rows, t.row_cnt * sizeof(*t.rows));
	parcel_put_tail(answer, t.pages, t.page_cnt * sizeof(*t.pages));
	parcel_put_tail(answer, t.rules, t.rule_cnt * sizeof(*t.rules));
	return 0;
}

void read_table_ask(struct parcel *m, int fd, uint64_t room)
{
	parcel_init(m, READING_table);
	parcel_put_u64(m, room);
	parcel_put_fd(m, 0, fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

/* Checks that all indices are in range. */
static bool is_sound(const struct unwind_table *t)
{
	for (size_t i = 0; i < t->page_cnt; i++)
		if (t->pages[i].first > t->row_cnt ||
		    t->pages[i].cnt > t->row_cnt - t->pages[i].first)
			return false;
	for (size_t i = 0; i < t->row_cnt; i++)
		if ((t->rows[i] & 0xffff) >= t->rule_cnt)
			return false;
	return true;
}

const char *read_table_take(struct parcel *m, struct unwind_table *t)
{
	uint64_t lack;

	*t = (struct unwind_table){0};
	if (m->rc)
		return m->rc == -ETIMEDOUT ? "reading timed out" : "the file could not be read";
	lack = parcel_get_u64(m);
	t->first_page = parcel_get_u64(m);
	t->row_cnt = parcel_get_u64(m);
	t->page_cnt = parcel_get_u64(m);
	t->rule_cnt = parcel_get_u64(m);
	if (t->row_cnt) {
		t->rows = (void *)parcel_get_tail(m, t->row_cnt, sizeof(*t->rows));
		t->pages = (void *)parcel_get_tail(m, t->page_cnt, sizeof(*t->pages));
		t->rules = (void *)parcel_get_tail(m, t->rule_cnt, sizeof(*t->rules));
	}
	if (m->bad || lack >= LACKS || !is_sound(t)) {
		*t = (struct unwind_table){0};
		return lacks[LACK_MALFORMED];
	}
	return lacks[lack];
}

/* ---- its content ---- */

static bool is_same(const struct image *a, const struct image *seen, const struct stat *st,
		    uint64_t size)
{
	return a->loads_hash == seen->loads_hash && !strcmp(a->build_id, seen->build_id) &&
	       (uint64_t)st->st_size == size;
}

struct seen {
	struct mapped what;
	struct image image;
	uint64_t size;
};

static int open_again(int proc, const struct seen *seen)
{
	struct image im = {0};
	struct stat st;
	int fd = open_mapped(proc, &seen->what, &st);

	if (fd >= 0 && (image_read(&im, fd) || !is_same(&im, &seen->image, &st, seen->size))) {
		close(fd);
		fd = -ESTALE;
	}
	image_fini(&im);
	return fd;
}

int read_content_serve(int proc, struct parcel *request, struct parcel *answer)
{
	struct seen seen = {.what = get_mapped(request)};
	char id[IMAGE_ID_CAP];
	int fd, err = 0;

	seen.size = parcel_get_u64(request);
	seen.image.loads_hash = parcel_get_u64(request);
	get_id(request, seen.image.build_id);
	strcpy(id, parcel_get_u64(request) ? "" : seen.image.build_id);
	if (request->bad)
		return -EBADMSG;
	fd = request->fd[0] >= 0 ? reopen(request->fd[0]) : open_again(proc, &seen);
	if (fd < 0)
		return fd;
	if (!id[0])
		err = image_content_id(fd, id);
	if (!err) {
		parcel_put_string(answer, id);
		parcel_put_fd(answer, 0, path_of(fd));
	}
	close(fd);
	return err;
}

void read_content_ask(struct parcel *m, int fd, const struct mapped *what, const struct image *seen,
		      uint64_t size, bool sum)
{
	parcel_init(m, READING_content);
	if (fd >= 0)
		parcel_put_fd(m, 0, fcntl(fd, F_DUPFD_CLOEXEC, 3));
	put_mapped(m, what);
	parcel_put_u64(m, size);
	parcel_put_u64(m, seen->loads_hash);
	parcel_put_string(m, seen->build_id);
	parcel_put_u64(m, sum);
}

int read_content_take(struct parcel *m, int *fd, char id[IMAGE_ID_CAP])
{
	if (m->rc)
		return m->rc;
	get_id(m, id);
	*fd = parcel_take_fd(m, 0);
	return m->bad || *fd < 0 ? -EBADMSG : 0;
}

int read_tag_serve(int proc, struct parcel *request, struct parcel *answer)
{
	struct content_key key;
	uint64_t tag = 0;
	int fd, err;

	parcel_get(request, &key, sizeof(key));
	if (request->bad)
		return -EBADMSG;
	fd = reopen(request->fd[0]);
	if (fd < 0)
		return fd;
	err = content_tag(&key, fd, COMPARED_MAX_SZ, NULL, &tag);
	parcel_put_u64(answer, tag);
	close(fd);
	return err;
}

void read_tag_ask(struct parcel *m, int fd, const struct content_key *key)
{
	parcel_init(m, READING_tag);
	parcel_put(m, key, sizeof(*key));
	parcel_put_fd(m, 0, fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

uint64_t read_tag_take(struct parcel *m)
{
	return m->rc ? 0 : parcel_get_u64(m);
}
