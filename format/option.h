/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One table of options gives the parser, --help, the manual page and shell completion.
 * A program has a `struct cli`; a program with commands (obana) has one table a command besides.
 */
#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum option_arg { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL };

/*
 * `set` gets the argument (NULL when there is none) and the caller's ctx; it returns 0, or prints
 * one line with option_error() and returns -EINVAL. An entry with `name` NULL ends the table; one
 * with only `help` is a heading.
 */
struct option_def {
	const char *name; /* long name, without dashes */
	char letter;	  /* 0: none */
	enum option_arg arg;
	const char *metavar;
	const char *help;
	int (*set)(void *ctx, const struct option_def *def, const char *arg);
	long data; /* free for `set` */
};

/* A section of the manual page. Lines of text: a paragraph, "- item", "tag\ttext", or an example
 * that begins with a space. */
struct man_section {
	const char *title, *text;
};

struct cli {
	const char *program;  /* "obrec", "obana report" */
	const char *synopsis; /* lines after "usage: PROGRAM " */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for --help and the manual page; may be NULL */
	const struct option_def *options;
	const char *exit_status; /* text of a section; NULL: none */
	/* Those of a program's commands, NULL-terminated; NULL when it has none. */
	const struct cli *const *commands;
	const struct man_section *sections; /* of the manual page alone; title NULL ends them */
};

extern const char cli_exit_status[]; /* exit codes common to both tools */

/* Parses argv[1..], which is reordered when permute is set; *rest is the index of the first operand
 * ("--" is skipped and noted in *after_dashes).
 * --help, --version, --man and --completion=bash|zsh|fish are answered here.
 * Returns 0, 1 when it was answered (exit 0), -EINVAL after one line on stderr (exit 2).
 * permute: operands and options may mix (obana); else options end at the first operand (obrec). */
int cli_parse(const struct cli *cli, void *ctx, int argc, char **argv, bool permute, int *rest,
	      bool *after_dashes);

void cli_help(const struct cli *cli, FILE *out);
/* Text as in --help: wrapped, all its lines from column `from` on; the first one is there already.
 */
void option_wrap(FILE *out, const char *text, int from);
/* commands[0] is the program itself. */
void cli_man(const struct cli *const *commands, size_t cnt, FILE *out);
void cli_completion(const struct cli *const *commands, size_t cnt, const char *shell, FILE *out);

/* "PROGRAM: --NAME: MESSAGE" on stderr; returns -EINVAL. */
int option_error(const struct option_def *def, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Values with units; 0 or -EINVAL. Durations need one (ns us ms s m h d); sizes take K M G T (1024). */
int parse_duration_ns(const char *s, uint64_t *ns);
int parse_size(const char *s, uint64_t *bytes);
int parse_u64(const char *s, uint64_t *v);
int parse_percent(const char *s, double *share); /* "10%" or "0.1" */

#endif
