/* SPDX-License-Identifier: BSD-2-Clause */
/* Completion scripts for bash, zsh and fish, from the option tables. */
#include <string.h>

#include "format/option_table.h"

/* An option's argument is one of its values, or a file if the metavar has FILE, PATH or DIR. */
static bool takes_file(const struct option_def *d)
{
	return d->metavar && (strstr(d->metavar, "FILE") || strstr(d->metavar, "PATH") ||
			      strstr(d->metavar, "DIR"));
}

static const char *values_of(const struct option_def *d)
{
	if (d->values)
		return d->values;
	return d->metavar && strchr(d->metavar, '|') ? d->metavar : NULL;
}

static bool is_before(const char *values, const char *end, const char *word, size_t len)
{
	const char *other;
	size_t n;

	while ((other = option_next_word(&values, &n)) && other < end)
		if (n == len && !memcmp(other, word, len))
			return true;
	return false;
}

static void put_word(FILE *out, const char *word, size_t len, const char *colon)
{
	for (size_t i = 0; i < len; i++)
		if (word[i] == ':')
			fputs(colon, out);
		else
			fputc(word[i], out);
}

/* "a, b, a" as "a b": sets of probes are named by each of their probes. */
static void words_with(FILE *out, const char *values, const char *colon)
{
	const char *at = values, *word;
	size_t len;

	while ((word = option_next_word(&at, &len))) {
		if (is_before(values, word, word, len))
			continue;
		fputs(word > values ? " " : "", out);
		put_word(out, word, len, colon);
	}
}

static void words(FILE *out, const char *values)
{
	words_with(out, values, ":");
}

static const char *last_word(const struct cli *cli)
{
	const char *space = strrchr(cli->program, ' ');

	return space ? space + 1 : cli->program;
}

typedef void (*entry_fn)(FILE *out, const struct option_def *d, void *arg);

static void each_shown(const struct cli *cli, FILE *out, entry_fn fn, void *arg)
{
	const struct option_def *tables[] = {cli->options, option_builtins};

	for (int t = 0; t < 2; t++)
		for (const struct option_def *d = tables[t]; d && option_any(d); d++)
			if (d->name && d->help)
				fn(out, d, arg);
}

/* Prints s without the characters in `drop`, and with '\'' escaped for single quotes. */
static void quoted(FILE *out, const char *s, const char *drop)
{
	for (; *s; s++) {
		if (*s == '\'')
			fputs("'\\''", out);
		else if (!strchr(drop, *s))
			fputc(*s, out);
	}
}

/* ---- bash ---- */

static void bash_name(FILE *out, const struct option_def *d, void *arg)
{
	fprintf(out, "--%s ", d->name);
	if (d->letter)
		fprintf(out, "-%c ", d->letter);
}

/* "--name VALUE" and "--name=VALUE", where prev is "--name" and "--name=". */
static void bash_case(FILE *out, const struct option_def *d, void *arg)
{
	const char *command = arg, *values = values_of(d);

	if (d->arg == ARG_NONE)
		return;
	fprintf(out, "\t%s:--%s=", command, d->name);
	if (d->arg == ARG_REQUIRED)
		fprintf(out, " | %s:--%s", command, d->name);
	if (d->arg == ARG_REQUIRED && d->letter)
		fprintf(out, " | %s:-%c", command, d->letter);
	fputs(") ", out);
	if (takes_file(d))
		fputs("compopt -o default; return ;;\n", out);
	else if (values) {
		fputs("__obrec_values '", out);
		words(out, values);
		fprintf(out, "'%s; return ;;\n", d->list ? " ," : "");
	} else
		fputs("return ;;\n", out);
}

static void bash_operands(FILE *out, const struct cli *cli, const char *command)
{
	if (!cli->operands)
		return;
	fprintf(out, "\t%s:*) [ ${#line[@]} = 2 ] && { __obrec_values '", command);
	words(out, cli->operands);
	fputs("'; return; } ;;\n", out);
}

/* Replies with the words $1 that continue $cur; with $2, behind its last comma, and + or -. Words
 * with a colon are left out up to it. Takes off the replies what readline leaves in place. */
static const char bash_values[] =
	"__obrec_values()\n"
	"{\n"
	"\tlocal head= kept skip=\n"
	"\tif [ -n \"$2\" ]; then\n"
	"\t\t[[ $cur == *,* ]] && head=${cur%,*},\n"
	"\t\t[[ ${cur:${#head}} == [+-]* ]] && head+=${cur:${#head}:1}\n"
	"\t\tcompopt -o nospace\n"
	"\tfi\n"
	"\t[[ ${cur:${#head}} == *:* ]] || skip='*:*'\n"
	"\tkept=${cur%\"${cur##*[\"$COMP_WORDBREAKS\"]}\"}\n"
	"\tCOMPREPLY=($(compgen -P \"$head\" -X \"$skip\" -W \"$1\" -- \"${cur:${#head}}\"))\n"
	"\tCOMPREPLY=(\"${COMPREPLY[@]#\"$kept\"}\")\n"
	"}\n";

/* Splits the line at blanks: COMP_WORDS is split at COMP_WORDBREAKS, which has =, : and @. */
static const char bash_line[] = "\tlocal cur=${COMP_LINE:0:COMP_POINT} prev command= line\n"
				"\tcur=${cur##*[[:space:]]}\n"
				"\tread -ra line <<<\"${COMP_LINE:0:COMP_POINT-${#cur}}\"\n"
				"\tprev=${line[${#line[@]}-1]}\n"
				"\t[[ $cur == --*=* ]] && prev=${cur%%=*}= cur=${cur#*=}\n"
				"\tCOMPREPLY=()\n";

static void bash(const struct cli *const *commands, size_t cnt, FILE *out)
{
	const char *program = commands[0]->program;

	fprintf(out, "# bash completion for %s\n%s_%s()\n{\n%s", program, bash_values, program,
		bash_line);
	if (cnt > 1)
		fputs("\t[ ${#line[@]} -gt 1 ] && command=${line[1]}\n", out);
	fputs("\tcase $command:$prev in\n", out);
	for (size_t i = 0; i < cnt; i++)
		each_shown(commands[i], out, bash_case, (void *)(i ? last_word(commands[i]) : ""));
	fputs("\tesac\n\tcase $command:$cur in\n", out);
	for (size_t i = 0; i < cnt; i++) {
		const char *command = i ? last_word(commands[i]) : "";

		fprintf(out, "\t%s:-*) __obrec_values '", command);
		each_shown(commands[i], out, bash_name, NULL);
		fputs("'; return ;;\n", out);
		bash_operands(out, commands[i], command);
	}
	if (cnt > 1) {
		fputs("\t:*) __obrec_values '", out);
		for (size_t i = 1; i < cnt; i++)
			fprintf(out, "%s ", last_word(commands[i]));
		fputs("'; return ;;\n", out);
	}
	fprintf(out, "\tesac\n\tcompopt -o default\n}\ncomplete -F _%s %s\n", program, program);
}

/* ---- zsh ---- */

/* The word behind the last comma, and behind + or -, is replaced. Colons end a part of the
 * specification, unless they are escaped. */
static void zsh_values(FILE *out, const char *values, bool list)
{
	fputs(list ? "{local -a all; all=(" : "(", out);
	words_with(out, values, "\\:");
	fputc(')', out);
	if (list)
		fputs("; compset -P \"*,\"; compset -P \"[+-]\"; "
		      "[[ $PREFIX == *\\:* ]] || all=(${all\\:#*\\:*}); compadd -S \"\" -a all}",
		      out);
}

static void zsh_entry(FILE *out, const struct option_def *d, void *arg)
{
	static const char drop[] = "[]:\\";
	const char *eq = d->arg == ARG_REQUIRED ? "=" : d->arg == ARG_OPTIONAL ? "=-" : "";

	for (int letter = d->letter ? 1 : 0; letter >= 0; letter--) {
		if (letter)
			fprintf(out, "\t\t'-%c%s[", d->letter, d->arg == ARG_REQUIRED ? "+" : "");
		else
			fprintf(out, "\t\t'--%s%s[", d->name, eq);
		quoted(out, d->help, drop);
		fputc(']', out);
		if (d->arg != ARG_NONE && !(letter && d->arg == ARG_OPTIONAL)) {
			fputs(d->arg == ARG_OPTIONAL ? "::" : ":", out);
			quoted(out, d->metavar ? d->metavar : "argument", drop);
			fputc(':', out);
			if (takes_file(d))
				fputs("_files", out);
			else if (values_of(d))
				zsh_values(out, values_of(d), d->list);
		}
		fputs("' \\\n", out);
	}
}

static void zsh(const struct cli *const *commands, size_t cnt, FILE *out)
{
	fprintf(out, "#compdef %s\n", commands[0]->program);
	if (cnt == 1) {
		fputs("_arguments \\\n", out);
		each_shown(commands[0], out, zsh_entry, NULL);
		fputs("\t\t'*:file:_files'\n", out);
		return;
	}
	fputs("if (( CURRENT == 2 )); then\n\t_values command \\\n", out);
	for (size_t i = 1; i < cnt; i++) {
		fprintf(out, "\t\t'%s[", last_word(commands[i]));
		quoted(out, commands[i]->summary ? commands[i]->summary : "", "[]:\\");
		fprintf(out, "]'%s\n", i + 1 < cnt ? " \\" : "");
	}
	fputs("\treturn\nfi\ncase $words[2] in\n", out);
	for (size_t i = 1; i < cnt; i++) {
		fprintf(out, "%s)\n\tshift words; (( CURRENT-- ))\n\t_arguments \\\n",
			last_word(commands[i]));
		each_shown(commands[i], out, zsh_entry, NULL);
		if (commands[i]->operands) {
			fputs("\t\t'1:what:", out);
			zsh_values(out, commands[i]->operands, false);
			fputs("' \\\n", out);
		}
		fputs("\t\t'*:archive:_files' ;;\n", out);
	}
	fputs("esac\n", out);
}

/* ---- fish ---- */

struct fish_where {
	const char *program;
	const char *condition;
	const char *command; /* NULL: the program itself */
};

static void fish_entry(FILE *out, const struct option_def *d, void *arg)
{
	const struct fish_where *w = arg;

	fprintf(out, "complete -c %s", w->program);
	if (w->command)
		fprintf(out, " -n '__fish_seen_subcommand_from %s'", w->command);
	else if (w->condition)
		fprintf(out, " -n '%s'", w->condition);
	fprintf(out, " -l %s", d->name);
	if (d->letter)
		fprintf(out, " -s %c", d->letter);
	if (d->arg == ARG_REQUIRED)
		fputs(takes_file(d) ? " -r -F" : " -x", out);
	if (values_of(d)) {
		fputs(d->list ? " -a '(__obrec_list " : " -a '", out);
		words(out, values_of(d));
		fputs(d->list ? ")'" : "'", out);
	}
	fputs(" -d '", out);
	for (const char *p = d->help; *p; p++) {
		if (*p == '\'' || *p == '\\')
			fputc('\\', out);
		fputc(*p, out);
	}
	fputs("'\n", out);
}

/* Prints the words behind what the token has up to its last comma, and + or -. Words with a colon
 * only if the token has it. */
static const char fish_list[] = "function __obrec_list\n"
				"\tset -l head (commandline -ct | "
				"string replace -r '^(--[^=]*=)?(.*,)?([+-]?).*$' '$2$3')\n"
				"\tcommandline -ct | string match -qr ':[^,]*$'; "
				"or set argv (string match -v '*:*' -- $argv)\n"
				"\tprintf '%s\\n' \"$head\"$argv\n"
				"end\n";

static void fish(const struct cli *const *commands, size_t cnt, FILE *out)
{
	struct fish_where w = {commands[0]->program, cnt > 1 ? "__fish_use_subcommand" : NULL,
			       NULL};

	fputs(fish_list, out);
	each_shown(commands[0], out, fish_entry, &w);
	for (size_t i = 1; i < cnt; i++) {
		w.command = last_word(commands[i]);
		fprintf(out, "complete -c %s -n __fish_use_subcommand -f -a %s -d '", w.program,
			w.command);
		quoted(out, commands[i]->summary ? commands[i]->summary : "", "'\\");
		fputs("'\n", out);
		each_shown(commands[i], out, fish_entry, &w);
		if (!commands[i]->operands)
			continue;
		fprintf(out, "complete -c %s -n '__fish_seen_subcommand_from %s' -a '", w.program,
			w.command);
		words(out, commands[i]->operands);
		fputs("'\n", out);
	}
}

void cli_completion(const struct cli *const *commands, size_t cnt, const char *shell, FILE *out)
{
	if (!strcmp(shell, "bash"))
		bash(commands, cnt, out);
	else if (!strcmp(shell, "zsh"))
		zsh(commands, cnt, out);
	else
		fish(commands, cnt, out);
}
