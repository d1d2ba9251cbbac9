/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_find.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zlib.h>

#include "record/elf/file_holes.h"

#define DEBUG_DIR "/usr/lib/debug"
#define CRC_BLOCK_SZ (128u << 10)

/* ---- opening */

/* Fallback if openat2 is unavailable (seccomp filters of some containers): opens one component at a
 * time and follows no symbolic links. */
static int walk_in_root(int root_fd, const char *path)
{
	int fd = openat(root_fd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (fd >= 0 && *path) {
		size_t len = strcspn(path, "/");
		char name[NAME_MAX + 1];
		int next;

		if (len > NAME_MAX || (len == 2 && !memcmp(path, "..", 2))) {
			close(fd);
			return -ENOENT;
		}
		memcpy(name, path, len);
		name[len] = 0;
		path += len + (path[len] == '/');
		if (!len || !strcmp(name, "."))
			continue;
		next = openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (next < 0)
			next = -errno;
		close(fd);
		fd = next;
	}
	return fd;
}

static int path_fd(int root_fd, const char *path)
{
	struct open_how how = {.flags = O_PATH | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	long fd;

	path += strspn(path, "/");
	if (!*path)
		return -ENOENT;
	fd = syscall(SYS_openat2, root_fd, path, &how, sizeof(how));
	if (fd >= 0)
		return fd;
	return errno == ENOSYS || errno == EPERM ? walk_in_root(root_fd, path) : -errno;
}

int open_regular_in_root(int root_fd, const char *path)
{
	char self[32];
	struct stat st;
	int fd, at = path_fd(root_fd, path);

	if (at < 0)
		return at;
	/* O_PATH does not open the file, so devices and FIFOs are detected before they are
	 * touched. */
	if (fstat(at, &st) || !S_ISREG(st.st_mode)) {
		close(at);
		return -EINVAL;
	}
	snprintf(self, sizeof(self), "/proc/self/fd/%d", at);
	fd = open(self, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(at);
	return fd;
}

void debug_file__close(struct debug_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	slim_elf__fini(&f->elf);
	f->fd = -1;
}

/* ---- matching */

/* The checksum in .gnu_debuglink is the CRC-32 of the whole file, as in gzip. */
static bool crc_matches(const struct slim_elf *e, uint32_t want)
{
	unsigned char *buf = malloc(CRC_BLOCK_SZ);
	uint32_t crc = 0;
	uint64_t off = 0;
	bool ok = buf && !file_is_hollow(e->fd, 0, e->file_sz);

	while (ok && off < e->file_sz) {
		size_t len = e->file_sz - off < CRC_BLOCK_SZ ? e->file_sz - off : CRC_BLOCK_SZ;

		ok = !slim_elf_read(e, off, buf, len);
		crc = crc32(crc, buf, len);
		off += len;
	}
	free(buf);
	return ok && crc == want;
}

/* Compares build-ids if there is one (a CRC over a large file would prove no more), else the
 * CRC. */
static bool belongs(const struct debug_file *f, const struct slim_elf *binary, const char *build_id,
		    const uint32_t *crc)
{
	char hex[BUILD_ID_HEX_SZ];

	if (binary &&
	    (f->elf.is32 != binary->is32 || f->elf.ehdr.e_machine != binary->ehdr.e_machine))
		return false;
	/* A stripped copy, or a link to the binary itself, is useless. */
	if (!slim_elf_has_dwarf(&f->elf) &&
	    !slim_elf_has_bytes(&f->elf, slim_elf_find_type(&f->elf, SHT_SYMTAB)))
		return false;
	slim_elf_build_id(&f->elf, hex);
	if (hex[0] && build_id[0])
		return !strcmp(hex, build_id);
	return crc && crc_matches(&f->elf, *crc);
}

static bool same_file(int a, int b)
{
	struct stat sa, sb;

	return !fstat(a, &sa) && !fstat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/* ---- searching: one attempt is one path below one root */

struct search {
	struct debug_file *f;
	const struct slim_elf *binary; /* NULL for an alternate file */
	const char *build_id;	       /* empty: none */
	const uint32_t *crc;	       /* of the debuglink; NULL: none */
	int root_fd;
};

static bool try_path(const struct search *s, const char *path)
{
	struct debug_file *f = s->f;

	if (strlen(path) >= sizeof(f->path))
		return false;
	f->fd = open_regular_in_root(s->root_fd, path);
	if (f->fd < 0)
		return false;
	if ((!s->binary || !same_file(f->fd, s->binary->fd)) && !slim_elf__load(&f->elf, f->fd) &&
	    belongs(f, s->binary, s->build_id, s->crc)) {
		strcpy(f->path, path);
		return true;
	}
	debug_file__close(f);
	return false;
}

static bool build_id_path(char path[PATH_MAX], const char *build_id)
{
	if (strlen(build_id) < 4 || strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return false;
	snprintf(path, PATH_MAX, DEBUG_DIR "/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	return true;
}

static bool try_build_id(const struct search *s)
{
	char path[PATH_MAX];

	return build_id_path(path, s->build_id) && try_path(s, path);
}

bool debug_file_known(int root_fd, const char *build_id)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!build_id_path(path, build_id))
		return false;
	if (!stat(path, &st))
		return true;
	fd = root_fd < 0 ? -1 : path_fd(root_fd, path);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Same order as gdb: beside the binary, in .debug beside it, in the same directory below
 * /usr/lib/debug. */
static bool try_debuglink(const struct search *s, const char *binary_path, const char *name)
{
	const char *slash = strrchr(binary_path, '/');
	int dir = slash ? (int)(slash - binary_path) : 0;
	char path[PATH_MAX + 512];

	if (binary_path[0] != '/')
		return false;
	snprintf(path, sizeof(path), "%.*s/%s", dir, binary_path, name);
	if (try_path(s, path))
		return true;
	snprintf(path, sizeof(path), "%.*s/.debug/%s", dir, binary_path, name);
	if (try_path(s, path))
		return true;
	snprintf(path, sizeof(path), DEBUG_DIR "%.*s/%s", dir, binary_path, name);
	return try_path(s, path);
}

static bool try_alt_link(const struct search *s, const char *from, const char *link)
{
	const char *slash = strrchr(from, '/');
	char path[2 * PATH_MAX];

	if (link[0] == '/')
		return try_path(s, link);
	snprintf(path, sizeof(path), "%.*s/%s", slash ? (int)(slash - from) : 0, from, link);
	return try_path(s, path);
}

static bool search_root(const struct search *s, const char *binary_path, const char *link)
{
	return try_build_id(s) || (link && try_debuglink(s, binary_path, link));
}

/* Calls `one` for the host's root, then for the target's: files of a container may be forged, and
 * share an id with files in use elsewhere. */
static int search_roots(struct search *s, int root_fd,
			bool (*one)(const struct search *, const char *, const char *),
			const char *from, const char *link)
{
	int host_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	bool found = false;

	s->f->fd = -1;
	s->f->of_host = false;
	s->f->elf = (struct slim_elf){.fd = -1};
	if (host_fd >= 0) {
		s->root_fd = host_fd;
		s->f->of_host = found = one(s, from, link);
	}
	if (!found && root_fd >= 0) {
		s->root_fd = root_fd;
		found = one(s, from, link);
	}
	if (host_fd >= 0)
		close(host_fd);
	return found ? 0 : -ENOENT;
}

int debug_file__find(struct debug_file *f, int root_fd, const char *path, const char *build_id,
		     const struct slim_elf *binary)
{
	struct search s = {.f = f, .binary = binary, .build_id = build_id};
	char link[256];
	uint32_t crc;
	bool linked = !slim_elf_debuglink(binary, link, &crc);

	s.crc = linked ? &crc : NULL;
	return search_roots(&s, root_fd, search_root, path, linked ? link : NULL);
}

/* Only trusted owners: anyone can build an alternate file with any id. */
static bool trusted(int fd)
{
	struct stat st;

	return !fstat(fd, &st) && (!st.st_uid || st.st_uid == geteuid()) && !(st.st_mode & 002);
}

static bool search_alt(const struct search *s, const char *from, const char *link)
{
	if (!try_build_id(s) && !try_alt_link(s, from, link))
		return false;
	if (trusted(s->f->fd))
		return true;
	debug_file__close(s->f);
	return false;
}

int debug_file__find_alt(struct debug_file *f, int root_fd, const char *from, const char *link,
			 const char *build_id)
{
	struct search s = {.f = f, .build_id = build_id};

	return search_roots(&s, root_fd, search_alt, from, link);
}
