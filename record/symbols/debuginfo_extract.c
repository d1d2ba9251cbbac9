/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_extract.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <zstd.h>

#include "format/temp_file.h"
#include "format/text.h"
#include "format/dwarf/dwarf_split.h"
#include "record/symbols/slim.h"

/* Level 3 compared with 1: 10 % smaller (libc6-dbg 3.46 against 3.86 MB), 240 against 340 MB/s; it
 * runs at idle priority. */
#define ZSTD_LEVEL 3

/* Tables, a window of 2 MiB, and the output buffer. */
#define PACKER_MEMORY (5u << 20)

static void because(struct slim_member *m, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void because(struct slim_member *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n, len -= n;
	}
	return 0;
}

/* ---- the sink: writes one zstd frame to a file */

struct packer {
	ZSTD_CCtx *z;
	char *out;
	size_t out_cap;
	int fd;
	uint64_t sz, max; /* output size and its limit */
	const atomic_bool *cancel;
};

static int pack(struct packer *p, const void *data, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {data, len, 0};
	size_t left;

	do {
		ZSTD_outBuffer out = {p->out, p->out_cap, 0};
		int err;

		left = ZSTD_compressStream2(p->z, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		err = write_all(p->fd, p->out, out.pos);
		if (err)
			return err;
		p->sz += out.pos;
		if (p->sz > p->max)
			return -E2BIG;
	} while (end == ZSTD_e_end ? left != 0 : in.pos < in.size);
	return 0;
}

static int pack_sink(void *ctx, const void *data, size_t len)
{
	struct packer *p = ctx;

	return atomic_load(p->cancel) ? -ECANCELED : pack(p, data, len, ZSTD_e_continue);
}

static bool is_in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == TMPFS_MAGIC;
}

/* Content of the member: a slim ELF, or raw bytes. */
struct content {
	const struct slim *slim;
	const void *p;
	uint64_t sz;
};

static int write_content(const struct content *c, struct packer *p)
{
	int err = c->slim ? slim__write(c->slim, pack_sink, p) : pack_sink(p, c->p, c->sz);

	return err ? err : pack(p, NULL, 0, ZSTD_e_end);
}

static int compress(const struct content *c, const struct extract_job *job, uint64_t mem_left,
		    struct slim_member *m)
{
	struct packer p = {
		.z = ZSTD_createCCtx(), .out_cap = ZSTD_CStreamOutSize(), .cancel = job->cancel};
	int err = -ENOMEM;

	p.fd = temp_file_in(job->cache->fd);
	p.max = is_in_memory(p.fd) ? mem_left : UINT64_MAX;
	p.out = malloc(p.out_cap);
	if (p.fd < 0) {
		err = p.fd;
	} else if (p.z && p.out) {
		ZSTD_CCtx_setParameter(p.z, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(p.z, ZSTD_c_checksumFlag, 1);
		ZSTD_CCtx_setPledgedSrcSize(p.z, c->sz);
		err = write_content(c, &p);
	}
	ZSTD_freeCCtx(p.z);
	free(p.out);
	if (err) {
		if (p.fd >= 0)
			close(p.fd);
		return err;
	}
	m->fd = p.fd, m->sz = p.sz, m->raw_sz = c->sz;
	return 0;
}

/* ---- one job */

struct work {
	const struct extract_job *job;
	struct slim_elf binary;
	struct debug_file debug;
	bool has_debug, alt_of_target;
	struct stat st, debug_st;
};

/* Returns the file with the DWARF, else the one with the symbols. */
static const struct slim_elf *source(const struct work *w)
{
	return w->has_debug ? &w->debug.elf : &w->binary;
}

static bool wants_dwarf(const struct extract_job *job)
{
	return job->mode == DEBUGINFO_AUTO || job->mode == DEBUGINFO_FULL;
}

static bool changed(int fd, const struct stat *before)
{
	struct stat st;

	/* ctime is not compared: it changes when another file replaces this one's name */
	return fstat(fd, &st) || st.st_size != before->st_size ||
	       st.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       st.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

static void find_debug(struct work *w)
{
	const struct slim_elf *b = &w->binary;
	char hex[BUILD_ID_HEX_SZ];
	bool enough = wants_dwarf(w->job)
			      ? slim_elf_has_dwarf(b)
			      : slim_elf_has_bytes(b, slim_elf_find_type(b, SHT_SYMTAB));

	if (enough)
		return;
	slim_elf_build_id(b, hex);
	w->has_debug = !debug_file__find(&w->debug, w->job->root_fd, w->job->path, hex, b);
	if (w->has_debug)
		fstat(w->debug.fd, &w->debug_st);
}

static uint64_t dwarf_bound(const struct extract_job *job)
{
	return job->mode == DEBUGINFO_FULL   ? SLIM_MAX_SZ
	       : job->mode == DEBUGINFO_AUTO ? job->dwarf_max
					     : 0;
}

/* Explains why less than requested was found; empty if all was found. */
static void explain(const struct work *w, const struct slim_info *info, struct slim_member *m)
{
	char hex[BUILD_ID_HEX_SZ], sz[24], max[24];

	slim_elf_build_id(&w->binary, hex);
	if (!strcmp(info->symbols, "none"))
		because(m, "no symbols in the file%s%s",
			hex[0] ? ", no separate debug file for build-id " : "", hex);
	else if (info->dwarf_too_big && w->job->mode == DEBUGINFO_AUTO &&
		 w->job->dwarf_max < DEBUGINFO_AUTO_BINARY_MAX)
		because(m, "DWARF is %s, the capture's bound leaves %s; %s only",
			format_bytes(sz, info->dwarf_sz), format_bytes(max, w->job->dwarf_max),
			info->symbols);
	else if (info->dwarf_too_big)
		because(m, "DWARF is %s, over the bound of %s; %s only",
			format_bytes(sz, info->dwarf_sz), format_bytes(max, dwarf_bound(w->job)),
			info->symbols);
	else if (info->from_go)
		because(m, "stripped: functions of Go's .gopclntab, without lines and inlined "
			   "functions");
	else if (info->split)
		because(m, "split DWARF: functions and lines of the skeleton only; .dwo files are "
			   "carried with --debuginfo auto");
	else if (!strcmp(info->symbols, "dwarf"))
		return;
	else if (wants_dwarf(w->job) && w->has_debug)
		because(m, "no DWARF in the debug file; %s only", info->symbols);
	else if (wants_dwarf(w->job) && hex[0])
		because(m, "no separate debug file for build-id %s; %s only", hex, info->symbols);
	else if (wants_dwarf(w->job))
		because(m, "no DWARF in the file; %s only", info->symbols);
	else if (!strcmp(info->symbols, "dynsym"))
		because(m, "no .symtab; dynsym only");
}

/* Returns what is left of --max-mem after the planned work; -1: not enough for it. */
static int64_t memory_left(const struct work *w, bool dwarf)
{
	uint64_t need =
		slim__memory(&w->binary, w->has_debug ? &w->debug.elf : NULL, dwarf, PACKER_MEMORY);

	if (!w->job->mem_max)
		return INT64_MAX;
	return need > w->job->mem_max ? -1 : (int64_t)(w->job->mem_max - need);
}

static int slim_down(const struct work *w, uint64_t dwarf_max, struct slim_member *m)
{
	int64_t left = memory_left(w, dwarf_max != 0);
	struct slim *s = NULL;
	struct slim_info info;
	int err = left < 0 ? -E2BIG
			   : slim__plan(&s, &w->binary, w->has_debug ? &w->debug.elf : NULL,
					dwarf_max);

	if (err)
		return err;
	info = slim__info(s);
	m->symbols = info.symbols;
	explain(w, &info, m);
	if (strcmp(info.symbols, "none"))
		err = compress(&(struct content){.slim = s, .sz = info.size}, w->job, left, m);
	slim__free(s);
	return err;
}

/* A file with unreadable DWARF may still have usable symbol tables. */
static int slim_down_what_can_be(const struct work *w, struct slim_member *m)
{
	uint64_t bound = dwarf_bound(w->job);
	int err;

	/* 0 would request no DWARF */
	err = slim_down(w, wants_dwarf(w->job) && !bound ? 1 : bound, m);
	if ((err == -EBADMSG || err == -E2BIG) && bound) {
		const char *why = err == -E2BIG ? "DWARF exceeds the memory left by --max-mem"
						: "DWARF damaged";

		err = slim_down(w, 0, m);
		if (!err)
			because(m, "%s; %s only", why, m->symbols);
	}
	return err;
}

static void find_alt(struct work *w, struct slim_member *m, struct extract_alt *alt)
{
	char link[4096], id[BUILD_ID_HEX_SZ];
	struct debug_file f;

	if (strcmp(m->symbols, "dwarf") || slim_elf_altlink(source(w), link, id))
		return;
	if (debug_file__find_alt(&f, w->job->root_fd, w->has_debug ? w->debug.path : w->job->path,
				 link, id)) {
		because(m, "dwz alternate file %s not found: some names are missing", link);
		return;
	}
	alt->fd = f.fd;
	f.fd = -1;
	strcpy(alt->id, id);
	strcpy(m->alt_id, id);
	w->alt_of_target = !f.of_host;
	debug_file__close(&f);
}

static void fail(struct slim_member *m, int err, const char *why)
{
	if (m->fd >= 0)
		close(m->fd);
	*m = (struct slim_member){.fd = -1, .symbols = "none", .failed = true};
	because(m, "%s",
		why		  ? why
		: err == -E2BIG	  ? "symbols exceed the memory left by --max-mem"
		: err == -EBADMSG ? "file damaged or cut short while it was read"
				  : strerror(-err));
}

/* ---- the DWARF of some addresses */

/* Explains missing DWARF as for a whole file. */
static void explain_no_dwarf(const struct work *w, struct slim_member *m)
{
	struct slim *s = NULL;
	struct slim_info info;

	m->failed = true; /* the same applies to all other addresses */
	if (slim__plan(&s, &w->binary, w->has_debug ? &w->debug.elf : NULL, 0))
		return;
	info = slim__info(s);
	explain(w, &info, m);
	slim__free(s);
}

static void no_excerpt(const struct work *w, int err, struct slim_member *m)
{
	if (err == -ENOENT)
		explain_no_dwarf(w, m);
	else
		because(m, "%s",
			err == -E2BIG	  ? "DWARF takes more than obrec affords"
			: err == -EBADMSG ? "DWARF damaged"
					  : strerror(-err));
}

/* Opens a .dwo file below the target's root, else on the host, where the program may have been
 * built. */
static struct elf_image *open_split(void *ctx, const char *path)
{
	const struct extract_job *job = ctx;
	int fd = job->root_fd < 0 ? -1 : open_regular_in_root(job->root_fd, path);
	struct elf_image *e;
	const char *why;

	if (fd < 0)
		return elf_image__open_path(path);
	return elf_image__open(&e, fd, &why) ? NULL : e;
}

static int open_alt(const struct work *w, struct slim_member *m)
{
	char link[4096], id[BUILD_ID_HEX_SZ];
	struct debug_file f;
	int fd;

	if (slim_elf_altlink(source(w), link, id))
		return -1;
	if (debug_file__find_alt(&f, w->job->root_fd, w->has_debug ? w->debug.path : w->job->path,
				 link, id)) {
		because(m, "dwz alternate file %s not found: some names are missing", link);
		return -1;
	}
	fd = f.fd;
	f.fd = -1;
	debug_file__close(&f);
	return fd;
}

static int extract_excerpt(const struct work *w, struct slim_member *m, struct extract_alt *alt)
{
	const struct split_place split = {w->job->path, open_split, (void *)w->job};
	struct excerpt_opts opts = {.fd = source(w)->fd,
				    .alt_fd = -1,
				    .split = &split,
				    .addrs = w->job->addrs,
				    .cnt = w->job->addr_cnt,
				    .mem_max = w->job->mem_max};
	struct excerpt e = {0};
	int err = slim_elf_has_dwarf(source(w)) ? 0 : -ENOENT;

	if (!err) {
		opts.alt_fd = open_alt(w, m);
		err = excerpt_make(&e, &opts);
		if (opts.alt_fd >= 0)
			close(opts.alt_fd);
	}
	if (!err && e.elf)
		err = compress(&(struct content){.p = e.elf, .sz = e.sz}, w->job,
			       opts.mem_max ? opts.mem_max : UINT64_MAX, m);
	if (err) {
		excerpt_fini(&e);
		if (err != -ECANCELED)
			no_excerpt(w, err, m);
		return err == -ECANCELED ? err : 0;
	}
	if (e.elf)
		m->symbols = "dwarf";
	alt->covered = e.covered;
	alt->covered_cnt = e.covered_cnt;
	alt->missing = e.missing;
	alt->missing_cnt = e.missing_cnt;
	e.covered = NULL;
	e.missing = NULL;
	excerpt_fini(&e);
	return 0;
}

static int extract_file(struct work *w, struct slim_member *m, struct extract_alt *alt)
{
	int err = slim_elf__load(&w->binary, w->job->fd);

	if (err) {
		fail(m, err, w->binary.why);
		return 0;
	}
	find_debug(w);
	err = w->job->addr_cnt ? extract_excerpt(w, m, alt) : slim_down_what_can_be(w, m);
	if (err == -ECANCELED)
		return err;
	if (err)
		fail(m, err, NULL);
	else if (changed(w->job->fd, &w->st) ||
		 (w->has_debug && changed(w->debug.fd, &w->debug_st)))
		fail(m, 0, "file changed while it was read");
	else if (!w->job->addr_cnt)
		find_alt(w, m, alt);
	return 0;
}

/* ---- the cache */

/* Rejects a cached member if its alternate file is not cached, or if better symbols have been
 * installed since. */
static bool from_cache(const struct extract_job *job, uint64_t tag, struct slim_member *m,
		       struct extract_alt *alt)
{
	struct slim_member other;
	bool good;

	if (debuginfo_cache_get(job->cache, job->id, tag, job->mode, m))
		return false;
	good = !wants_dwarf(job) || !strcmp(m->symbols, "dwarf") ||
	       !debug_file_known(job->root_fd, job->id);
	if (good && m->alt_id[0]) {
		good = !debuginfo_cache_get(job->cache, m->alt_id, m->alt_tag, job->mode, &other);
		if (good)
			close(other.fd);
		strcpy(alt->id, m->alt_id);
		alt->tag = m->alt_tag;
	}
	if (!good) {
		close(m->fd);
		*m = (struct slim_member){.fd = -1, .symbols = "none"};
		alt->id[0] = 0;
	}
	return good;
}

/*
 * A cached member is used for every file with this content, so it must not depend on information
 * from a container. The file must not have changed meanwhile (its times can be reset, but not
 * ctime).
 */
static bool worth_keeping(const struct work *w)
{
	struct stat st;

	return !(w->has_debug && !w->debug.of_host) && !w->alt_of_target &&
	       !fstat(w->job->fd, &st) && st.st_ctim.tv_sec == w->st.st_ctim.tv_sec &&
	       st.st_ctim.tv_nsec == w->st.st_ctim.tv_nsec;
}

static void keep(const struct work *w, uint64_t tag, struct slim_member *m,
		 const struct extract_alt *alt)
{
	const struct extract_job *job = w->job;
	int err;

	if (!tag || m->fd < 0 || !worth_keeping(w))
		return;
	if (alt->id[0] && debuginfo_cache_tag(job->cache, alt->fd, NULL, &m->alt_tag))
		return;
	err = debuginfo_cache_put(job->cache, job->id, tag, job->mode, m);
	if (err)
		message_verbose("%s: not stored in the debuginfo cache: %s", job->path,
				strerror(-err));
}

int debuginfo_extract(const struct extract_job *job, struct slim_member *m, struct extract_alt *alt)
{
	struct work w = {.job = job, .binary = {.fd = -1}, .debug = {.fd = -1}};
	uint64_t tag = job->tag;
	int err = 0;

	*m = (struct slim_member){.fd = -1, .symbols = "none"};
	*alt = (struct extract_alt){.fd = -1};
	if (job->fd >= 0) {
		err = fstat(job->fd, &w.st) ? -errno : 0;
		if (!err && !job->addr_cnt &&
		    debuginfo_cache_tag(job->cache, job->fd, job->cancel, &tag))
			return -ECANCELED;
	}
	if (!job->addr_cnt && from_cache(job, tag, m, alt))
		return 0;
	if (job->fd < 0 || err)
		fail(m, err ? err : -ENOENT, err ? NULL : "file not available");
	else
		err = extract_file(&w, m, alt);
	if (err != -ECANCELED && !job->addr_cnt) {
		keep(&w, tag, m, alt);
	}
	if (err != -ECANCELED)
		err = 0;
	if (w.has_debug)
		debug_file__close(&w.debug);
	slim_elf__fini(&w.binary);
	return err;
}

/* ---- stand-alone, for tools and tests */

static int file_sink(void *ctx, const void *data, size_t len)
{
	return write_all(*(int *)ctx, data, len);
}

int debuginfo_slim(int in_fd, enum debuginfo_mode mode, int *out_fd, uint64_t *out_sz,
		   const char **symbols)
{
	uint64_t dwarf_max = mode == DEBUGINFO_FULL   ? SLIM_MAX_SZ
			     : mode == DEBUGINFO_AUTO ? DEBUGINFO_AUTO_BINARY_MAX
						      : 0;
	struct slim_elf binary;
	struct slim *s = NULL;
	int fd = -1, err = slim_elf__load(&binary, in_fd);

	err = err ? err : slim__plan(&s, &binary, NULL, dwarf_max);
	if (!err) {
		fd = temp_file();
		err = fd < 0 ? fd : slim__write(s, file_sink, &fd);
	}
	if (!err) {
		*out_fd = fd;
		*out_sz = slim__info(s).size;
		*symbols = slim__info(s).symbols;
		lseek(fd, 0, SEEK_SET);
	} else if (fd >= 0) {
		close(fd);
	}
	slim__free(s);
	slim_elf__fini(&binary);
	return err;
}
