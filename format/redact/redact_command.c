/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/redact/redact_command.h"

#include <ctype.h>
#include <strings.h>

#include "format/redact/redact_conn.h"
#include "format/redact/redact_names.h"

enum how {
	JOINED = 1,
	APART,
	NEXT,
	WRAPS,
	NAMED,
	STDIN,
	HOW_WORDS = 0x40,
	HOW_AFTER = 0x80,
};

#define WORDS(n) (HOW_WORDS | (n))
#define AFTER(ch) (HOW_AFTER | (ch))

static const struct client {
	const char *name, *option, *flags;
	uint8_t name_sz, option_sz, how;
	bool any_end; /* of the name */
} clients[] = {
#define CLIENT(name, option, how, flags)                                                           \
	{name,                                                                                     \
	 option,                                                                                   \
	 flags,                                                                                    \
	 sizeof(name) - 1 - (name[sizeof(name) - 2] == '*'),                                       \
	 sizeof(option) - 1,                                                                       \
	 how,                                                                                      \
	 name[sizeof(name) - 2] == '*'},
#include "format/redact/redact_clients.def"
#undef CLIENT
};

enum { CLIENTS = sizeof(clients) / sizeof(clients[0]), WORDS_NONE = 0xff };

/* State from earlier words. */
struct command {
	/* The table's lines whose clients any word named: which of them is the program, and which a
	 * host or a user, is not known. */
	bool clients[CLIENTS];
	bool names;	       /* of them, a client whose secrets follow their names */
	bool reads;	       /* the command reads a secret from its standard input */
	bool set;	       /* the last word was "set": a setting's name and value may follow */
	bool script;	       /* this is text of a shell, or the next argument is */
	bool noted;	       /* clients has one */
	uint8_t next;	       /* enum how of the next word; 0: not a secret */
	uint8_t words;	       /* words before those that are secret; WORDS_NONE: none is */
	char *said, *said_end; /* what an echo writes into the pipe that the command reads */
	char *here, *here_end; /* delimiter of the here-document that it reads */
};

static struct command new_command(void)
{
	return (struct command){.words = WORDS_NONE};
}

static void mask(char *from, char *to)
{
	if (from < to)
		memset(from, '*', to - from);
}

/* Masks a value, except for shell quotes around it. */
static void mask_value(char *from, char *to)
{
	if (from < to && (*from == '"' || *from == '\''))
		to -= to - from > 1 && to[-1] == *from, from++;
	mask(from, to);
}

/* Whether a value maps ports: 127.0.0.1:80:8080/tcp */
static bool is_ports(const char *p, const char *end)
{
	bool colon = false;

	for (; p < end && ((*p >= '0' && *p <= '9') || *p == '.' || *p == ':'); p++)
		colon |= *p == ':';
	return colon && (p == end || *p == '/');
}

static void mask_as(unsigned how, char *from, char *to)
{
	char *sep = how & HOW_AFTER ? memchr(from, how & ~HOW_AFTER, to - from) : from - 1;

	if (sep && !is_ports(from, to))
		mask_value(sep + 1, to - (sep >= from && (*from == '"' || *from == '\'') &&
					  to[-1] == *from));
}

/* ---- names ---- */

/* Whether a variable is a shell's working directory, not a password: PWD, OLDPWD. */
static bool is_directory(const char *p, size_t sz)
{
	return (sz == 3 && !memcmp(p, "PWD", 3)) || (sz == 6 && !memcmp(p, "OLDPWD", 6));
}

/* Whether the name of an option, setting (-Da.b.c) or variable is a secret's. */
static bool is_secret(const char *p, const char *end)
{
	const char *first = p, *last;

	while (p < end && (*p == '-' || *p == '"' || *p == '\''))
		p++;
	if (p >= end || is_directory(p, end - p))
		return false;
	/* Parameters of a URL and words of a text are found by themselves. */
	for (const char *q = p; q < end; q++)
		if (*q <= ' ' || *q == '/' || *q == '?' || *q == '&')
			return false;
	last = memrchr(p, '.', end - p);
	last = last ? last + 1 : p;
	if (last == p && p > first && p < end && *p == 'D' && p[-1] == '-')
		last++;
	return redact_name_is_secret(last, end - last) || redact_name_is_secret(p, end - p);
}

/* Also -HNAME, --header=NAME and http.extraHeader=NAME. */
static bool is_header(const char *p, const char *end)
{
	const char *equals = memchr(p, '=', end - p);

	if (equals && !memchr(p, ' ', equals - p))
		p = equals + 1;
	while (p < end && (*p == '"' || *p == '\''))
		p++;
	if (end - p > 2 && !memcmp(p, "-H", 2))
		p += 2;
	while (end > p && end[-1] == ' ')
		end--;
	for (const char *q = p; q < end; q++)
		if (*q <= ' ' || strchr("\"'=/", *q))
			return false;
	return redact_name_where(p, end - p) & REDACT_IN_HEADER;
}

/* ---- clients ---- */

static bool is_blank(char ch)
{
	return ch == ' ' || ch == '\t' || ch == '\n';
}

static bool is_operator(char ch)
{
	return ch == '|' || ch == ';' || ch == '&';
}

/* End of a shell word, including its quoted parts. A quote that is not closed is a character; an
 * operator ends a word only in a script, because other texts have no shell's quotes. */
static char *word_end(char *p, char *end, bool script)
{
	for (char *begin = p, *close; p < end && !is_blank(*p); p++) {
		if (is_operator(*p) && (p == begin || (script && p[-1] != '>' && p[-1] != '<')))
			break;
		close = *p == '"' || *p == '\'' ? memchr(p + 1, *p, end - p - 1) : NULL;
		if (close)
			p = close;
		else if (*p == '\\' && p + 1 < end)
			p++;
	}
	return p;
}

/* Masks what was written into the pipe. */
static void mask_said(struct command *cmd)
{
	for (char *p = cmd->said, *stop; p < cmd->said_end; p = stop + 1) {
		stop = word_end(p, cmd->said_end, cmd->script);
		if (p < stop && *p != '-')
			mask_value(p, stop);
	}
	cmd->said = cmd->said_end = NULL;
}

/* What follows an option or subcommand, or a client itself. */
static void expect(struct command *cmd, unsigned how)
{
	if (how & HOW_WORDS)
		cmd->words = how & ~HOW_WORDS;
	else if (how == STDIN)
		cmd->reads = true;
	else if (how != JOINED)
		cmd->next = how;
	if (cmd->reads)
		mask_said(cmd);
}

static bool is_suffix(const char *p, const char *end)
{
	for (; p < end; p++)
		if (!isalnum((uint8_t)*p) && !strchr("-_.", *p))
			return false;
	return true;
}

/* Notes the lines of the client that a word names. */
static void note_clients(struct command *cmd, const char *p, const char *end)
{
	const char *slash;

	while (p < end && strchr("\"'$({`", *p))
		p++;
	while (p < end && strchr("\"');", end[-1]))
		end--;
	slash = memrchr(p, '/', end - p);
	p = slash ? slash + 1 : p;
	for (size_t i = 0; i < CLIENTS && p < end; i++) {
		const struct client *c = &clients[i];
		size_t sz = c->name_sz;

		if (*c->name != *p || (size_t)(end - p) < sz || memcmp(p, c->name, sz) ||
		    !(c->any_end ? is_suffix(p + sz, end) : (size_t)(end - p) == sz))
			continue;
		cmd->clients[i] = cmd->noted = true;
		if (c->option_sz)
			continue;
		if (c->how == NAMED)
			cmd->names = true;
		else
			expect(cmd, c->how);
	}
}

/* Start of the option's value in its word, its end when the next one is the value; NULL: it is
 * another option. */
static char *value_of(const struct client *c, char *p, char *end)
{
	size_t sz = end - p;

	if (c->option_sz == 2) {
		while (++p < end && *p != c->option[1] && *p && strchr(c->flags, *p))
			;
		return p < end && *p == c->option[1] && (c->how != NEXT || p + 1 == end) ? p + 1
											 : NULL;
	}
	if (sz < c->option_sz || memcmp(p, c->option, c->option_sz))
		return NULL;
	p += c->option_sz;
	return p == end || c->how == JOINED ? p : *p == '=' ? p + 1 : NULL;
}

/* -pX, or -p and then X; other letters may come before p. */
static bool is_clients_option(struct command *cmd, char *p, char *end)
{
	bool found = false;

	for (size_t i = 0; i < CLIENTS; i++) {
		const struct client *c = &clients[i];
		char *value;

		if (c->name_sz && !cmd->noted)
			break;
		if (*c->option != *p || !(cmd->clients[i] || !c->name_sz))
			continue;
		value = value_of(c, p, end);
		if (!value)
			continue;
		if (value < end && !(c->how & HOW_WORDS) && c->how != STDIN)
			mask_as(c->how, value, end);
		else
			expect(cmd, c->how);
		if (c->how == WRAPS)
			cmd->clients[i] = false;
		found = true;
	}
	return found;
}

/* add_user NAME X */
static bool is_subcommand(struct command *cmd, const char *p, const char *end)
{
	for (size_t i = 0; i < CLIENTS && cmd->noted; i++) {
		const struct client *c = &clients[i];

		if (!cmd->clients[i] || c->option_sz != end - p || *c->option == '-' ||
		    strncasecmp(p, c->option, end - p))
			continue;
		expect(cmd, c->how);
		return true;
	}
	return false;
}

/* ---- words ---- */

static void shell_words(struct command *cmd, char *p, char *end);

/* A word with blanks, of which a quoted part may be a command. */
static void inner_words(const struct command *cmd, char *p, char *end)
{
	struct command inner = *cmd;

	inner.script = true;
	while (p < end && *p != '"' && *p != '\'')
		p++;
	if (p < end)
		shell_words(&inner, p + 1, (char *)memrchr(p, *p, end - p));
}

static bool has_blank(const char *p, const char *end)
{
	while (p < end && !is_blank(*p))
		p++;
	return p < end;
}

static void one_word(struct command *cmd, char *p, char *end)
{
	char *equals = memchr(p, '=', end - p);
	unsigned how = cmd->next;
	bool named = cmd->set || cmd->names;

	cmd->next = 0;
	cmd->set = end - p == 3 && !strncasecmp(p, "set", 3);
	/* An option that prompts for its value is followed by another option. */
	if (how && !(how == NAMED && end - p > 1 && p[0] == '-' && p[1] == '-')) {
		mask_as(how, p, end);
		return;
	}
	if (cmd->words != WORDS_NONE && *p != '-') {
		if (!cmd->words) {
			mask_value(p, end);
			return;
		}
		cmd->words--;
	}
	if ((*p == '-' || *p == '/') && is_clients_option(cmd, p, end))
		return;
	if (equals && is_secret(p, equals))
		mask_value(equals + 1, end);
	else if (has_blank(p, end))
		inner_words(cmd, p, end);
	else if (!equals && *p == '-' && is_secret(p, end))
		cmd->next = NAMED;
	else if (*p != '-' && is_subcommand(cmd, p, end))
		;
	else if (!equals && named && is_secret(p, end))
		cmd->next = NAMED;
	else if (*p != '-')
		note_clients(cmd, p, end);
}

/* The next command of a script, in which the clients of the arguments before it are still known. */
static void next_command(struct command *cmd, const struct command *outer, char *p, bool pipe)
{
	char *said = pipe ? cmd->said : NULL, *said_end = pipe ? cmd->said_end : NULL;

	if (said && !said_end)
		said_end = p;
	*cmd = *outer;
	if (pipe) {
		cmd->said = said;
		cmd->said_end = said_end;
	}
}

/* < and > with their numbers; <<< has its text in the next word or the same, << behind the line. */
static bool is_redirection(struct command *cmd, char *p, char *end)
{
	bool text = end - p >= 3 && !memcmp(p, "<<<", 3);

	while (!text && p < end && *p >= '0' && *p <= '9')
		p++;
	if (p == end || (*p != '<' && *p != '>'))
		return false;
	cmd->words = WORDS_NONE;
	if (!text && cmd->reads && end - p > 2 && p[1] == '<') {
		for (p += 2; p < end && strchr("-\"'", *p);)
			p++;
		cmd->here = p;
		cmd->here_end = p < end && strchr("\"'", end[-1]) ? end - 1 : end;
	}
	if (text && cmd->reads && end - p > 3)
		mask_value(p + 3, end);
	else if (text && cmd->reads)
		cmd->next = NEXT;
	return true;
}

static bool is_one_of(const char *p, const char *end, const char *const *v)
{
	for (; *v; v++)
		if ((size_t)(end - p) == strlen(*v) && !memcmp(p, *v, end - p))
			return true;
	return false;
}

/* Masks the lines up to the delimiter; returns its start. */
static char *mask_here(const struct command *cmd, char *p, char *end)
{
	size_t sz = cmd->here_end - cmd->here;

	while (p < end) {
		char *nl = memchr(p, '\n', end - p), *stop = nl ? nl : end;

		if ((size_t)(stop - p) == sz && !memcmp(p, cmd->here, sz))
			break;
		mask(p, stop);
		p = stop + !!nl;
	}
	return p;
}

static void shell_word(struct command *cmd, char *p, char *end)
{
	static const char *const writes[] = {"echo", "printf", NULL};
	char *colon = memchr(p, ':', end - p);

	if (is_redirection(cmd, p, end))
		return;
	if (colon && is_header(p, colon))
		mask_value(colon + 1, end - (end[-1] == '"' || end[-1] == '\''));
	else
		one_word(cmd, p, end);
	while (p < end && (*p == '(' || *p == '{'))
		p++;
	if (is_one_of(p, end, writes)) {
		cmd->said = end;
		cmd->said_end = NULL;
	}
}

static void shell_words(struct command *cmd, char *p, char *end)
{
	const struct command outer = *cmd;

	while (p < end) {
		char *stop = word_end(p, end, cmd->script), *next = stop;

		if (stop > p)
			shell_word(cmd, p, stop);
		while (next < end && is_operator(*next))
			next++;
		if (next > stop)
			next_command(cmd, &outer, stop,
				     *stop == '|' && (next == stop + 1 || stop[1] == '&'));
		else if (stop > p && stop[-1] == ';')
			next_command(cmd, &outer, stop, false);
		if (next == stop && next < end)
			next++;
		if (next > stop && next[-1] == '\n') {
			if (cmd->here)
				next = mask_here(cmd, next, end);
			next_command(cmd, &outer, stop, false);
		}
		p = next;
	}
}

/* Processes one argument: a header field, a value, or several words. */
static void argument(struct command *cmd, char *p, char *end)
{
	char *colon = memchr(p, ':', end - p), *equals = memchr(p, '=', end - p);
	bool script = cmd->script;

	cmd->script = end - p >= 2 && end - p <= 4 && p[0] == '-' && p[1] != '-' && end[-1] == 'c';
	if (p == end)
		return;
	if (!cmd->next && colon && is_header(p, colon)) {
		mask_value(colon + 1, end);
		return;
	}
	/* An argument with blanks is a single value when its name has none; quoted, it is shell
	 * text. */
	if (has_blank(p, end) && !cmd->next &&
	    (script || !(equals && !has_blank(p, equals) && equals[1] != '\'' && equals[1] != '"' &&
			 is_secret(p, equals)))) {
		struct command words = *cmd;

		words.script = script;
		shell_words(&words, p, end);
	} else {
		one_word(cmd, p, end);
	}
}

/* Masks secrets in other forms (redact_fields.h). */
static void fields(char *p, char *end, bool script)
{
	struct redact_call c = {.p = (uint8_t *)p,
				.out = (uint8_t *)p,
				.kept = end - p,
				.len = end - p,
				.all = end - p,
				.whole = true};
	const char *equals = memchr(p, '=', end - p);
	struct redact_field field = {.head = script};

	if (p < end && !(equals && is_directory(p, equals - p)))
		redact_fields(&field, &c, redact_hits(c.p, c.kept));
}

static bool contains(const char *p, const char *end, const char *text)
{
	size_t sz = strlen(text);

	for (; (size_t)(end - p) >= sz; p++)
		if (!strncasecmp(p, text, sz))
			return true;
	return false;
}

/* Masks the literals behind the name of a secret when the argument contains an SQL statement that
 * sets one. */
static void statement(char *p, char *end)
{
	static const char *const sets[] = {
		"identified ", "create user ", "create role ",	 "alter user ",
		"alter role ", "set password", "change master ", "change replication ",
	};
	struct redact_literal literal = {0};
	size_t i = 0;

	while (i < sizeof(sets) / sizeof(sets[0]) && !contains(p, end, sets[i]))
		i++;
	for (; i < sizeof(sets) / sizeof(sets[0]) && p < end; p++)
		*p = redact_secret_literal(&literal, DIALECT_MYSQL, *p);
}

void redact_command(char *args, size_t sz)
{
	struct command cmd = new_command();
	bool script;

	for (char *p = args, *end; p < args + sz; p = end + 1) {
		end = memchr(p, 0, args + sz - p);
		if (!end)
			end = args + sz;
		script = cmd.script;
		argument(&cmd, p, end);
		fields(p, end, script);
		statement(p, end);
	}
}

/* End of a setting: a comma that is not doubled. */
static char *setting_end(char *p, char *end)
{
	while (p < end && (*p != ',' || (p + 1 < end && p[1] == ',')))
		p += *p == ',' ? 2 : 1;
	return p;
}

void redact_settings(char *text, size_t sz)
{
	char *end = text + sz, *nul = memchr(text, 0, sz);

	if (nul) {
		if (is_secret(text, nul))
			mask(nul + 1, end);
		else
			fields(nul + 1, end, false);
		return;
	}
	for (char *p = text, *stop; p < end; p = stop + 1) {
		char *equals;

		stop = setting_end(p, end);
		equals = memchr(p, '=', stop - p);
		if (equals && is_secret(p, equals))
			mask(equals + 1, stop);
		else
			fields(p, stop, false);
	}
}
