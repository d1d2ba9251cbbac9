/* SPDX-License-Identifier: BSD-2-Clause */
/* Text output: escaping, units, growing strings, one-line messages. */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/records.h"

/* A growing string; initialize with {0}, free with strbuf_fini(). `failed` (out of memory) is
 * sticky. */
struct strbuf {
	char *p;
	size_t len, cap;
	int failed;
};
void strbuf_fini(struct strbuf *b);
void strbuf_add(struct strbuf *b, const char *p, size_t len);
void strbuf_addf(struct strbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * ESCAPE_JSON: the content of a string. ESCAPE_JSON_TEXT: a complete JSON text by another writer,
 * which has non-ASCII characters only in strings. ESCAPE_CSV: a cell of RFC 4180; cells that a
 * spreadsheet would evaluate as a formula get a leading apostrophe, numbers do not.
 */
enum escape { ESCAPE_TERMINAL, ESCAPE_XML, ESCAPE_JSON, ESCAPE_JSON_TEXT, ESCAPE_CSV };
/* Appends s, escaped for the given output: control bytes, invalid UTF-8 and characters that change
 * the text direction become \xNN, &#..; or \uNNNN. */
void strbuf_escape(struct strbuf *b, enum escape how, struct span s);

/* "1.5 MiB", "12.3k", "3.20 s"; writes to a caller's buffer of at least 24 bytes; returns it. */
char *format_bytes(char *buf, uint64_t bytes);
char *format_count(char *buf, uint64_t n);
char *format_duration(char *buf, uint64_t ns);

/* "ENOENT", also of numbers that only the kernel uses; else the number. As above. */
char *format_errno(char *buf, uint32_t number);
/* "SIGTERM"; the number where it has no name. */
char *format_signal(char *buf, uint32_t number);
/* "CAP_CHOWN"; likewise. */
char *format_capability(char *buf, uint32_t number);

/* Whether a comma-separated list has the name: "cpu" of "l4,cpu", not of "offcpu". */
bool list_has(const char *list, const char *name);
/* Length of the first word of a list. Words are separated by commas, but not by those in brackets:
 * f(int, long), std::map<int, int>::find. */
size_t text_word_len(const char *list);

static inline struct span span_of(const char *s)
{
	return (struct span){s, s ? __builtin_strlen(s) : 0};
}

/* Messages of the process: "PROGRAM: text" on stderr, one line, escaped for terminals. */
void message_init(const char *program, int verbosity); /* -1 quiet, 0, 1 verbose */
void message_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	  /* always */
void message_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	  /* unless quiet */
void message_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v */

/* Shows progress as a line on a terminal, replaced by the next status or message; prints nothing
 * when stderr is not a terminal or when quiet. NULL removes the line; safe in a signal handler. */
void message_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Exit codes of both tools. */
enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2, EXIT_PARTIAL = 3, EXIT_UNSUPPORTED = 4 };

#endif
