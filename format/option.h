/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A table of options defines the parser, --help, the manual page and shell completion. Each program
 * has a `struct cli`; a program with commands (obana) has one more per command.
 */
#ifndef FORMAT_OPTION_H
#define FORMAT_OPTION_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Entries of a table may omit the last fields of struct option_def. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

enum option_arg { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL };

/*
 * `set` gets the caller's ctx and the argument (NULL: none). It returns 0, or prints one line with
 * option_error() and returns -EINVAL. An entry with `name` NULL ends the table; one with only
 * `help` is a heading.
 */
struct option_def {
	const char *name; /* long name, without dashes */
	char letter;	  /* 0: no short option */
	enum option_arg arg;
	const char *metavar;
	const char *help;
	int (*set)(void *ctx, const struct option_def *def, const char *arg);
	long data; /* for use by `set` */
	/* The words that the argument may be, separated by ", " (for completion and
	 * option_choice()); those with a colon are completed behind it only. NULL: any, or those of
	 * a metavar "a|b|c". */
	const char *values;
	bool list; /* the argument is a comma-separated list of them */
};

/* A section of the manual page. Each line of text is a paragraph, "- item", "tag\ttext", or an
 * example, which starts with a space. */
struct man_section {
	const char *title, *text;
};

struct cli {
	const char *program;  /* "obrec", "obana report" */
	const char *synopsis; /* lines after "usage: PROGRAM " */
	const char *summary;  /* one line */
	const char *details;  /* paragraphs for --help and the manual page; may be NULL */
	const struct option_def *options;
	const char *operands;	 /* words that the first operand may be, as option_def.values */
	const char *exit_status; /* text of section EXIT STATUS; NULL: none */
	/* The program's commands, NULL-terminated; NULL: no commands. */
	const struct cli *const *commands;
	const struct man_section *sections; /* only in the manual page; ended by title NULL */
};

extern const char cli_exit_status[]; /* exit codes common to both tools */

/*
 * Parses argv[1..]; reorders it when permute is set. *rest: index of the first operand ("--" is
 * skipped; *after_dashes tells whether it was present). Handles --help, --version, --man and
 * --completion=bash|zsh|fish. Returns 0; 1 when one of those was handled (exit 0); -EINVAL after
 * one line on stderr (exit 2). permute: options and operands may be mixed (obana); otherwise
 * options end at the first operand (obrec).
 */
int cli_parse(const struct cli *cli, void *ctx, int argc, char **argv, bool permute, int *rest,
	      bool *after_dashes);

void cli_help(const struct cli *cli, FILE *out);
/* Prints text as in --help: wrapped, each line indented to column `from`; the cursor is already
 * there in the first line. */
void option_wrap(FILE *out, const char *text, int from);
/* commands[0] is the program itself. */
void cli_man(const struct cli *const *commands, size_t cnt, FILE *out);
void cli_completion(const struct cli *const *commands, size_t cnt, const char *shell, FILE *out);

/* The position of word[0..len) in def->values; -EINVAL after one line on stderr. */
int option_choice(const struct option_def *def, const char *word, size_t len);

/* "PROGRAM: --NAME: MESSAGE" on stderr; returns -EINVAL. */
int option_error(const struct option_def *def, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Parse values with units; 0 or -EINVAL. Durations require a unit (ns us ms s m h d); sizes accept
 * K M G T (1024). */
int parse_duration_ns(const char *s, uint64_t *ns);
int parse_size(const char *s, uint64_t *bytes);
int parse_u64(const char *s, uint64_t *v);
int parse_percent(const char *s, double *share); /* "10%" or "0.1" */

#endif
