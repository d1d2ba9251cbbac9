/* SPDX-License-Identifier: BSD-2-Clause */
/* obana: finds the command and runs it. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/text.h"
#include "analyze/cli/command.h"

static const struct command *const commands[] = {
#define COMMAND(name) &cmd_##name##_entry,
#include "analyze/cli/commands.def"
#undef COMMAND
	NULL,
};

/* Filled from the commands at startup; NULL-terminated. */
static const struct cli *command_clis[sizeof(commands) / sizeof(*commands)];

static const struct option_def no_options[] = {{0}};

static const struct cli obana_cli = {
	.program = "obana",
	.synopsis = "COMMAND [ARCHIVE.obz ...] [options]",
	.summary = "analyse archives recorded by obrec",
	.details =
		"obana reads archives of obrec on any machine, without root and without the "
		"recorded binaries. `obana help COMMAND` describes a command; `obana ARCHIVE.obz` "
		"is `obana report ARCHIVE.obz`. Tables go to stdout, all other output to stderr; "
		"colour and progress are shown on terminals only, and NO_COLOR is honoured.",
	.options = no_options,
	.exit_status = cli_exit_status,
	.commands = command_clis,
	.sections = obana_manual,
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Levenshtein distance, for short words. */
static size_t distance(const char *a, const char *b)
{
	size_t row[32], n = strlen(b), diagonal, above;

	if (n >= sizeof(row) / sizeof(*row))
		return SIZE_MAX;
	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 1; *a; a++, i++) {
		diagonal = row[0];
		row[0] = i;
		for (size_t j = 1; j <= n; j++) {
			above = row[j];
			row[j] = least(least(above, row[j - 1]) + 1, diagonal + (*a != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n];
}

static int unknown(const char *name)
{
	struct strbuf near = {0};
	size_t best = 3; /* larger distances are not suggested */

	for (size_t i = 0; commands[i]; i++)
		best = least(best, distance(name, commands[i]->name));
	for (size_t i = 0; commands[i] && best < 3; i++)
		if (distance(name, commands[i]->name) == best)
			strbuf_addf(&near, "%s%s", near.len ? " or " : "", commands[i]->name);
	if (near.len)
		message_error("unknown command '%s'; did you mean %s?", name, near.p);
	else
		message_error("unknown command '%s'; see obana --help", name);
	strbuf_fini(&near);
	return EXIT_USAGE;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

/* ---- the command help ---- */

static const struct cli help_cli = {.program = "obana help",
				    .synopsis = "[COMMAND]",
				    .summary = "describe a command",
				    .options = no_options,
				    .operands =
#define COMMAND(name) #name ","
#include "analyze/cli/commands.def"
#undef COMMAND
};

static int help(int argc, char **argv)
{
	static char option[] = "--help";
	const struct command *c;
	int rest, err = cli_parse(&help_cli, NULL, argc, argv, true, &rest, NULL);

	if (err)
		return err > 0 ? EXIT_OK : EXIT_USAGE;
	if (rest >= argc) {
		cli_help(&obana_cli, stdout);
		return EXIT_OK;
	}
	c = find(argv[rest]);
	return c ? c->run(2, (char *[]){argv[rest], option, NULL}) : unknown(argv[rest]);
}

const struct command cmd_help_entry = {.name = "help", .cli = &help_cli, .run = help};

int main(int argc, char **argv)
{
	const struct command *c;
	int rest, err;

	message_init("obana", 0);
	signal(SIGXFSZ, SIG_IGN); /* exceeding the limit then is a write error */
	for (size_t i = 0; commands[i]; i++)
		command_clis[i] = commands[i]->cli;
	err = cli_parse(&obana_cli, NULL, argc, argv, false, &rest, NULL);
	if (err)
		return err > 0 ? EXIT_OK : err == -EINVAL ? EXIT_USAGE : EXIT_FAIL;
	if (rest >= argc) {
		cli_help(&obana_cli, stderr);
		return EXIT_USAGE;
	}
	c = find(argv[rest]);
	if (c)
		return c->run(argc - rest, argv + rest);
	if (!access(argv[rest], F_OK)) /* an archive alone: its report */
		return cmd_report_entry.run(argc - rest + 1, argv + rest - 1);
	return unknown(argv[rest]);
}
