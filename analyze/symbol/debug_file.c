/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/symbol/debug_file.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>
#include <zlib.h>

#include "analyze/base/helper_program.h"

/* Consumes e. NULL unless it has that build-id. */
static struct elf_image *checked(struct elf_image *e, const char *hex)
{
	if (e && elf_image__is(e, hex))
		return e;
	elf_image__close(e);
	return NULL;
}

static struct elf_image *open_fd(int fd)
{
	struct elf_image *e = NULL;
	const char *why;

	return fd >= 0 && !elf_image__open(&e, fd, &why) ? e : NULL;
}

static bool is_build_id(const char *hex)
{
	size_t n = 0;

	if (!hex)
		return false;
	while (isdigit((unsigned char)hex[n]) || (hex[n] >= 'a' && hex[n] <= 'f'))
		n++;
	return !hex[n] && n >= 4 && n <= 128;
}

/* `debuginfod-find debuginfo ID` prints the path of the fetched file. */
static struct elf_image *ask_debuginfod(const char *hex)
{
	char *argv[] = {"debuginfod-find", "debuginfo", (char *)hex, NULL}, line[PATH_MAX];
	ssize_t len = 0, n;
	int fd;
	pid_t pid = helper_start(argv, &fd);

	if (pid < 0)
		return NULL;
	while ((n = read(fd, line + len, sizeof(line) - 1 - (size_t)len)) > 0)
		len += n;
	close(fd);
	if (!helper_end(pid) || !len)
		return NULL;
	line[len] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return checked(elf_image__open_path(line), hex);
}

struct elf_image *debug_file_by_id(const char *hex, const struct source_opts *opts)
{
	struct elf_image *e = NULL;
	char path[PATH_MAX];

	if (!is_build_id(hex))
		return NULL;
	if (opts->archive)
		e = checked(open_fd(opts->archive->open_by_id(opts->archive->ctx, hex)), hex);
	for (size_t i = 0; !e && opts->symbols->debug_dirs && opts->symbols->debug_dirs[i]; i++) {
		snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug",
			 opts->symbols->debug_dirs[i], hex, hex + 2);
		e = checked(elf_image__open_path(path), hex);
	}
	if (!e && opts->symbols->debuginfod)
		e = ask_debuginfod(hex);
	return e;
}

/* The CRC in .gnu_debuglink is zlib's CRC-32 of the whole file. Where both files have a build-id,
 * it would prove no more than these. */
static bool belongs(struct elf_image *debug, struct elf_image *e, uint32_t crc, struct meter *m)
{
	const char *id = elf_image__build_id(e);
	struct bytes file = elf_image__file(debug);

	if (*id && *elf_image__build_id(debug))
		return elf_image__is(debug, id);
	return meter_work(m, file.len / 32) && (uint32_t)crc32_z(0, file.p, file.len) == crc;
}

static struct elf_image *try_link(const char *path, struct elf_image *e, uint32_t crc,
				  struct meter *m)
{
	struct elf_image *debug = elf_image__open_path(path);

	if (debug && belongs(debug, e, crc, m))
		return debug;
	elf_image__close(debug);
	return NULL;
}

static bool is_plain_dir(const char *path)
{
	return path && path[0] == '/' && !strstr(path, "/../");
}

struct elf_image *debug_file_by_link(struct elf_image *e, const char *path,
				     const struct source_opts *opts, struct meter *m)
{
	struct bytes data = elf_image__data(e, elf_image__find(e, ".gnu_debuglink"));
	struct cursor c = cursor_at(data, 0);
	const char *name = cursor_str(&c), *slash;
	struct elf_image *found = NULL;
	char full[PATH_MAX];
	int dir_len;
	uint32_t crc;

	if (!name || !*name || strchr(name, '/') || !is_plain_dir(path))
		return NULL;
	cursor_skip(&c, (4 - (uint64_t)(c.p - data.p) % 4) % 4);
	crc = cursor_u32(&c);
	if (c.bad)
		return NULL;
	slash = strrchr(path, '/');
	dir_len = (int)(slash - path);
	for (size_t i = 0; !found && opts->symbols->debug_dirs && opts->symbols->debug_dirs[i]; i++)
		if (snprintf(full, sizeof(full), "%s%.*s/%s", opts->symbols->debug_dirs[i], dir_len,
			     path, name) < (int)sizeof(full))
			found = try_link(full, e, crc, m);
	if (!found &&
	    snprintf(full, sizeof(full), "%.*s/.debug/%s", dir_len, path, name) < (int)sizeof(full))
		found = try_link(full, e, crc, m);
	if (!found &&
	    snprintf(full, sizeof(full), "%.*s/%s", dir_len, path, name) < (int)sizeof(full))
		found = try_link(full, e, crc, m);
	return found;
}

static const char *hex_of(struct cursor id, char *buf, size_t sz)
{
	size_t n = 0;

	while (id.p < id.end && n + 2 < sz)
		n += (size_t)sprintf(buf + n, "%02x", *id.p++);
	buf[n] = '\0';
	return buf;
}

/* Reads file name and build-id. .gnu_debugaltlink holds only these; .debug_sup (DWARF 5, 7.3.6)
 * also has a version, a flag and a length. */
static const char *read_alt_link(struct elf_image *e, char *hex, size_t sz)
{
	struct cursor c = cursor_at(elf_image__data(e, elf_image__find(e, ".gnu_debugaltlink")), 0);
	const char *name;
	uint64_t len;

	if (!c.bad) {
		name = cursor_str(&c);
		return name ? (hex_of(c, hex, sz), name) : NULL;
	}
	c = cursor_at(elf_image__data(e, elf_image__find(e, ".debug_sup")), 0);
	if (cursor_u16(&c) != 5 || cursor_u8(&c))
		return NULL;
	name = cursor_str(&c);
	len = cursor_uleb(&c);
	if (c.bad || len > cursor_left(&c))
		return NULL;
	c.end = c.p + len;
	hex_of(c, hex, sz);
	return name;
}

struct elf_image *debug_file_alt(struct elf_image *e, const char *path,
				 const struct source_opts *opts, bool *wanted)
{
	char hex[2 * 64 + 1] = "", full[PATH_MAX];
	const char *name = read_alt_link(e, hex, sizeof(hex)), *slash;
	struct elf_image *found;

	*wanted = name != NULL;
	if (!name || !is_build_id(hex))
		return NULL;
	found = debug_file_by_id(hex, opts);
	if (!found && name[0] == '/')
		found = checked(elf_image__open_path(name), hex);
	slash = path ? strrchr(path, '/') : NULL;
	if (!found && name[0] != '/' && slash &&
	    snprintf(full, sizeof(full), "%.*s/%s", (int)(slash - path), path, name) <
		    (int)sizeof(full))
		found = checked(elf_image__open_path(full), hex);
	return found;
}
