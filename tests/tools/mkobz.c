// SPDX-License-Identifier: BSD-2-Clause
/*
 * mkobz OUT.obz < TEXT: an archive from a description, for tests. Knows every record kind, from
 * records.def.
 *
 *   header {"host": "web", ...}             obz.json; first
 *   sample kind=1 ts_ns=1000 thread=7 ...   one record; fields not named are 0 or empty
 *   rename open fault                       the schema calls a kind or field so; before header
 *   stack id=1 frames=1:401000,65535:ffffffff81000000
 *   process comm="a\x1b[31m \"b\""          strings with blanks stand in quotes; \xNN is a byte
 *   repeat 1000 thread id=1+1 tid=7 ...     that many of a record; +N is added from each to the
 * next flush                                   ends the chunk member .build-id/ab/cd.debug.zst FILE
 * adds a file's bytes end {"complete": true, ...}             obz.end.json; without it the archive
 * is cut # remark
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/archive.h"
#include "format/record.h"

enum field_type {
	TYPE_u32,
	TYPE_u64,
	TYPE_str,
	TYPE_list,
	TYPE_command = TYPE_str,
	TYPE_settings = TYPE_str,
	TYPE_address = TYPE_str,
};

struct field {
	const char *record, *name;
	enum field_type type;
	size_t offset;
};

static const struct field fields[] = {
#define RECORD(...)
#define FIELD(kind, type, name, ...) {#kind, #name, TYPE_##type, offsetof(struct rec_##kind, name)},
#define END(...)
#include "format/records.def"
};

static const struct {
	const char *name;
	enum rec_kind kind;
} records[] = {
#define RECORD(kind, ...) {#kind, REC_##kind},
#define FIELD(...)
#define END(...)
#include "format/records.def"
};

#define MAX_RECORD 512
#define MAX_ITEMS 4096
#define MAX_STRINGS 32

static int line_number;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "mkobz: line %d: %s '%s'\n", line_number, what, which);
	exit(1);
}

/* Unquotes in place: *s is moved behind the value. */
static struct span read_text(char **s)
{
	char *to = *s, *from = *s, *start = *s;
	bool quoted = *from == '"';

	from += quoted;
	while (*from && (quoted ? *from != '"' : *from != ' ' && *from != '\n')) {
		unsigned byte;

		if (*from == '\\' && from[1] == 'x' && sscanf(from + 2, "%2x", &byte) == 1) {
			*to++ = byte;
			from += 4;
		} else {
			from += *from == '\\' && from[1];
			*to++ = *from++;
		}
	}
	*s = from + (quoted && *from);
	return (struct span){start, to - start};
}

static struct u64_span read_list(char **s)
{
	static uint64_t items[MAX_ITEMS];
	size_t cnt = 0;

	while (**s && **s != ' ' && **s != '\n') {
		uint64_t binary = strtoull(*s, s, 10);

		if (**s != ':' || cnt == MAX_ITEMS)
			die("not a list of BINARY:HEX", *s);
		items[cnt++] = frame_pack(binary, strtoull(*s + 1, s, 16));
		*s += **s == ',';
	}
	return (struct u64_span){items, cnt};
}

/* What each further record of a `repeat` has more of than the one before. */
static uint64_t steps[sizeof(fields) / sizeof(*fields)];

static uint64_t read_step(char **s)
{
	return **s == '+' ? strtoull(*s + 1, s, 0) : 0;
}

static void take_steps(char *rec)
{
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (steps[i] && fields[i].type == TYPE_u32)
			*(uint32_t *)(rec + fields[i].offset) += steps[i];
		else if (steps[i])
			*(uint64_t *)(rec + fields[i].offset) += steps[i];
}

static void read_field(const char *record, char **s, char *rec)
{
	size_t len = strcspn(*s, "= \n");

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		const struct field *f = &fields[i];

		if (strcmp(f->record, record) || strlen(f->name) != len ||
		    memcmp(f->name, *s, len) || (*s)[len] != '=')
			continue;
		*s += len + 1;
		if (f->type == TYPE_u32)
			*(uint32_t *)(rec + f->offset) = strtoull(*s, s, 0);
		else if (f->type == TYPE_u64)
			*(uint64_t *)(rec + f->offset) = strtoull(*s, s, 0);
		else if (f->type == TYPE_str)
			*(struct span *)(rec + f->offset) = read_text(s);
		else
			*(struct u64_span *)(rec + f->offset) = read_list(s);
		steps[i] = read_step(s);
		return;
	}
	die("no such field", *s);
}

static void put_record(struct obz_writer *w, const char *name, char *rest, uint64_t cnt)
{
	_Alignas(16) char rec[MAX_RECORD] = {0};

	memset(steps, 0, sizeof(steps));
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
		if (!strcmp(fields[i].record, name) && fields[i].type == TYPE_str)
			((struct span *)(rec + fields[i].offset))->p = "";
	for (;;) {
		rest += strspn(rest, " \n");
		if (!*rest)
			break;
		read_field(name, &rest, rec);
	}
	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		if (!strcmp(records[i].name, name)) {
			for (; cnt; cnt--, take_steps(rec))
				if (obz_writer__put(w, records[i].kind, rec))
					die("not accepted", obz_writer__error(w));
			return;
		}
	die("no such record", name);
}

static void repeat(struct obz_writer *w, char *rest)
{
	uint64_t cnt = strtoull(rest, &rest, 0);
	char *name = rest + strspn(rest, " ");
	size_t len = strcspn(name, " \n");

	rest = name + len + (name[len] != 0);
	name[len] = 0;
	put_record(w, name, rest, cnt);
}

static void add_member(struct obz_writer *w, char *rest)
{
	char name[128], path[512];
	struct stat st;
	int fd;

	if (sscanf(rest, "%127s %511s", name, path) != 2)
		die("not NAME FILE", rest);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		die(strerror(errno), path);
	if (obz_writer__add(w, name, fd, st.st_size))
		die("not accepted", obz_writer__error(w));
	close(fd);
}

/* The schema with one name in the place of another. */
static char *renamed(char *schema, char *rest)
{
	char from[64], to[64], *at, *text;

	if (sscanf(rest, "%60s %60s", from, to) != 2)
		die("not OLD NEW", rest);
	memmove(from + 1, from, strlen(from) + 1);
	*from = '"';
	strcat(from, "\"");
	for (at = strstr(schema, from); at; at = strstr(at + strlen(to), from)) {
		if (asprintf(&text, "%.*s\"%s\"%s", (int)(at - schema), schema, to,
			     at + strlen(from)) < 0)
			die("out of memory", from);
		at = text + (at - schema);
		free(schema);
		schema = text;
	}
	return schema;
}

static struct obz_writer *begin(const char *path, const char *header, const char *schema)
{
	struct obz_writer_opts opts = {.header_json = header, .schema_json = schema};
	struct obz_writer *w;
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		die(strerror(errno), path);
	if (obz_writer__new(&w, fd, &opts))
		die("cannot be begun", path);
	return w;
}

int main(int argc, char **argv)
{
	struct obz_writer *w = NULL;
	char *line = NULL, *end = NULL, *schema = schema_text(NULL);
	size_t cap = 0;

	if (argc != 2)
		return 2;
	while (getline(&line, &cap, stdin) > 0) {
		size_t len = strcspn(line, " \n");
		char *rest = line + len;

		line_number++;
		rest += *rest != 0;
		line[len] = 0;
		if (!len || *line == '#')
			continue;
		if (!strcmp(line, "rename"))
			schema = renamed(schema, rest);
		else if (!strcmp(line, "header"))
			w = begin(argv[1], rest, schema);
		else if (!w)
			die("header must come before", line);
		else if (!strcmp(line, "flush"))
			obz_writer__flush(w);
		else if (!strcmp(line, "member"))
			add_member(w, rest);
		else if (!strcmp(line, "repeat"))
			repeat(w, rest);
		else if (!strcmp(line, "end"))
			end = strdup(rest);
		else
			put_record(w, line, rest, 1);
	}
	free(line);
	if (!w || obz_writer__close(w, end))
		die("cannot be finished", argv[1]);
	free(end);
	free(schema);
	return 0;
}
