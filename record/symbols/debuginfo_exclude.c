/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/symbols/debuginfo_exclude.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"

#define MAX_IDS 1000000

struct exclude_list {
	char **ids; /* sorted */
	size_t cnt, cap;
};

static int add(struct exclude_list *l, const char *id)
{
	if (l->cnt == l->cap) {
		size_t cap = l->cap ? 2 * l->cap : 64;
		char **ids = reallocarray(l->ids, cap, sizeof(*ids));

		if (!ids)
			return -ENOMEM;
		l->ids = ids, l->cap = cap;
	}
	l->ids[l->cnt] = strdup(id);
	return l->ids[l->cnt++] ? 0 : -ENOMEM;
}

/* Strips the comment and surrounding blanks; converts to lower case. */
static char *trim(char *line)
{
	char *end;

	line[strcspn(line, "#\r\n")] = 0;
	while (isspace((unsigned char)*line))
		line++;
	end = line + strlen(line);
	while (end > line && isspace((unsigned char)end[-1]))
		*--end = 0;
	for (char *c = line; *c; c++)
		*c = tolower((unsigned char)*c);
	return line;
}

static bool is_id(const char *id)
{
	if (!strncmp(id, "sha1:", 5))
		id += 5;
	return strlen(id) >= 4 && strlen(id) % 2 == 0 &&
	       strspn(id, "0123456789abcdef") == strlen(id);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_lines(struct exclude_list *l, FILE *f, const char *path)
{
	char line[1024];
	int err = 0;

	for (unsigned n = 1; !err && fgets(line, sizeof(line), f); n++) {
		char *id = trim(line);

		if (!*id)
			continue;
		if (!is_id(id) || l->cnt >= MAX_IDS) {
			message_error("%s:%u: not a build-id: %.60s", path, n, id);
			return -EINVAL;
		}
		err = add(l, id);
	}
	if (!err && ferror(f))
		err = -EIO;
	if (err)
		message_error("%s: %s", path, strerror(-err));
	return err;
}

int exclude_list__load(struct exclude_list **out, const char *path)
{
	struct exclude_list *l = calloc(1, sizeof(*l));
	FILE *f = l ? fopen(path, "re") : NULL;
	int err;

	if (!f) {
		err = l ? -errno : -ENOMEM;
		message_error("%s: %s", path, strerror(-err));
		free(l);
		return err;
	}
	err = read_lines(l, f, path);
	fclose(f);
	if (err) {
		exclude_list__free(l);
		return err;
	}
	if (l->cnt)
		qsort(l->ids, l->cnt, sizeof(*l->ids), by_text);
	*out = l;
	return 0;
}

bool exclude_list__has(const struct exclude_list *l, const char *id)
{
	return l && l->cnt && bsearch(&id, l->ids, l->cnt, sizeof(*l->ids), by_text);
}

void exclude_list__free(struct exclude_list *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->cnt; i++)
		free(l->ids[i]);
	free(l->ids);
	free(l);
}
