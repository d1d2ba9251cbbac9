/* SPDX-License-Identifier: BSD-2-Clause */
/* Text that is safe to print and easy to read: escaping, units, growing buffers, one-line errors.
 */
#ifndef FORMAT_TEXT_H
#define FORMAT_TEXT_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "format/records.h"

/* A growing string; init with {0}, free with strbuf_fini. Out of memory sets `failed` and is
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
 * ESCAPE_JSON: the inside of a string. ESCAPE_JSON_TEXT: a whole text that another writer made, in
 * which all but ASCII stands within strings. ESCAPE_CSV: a cell of RFC 4180; what a spreadsheet would
 * take for a formula gets an apostrophe before it, numbers do not.
 */
enum escape { ESCAPE_TERMINAL, ESCAPE_XML, ESCAPE_JSON, ESCAPE_JSON_TEXT, ESCAPE_CSV };
/* Appends s so that it is inert there: control bytes, invalid UTF-8 and characters that change the
 * direction of text become \xNN, &#..; or \uNNNN. */
void strbuf_escape(struct strbuf *b, enum escape how, struct span s);

/* "1.5 MiB", "12.3k", "3.20 s"; into a caller's buffer of at least 24 bytes, which is returned. */
char *format_bytes(char *buf, uint64_t bytes);
char *format_count(char *buf, uint64_t n);
char *format_duration(char *buf, uint64_t ns);

static inline struct span span_of(const char *s)
{
	return (struct span){s, s ? __builtin_strlen(s) : 0};
}

/* The process's message sink: "PROGRAM: text" on stderr, one line, terminal-escaped. */
void message_init(const char *program, int verbosity); /* -1 quiet, 0, 1 verbose */
void message_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	  /* always */
void message_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));	  /* unless quiet */
void message_verbose(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* with -v */

/* What is being done: a line on a terminal that the next one or a message replaces, nothing
 * elsewhere or when quiet. NULL takes it away, which a signal handler may do. */
void message_status(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The exit codes of both tools. */
enum { EXIT_OK = 0, EXIT_FAIL = 1, EXIT_USAGE = 2, EXIT_PARTIAL = 3, EXIT_UNSUPPORTED = 4 };

#endif
