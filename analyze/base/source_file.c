/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/source_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 64 << 20 }; /* bytes of a file */

/* "./math/../sysdeps/a.c" as "sysdeps/a.c": what is left has no "..". Malloc'ed. */
static char *normal_path(const char *path)
{
	char *out = malloc(strlen(path) + 2);
	size_t at = 0, len;

	for (; out && *path; path += len + (path[len] == '/')) {
		len = strcspn(path, "/");
		if (len == 2 && !memcmp(path, "..", 2)) {
			while (at && out[--at] != '/')
				;
		} else if (len && !(len == 1 && *path == '.')) {
			out[at] = '/';
			memcpy(out + at + 1, path, len);
			at += len + 1;
		}
	}
	if (out)
		out[at] = 0;
	return out;
}

static int open_file(int dir, const char *path, size_t *sz)
{
	int fd = openat(dir, path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > MOST) {
		close(fd);
		return -1;
	}
	*sz = st.st_size;
	return fd;
}

static int find_file(const char *dir, const char *path, size_t *sz)
{
	int from = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = -1;
	char *normal = normal_path(path);

	for (const char *p = normal; from >= 0 && fd < 0 && p && *p; p = strchr(p + 1, '/'))
		fd = open_file(from, p + 1, sz);
	if (from >= 0)
		close(from);
	free(normal);
	return fd;
}

static bool read_whole(int fd, char *text, size_t sz)
{
	size_t at = 0;
	ssize_t n;

	while (at < sz && (n = read(fd, text + at, sz - at)) > 0)
		at += n;
	text[at] = 0;
	return at == sz;
}

static bool find_lines(struct source_file *s, size_t sz)
{
	size_t cnt = 1;

	for (size_t i = 0; i < sz; i++)
		cnt += s->text[i] == '\n';
	s->lines = calloc(cnt, sizeof(*s->lines));
	s->sizes = calloc(cnt, sizeof(*s->sizes));
	if (!s->lines || !s->sizes)
		return false;
	for (const char *p = s->text, *end = p + sz; p < end; s->cnt++) {
		const char *next = memchr(p, '\n', end - p);

		next = next ? next : end;
		s->lines[s->cnt] = p;
		s->sizes[s->cnt] = next - p - (next > p && next[-1] == '\r');
		p = next + 1;
	}
	return true;
}

bool source_file__open(struct source_file *s, const char *dir, const char *path)
{
	size_t sz = 0;
	int fd = find_file(dir, path, &sz);

	*s = (struct source_file){0};
	if (fd < 0)
		return false;
	s->text = malloc(sz + 1);
	if (!s->text || !read_whole(fd, s->text, sz) || !find_lines(s, sz))
		source_file__close(s);
	close(fd);
	return s->text;
}

void source_file__close(struct source_file *s)
{
	free(s->text);
	free(s->lines);
	free(s->sizes);
	*s = (struct source_file){0};
}

struct span source_file__line(const struct source_file *s, uint64_t line)
{
	if (!line || line > s->cnt)
		return (struct span){"", 0};
	return (struct span){s->lines[line - 1], s->sizes[line - 1]};
}
