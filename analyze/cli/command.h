/* SPDX-License-Identifier: BSD-2-Clause */
/* An obana command is one `const struct command` and one line in commands.def. */
#ifndef ANALYZE_COMMAND_H
#define ANALYZE_COMMAND_H

#include "format/option.h"

struct command {
	const char *name;
	const struct cli *cli; /* options, help, manual page, completion */
	/* argv[0] is the command's name. Returns an exit code. */
	int (*run)(int argc, char **argv);
};

#define COMMAND(name) extern const struct command cmd_##name##_entry;
#include "analyze/cli/commands.def"
#undef COMMAND

extern const struct man_section obana_manual[];

#endif
