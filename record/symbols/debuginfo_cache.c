/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define HEX "0123456789abcdef"
#define TRAILER_MAGIC 0x184D2A5B /* one of the 16 magic numbers of zstd's skippable frames */
#define TRAILER_VERSION 2
#define TAGGED_MAX_SZ (1u << 30) /* larger files are hashed only partly */

/* Skippable frame after the member: contents of the member and the mode requested. Host byte order:
 * a cache is used on one host only. */
struct trailer {
	uint32_t magic, size; /* size of the rest of the frame */
	uint32_t version;
	uint32_t mode; /* enum debuginfo_mode */
	uint64_t sz, raw_sz;
	uint64_t alt_tag;
	char symbols[16];
	char why[WHY_SZ];
	char alt_id[BUILD_ID_HEX_SZ + 7];
	uint32_t crc; /* CRC of all preceding fields */
	uint32_t reserved;
};
_Static_assert(sizeof(struct trailer) % 8 == 0, "no padding");

static const char *const symbol_kinds[] = {"dwarf", "symtab", "dynsym", "none"};

bool debuginfo_member_name(char *name, size_t sz, const char *id)
{
	size_t len = strlen(id);
	bool sha1 = !strncmp(id, "sha1:", 5);
	const char *hex = sha1 ? id + 5 : id;

	/* names in the archive have at most 100 bytes */
	if (strlen(hex) < 4 || len > 70 || strspn(hex, HEX) != strlen(hex))
		return false;
	if (sha1)
		snprintf(name, sz, "sha1/%s.debug.zst", hex);
	else
		snprintf(name, sz, "%.2s/%s.debug.zst", hex, hex + 2);
	return true;
}

static bool only_ours(int fd, struct stat *st)
{
	return !fstat(fd, st) && st->st_uid == geteuid() && !(st->st_mode & 022);
}

static int open_dir(const char *dir, const char **why)
{
	struct stat st;
	int fd;

	if (mkdir(dir, 0700) && errno != EEXIST) {
		*why = strerror(errno);
		return -errno;
	}
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0) {
		*why = strerror(errno);
		return -errno;
	}
	if (!only_ours(fd, &st)) {
		close(fd);
		*why = "others may write to it";
		return -EPERM;
	}
	return fd;
}

/* Creates the key file atomically: if two processes create a cache at the same time, the first key
 * stays. */
static int make_secret(int dir_fd)
{
	unsigned char secret[CONTENT_KEY_SZ];
	char temp[32];
	int fd, err = 0;

	snprintf(temp, sizeof(temp), "key.%d.tmp", (int)getpid());
	unlinkat(dir_fd, temp, 0);
	fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret) ||
	    write(fd, secret, sizeof(secret)) != sizeof(secret))
		err = -EIO;
	if (close(fd) && !err)
		err = -errno;
	if (!err && linkat(dir_fd, temp, dir_fd, "key", 0) && errno != EEXIST)
		err = -errno;
	unlinkat(dir_fd, temp, 0);
	return err;
}

static int read_secret(int dir_fd, struct content_key *key)
{
	unsigned char secret[CONTENT_KEY_SZ];
	struct stat st;
	int fd = openat(dir_fd, "key", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (!only_ours(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 044) ||
	    pread(fd, secret, sizeof(secret), 0) != sizeof(secret))
		err = -EBADMSG;
	else
		content_key_init(key, secret);
	close(fd);
	return err;
}

int debuginfo_cache_open(struct debuginfo_cache *c, const char *dir, const char **why)
{
	int err;

	c->fd = open_dir(dir, why);
	if (c->fd < 0)
		return c->fd;
	err = read_secret(c->fd, &c->key);
	if (err == -ENOENT) {
		err = make_secret(c->fd);
		err = err ? err : read_secret(c->fd, &c->key);
	}
	if (err) {
		*why = err == -EBADMSG ? "its file 'key' is damaged, or others may read it"
				       : strerror(-err);
		debuginfo_cache_close(c);
	}
	return err;
}

void debuginfo_cache_close(struct debuginfo_cache *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

int debuginfo_cache_tag(const struct debuginfo_cache *c, int fd, const atomic_bool *cancel,
			uint64_t *tag)
{
	struct stat st;

	*tag = 0;
	if (c->fd < 0 || fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || (st.st_mode & 002))
		return 0;
	return content_tag(&c->key, fd, TAGGED_MAX_SZ, cancel, tag) == -ECANCELED ? -ECANCELED : 0;
}

/* "ab/cdef-CONTENT.debug.zst" */
static bool entry_name(char *name, size_t sz, const char *id, uint64_t tag)
{
	const char *end = ".debug.zst";
	size_t len;

	if (!tag || !debuginfo_member_name(name, sz, id))
		return false;
	len = strlen(name) - strlen(end);
	snprintf(name + len, sz - len, "-%016llx%s", (unsigned long long)tag, end);
	return true;
}

/* ---- reading */

/* Returns true if the stored member satisfies the request. */
static bool answers(const struct trailer *t, enum debuginfo_mode mode)
{
	if (mode == DEBUGINFO_SYMTAB || t->mode == DEBUGINFO_SYMTAB)
		return mode == t->mode;
	/* auto may have omitted DWARF because of its size: `full` extracts again */
	return !strcmp(t->symbols, "dwarf") || mode == t->mode;
}

static bool read_trailer(int fd, struct trailer *t)
{
	unsigned char head[18]; /* ZSTD_FRAMEHEADERSIZE_MAX */
	struct stat st;

	if (!only_ours(fd, &st) || !S_ISREG(st.st_mode) || (uint64_t)st.st_size <= sizeof(*t))
		return false;
	if (pread(fd, t, sizeof(*t), st.st_size - sizeof(*t)) != sizeof(*t) ||
	    t->magic != TRAILER_MAGIC || t->size != sizeof(*t) - 8 ||
	    t->version != TRAILER_VERSION || t->sz != st.st_size - sizeof(*t) ||
	    t->crc != crc32(0, (const void *)t, offsetof(struct trailer, crc)))
		return false;
	t->symbols[sizeof(t->symbols) - 1] = t->why[sizeof(t->why) - 1] =
		t->alt_id[BUILD_ID_HEX_SZ - 1] = 0;
	return pread(fd, head, sizeof(head), 0) == sizeof(head) &&
	       ZSTD_getFrameContentSize(head, sizeof(head)) == t->raw_sz;
}

int debuginfo_cache_get(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, struct slim_member *m)
{
	struct trailer t;
	char name[128];
	int fd;

	if (c->fd < 0 || !entry_name(name, sizeof(name), id, tag))
		return -ENOENT;
	fd = openat(c->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -ENOENT;
	if (!read_trailer(fd, &t) || !answers(&t, mode)) {
		close(fd);
		return -ENOENT;
	}
	*m = (struct slim_member){.fd = fd, .sz = t.sz, .raw_sz = t.raw_sz, .symbols = "none"};
	for (size_t i = 0; i < sizeof(symbol_kinds) / sizeof(*symbol_kinds); i++)
		if (!strcmp(t.symbols, symbol_kinds[i]))
			m->symbols = symbol_kinds[i];
	strcpy(m->why, t.why);
	strcpy(m->alt_id, t.alt_id);
	m->alt_tag = t.alt_tag;
	return 0;
}

/* ---- writing */

static int write_trailer(enum debuginfo_mode mode, const struct slim_member *m)
{
	struct trailer t = {.magic = TRAILER_MAGIC,
			    .size = sizeof(t) - 8,
			    .version = TRAILER_VERSION,
			    .mode = mode,
			    .sz = m->sz,
			    .raw_sz = m->raw_sz,
			    .alt_tag = m->alt_tag};

	strncpy(t.symbols, m->symbols, sizeof(t.symbols) - 1);
	memcpy(t.why, m->why, sizeof(t.why));
	memcpy(t.alt_id, m->alt_id, sizeof(m->alt_id));
	t.crc = crc32(0, (const void *)&t, offsetof(struct trailer, crc));
	return pwrite(m->fd, &t, sizeof(t), m->sz) == sizeof(t) ? 0 : -EIO;
}

/* Copies the bytes if unnamed files cannot be created or linked (overlayfs before Linux 6.3,
 * NFS). */
static int copy_to(int dir_fd, const char *temp, const struct slim_member *m)
{
	int fd = openat(dir_fd, temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err = 0;
	off_t at = 0, end = m->sz + sizeof(struct trailer);

	if (fd < 0)
		return -errno;
	while (!err && at < end) {
		ssize_t n = sendfile(fd, m->fd, &at, end - at);

		if (n <= 0 && errno != EINTR)
			err = n ? -errno : -EIO;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int debuginfo_cache_put(const struct debuginfo_cache *c, const char *id, uint64_t tag,
			enum debuginfo_mode mode, const struct slim_member *m)
{
	char name[128], temp[160], self[32];
	int err, dir_fd = c->fd;

	if (dir_fd < 0 || !entry_name(name, sizeof(name), id, tag))
		return -EINVAL;
	err = write_trailer(mode, m);
	if (err)
		return err;
	*strchr(name, '/') = 0; /* only the directory part */
	if (mkdirat(dir_fd, name, 0700) && errno != EEXIST)
		return -errno;
	name[strlen(name)] = '/';
	snprintf(temp, sizeof(temp), "%s.%d.tmp", name, (int)getpid());
	snprintf(self, sizeof(self), "/proc/self/fd/%d", m->fd);
	unlinkat(dir_fd, temp, 0); /* left by a killed obrec with the same pid */
	if (linkat(AT_FDCWD, self, dir_fd, temp, AT_SYMLINK_FOLLOW))
		err = copy_to(dir_fd, temp, m);
	if (!err && renameat(dir_fd, temp, dir_fd, name))
		err = -errno;
	if (err)
		unlinkat(dir_fd, temp, 0);
	return err;
}
