/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/redact/redact_command.h"

#include "format/redact/redact_conn.h"
#include "format/redact/redact_names.h"

enum how { JOINED = 1, APART, USER, NAMED /* after --name, which may prompt for the value */ };

static const struct client {
	const char *name;
	char letter;
	uint8_t how;
} clients[] = {
#define CLIENT(name, letter, how) {name, letter, how},
#include "format/redact/redact_clients.def"
#undef CLIENT
};

enum { CLIENTS = sizeof(clients) / sizeof(clients[0]) };

/* State from earlier words. */
struct command {
	/* Bits of the table's lines whose clients any word named: which of them is the program, and
	 * which a host or a user, is not known. */
	uint32_t clients;
	uint8_t next; /* enum how of the next word; 0: not a secret */
};

_Static_assert(CLIENTS <= 32, "a bit each");

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

static void mask_user(char *from, char *to)
{
	char *colon = memchr(from, ':', to - from);

	if (colon)
		mask_value(colon + 1, to);
}

static void mask_as(unsigned how, char *from, char *to)
{
	if (how == USER)
		mask_user(from, to);
	else
		mask_value(from, to);
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
	last = memrchr(p, '.', end - p);
	last = last ? last + 1 : p;
	if (last == p && p > first && p < end && *p == 'D' && p[-1] == '-')
		last++;
	return redact_name_is_secret(last, end - last) || redact_name_is_secret(p, end - p);
}

/* Also -HNAME and --header=NAME. */
static bool is_header(const char *p, const char *end)
{
	const char *equals = memchr(p, '=', end - p);

	if (equals && end - p > 2 && p[0] == '-' && p[1] == '-')
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

/* Bits of the lines of the client that a word names; 0: it names none. */
static uint32_t clients_of(const char *p, const char *end)
{
	const char *slash = memrchr(p, '/', end - p);
	uint32_t found = 0;

	p = slash ? slash + 1 : p;
	for (size_t i = 0; i < CLIENTS; i++) {
		size_t sz = strlen(clients[i].name);
		bool begins = clients[i].name[sz - 1] == '*';

		sz -= begins;
		if ((size_t)(end - p) >= sz && !memcmp(p, clients[i].name, sz) &&
		    (begins || (size_t)(end - p) == sz))
			found |= 1U << i;
	}
	return found;
}

/* -pX, or -p and then X. */
static bool is_clients_option(struct command *cmd, char *p, char *end)
{
	bool found = false;

	if (end - p < 2 || p[0] != '-')
		return false;
	for (size_t i = 0; i < CLIENTS; i++) {
		if (!(cmd->clients >> i & 1) || clients[i].letter != p[1])
			continue;
		if (end - p > 2)
			mask_as(clients[i].how, p + 2, end);
		else if (clients[i].how != JOINED)
			cmd->next = clients[i].how;
		found = true;
	}
	return found;
}

/* curl's long options for what -u takes */
static bool is_user_option(const char *p, const char *end)
{
	static const char *const names[] = {"--user", "--proxy-user"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if ((size_t)(end - p) == strlen(names[i]) && !memcmp(p, names[i], end - p))
			return true;
	return false;
}

/* ---- words ---- */

static void one_word(struct command *cmd, char *p, char *end)
{
	char *equals = memchr(p, '=', end - p);
	unsigned how = cmd->next;

	cmd->next = 0;
	/* An option that prompts for its value is followed by another option. */
	if (how && !(how == NAMED && end - p > 1 && p[0] == '-' && p[1] == '-')) {
		mask_as(how, p, end);
		return;
	}
	if (is_clients_option(cmd, p, end))
		return;
	if (equals && is_secret(p, equals))
		mask_value(equals + 1, end);
	else if (equals && is_user_option(p, equals))
		mask_user(equals + 1, end);
	else if (!equals && *p == '-' && is_user_option(p, end))
		cmd->next = USER;
	else if (!equals && *p == '-' && is_secret(p, end))
		cmd->next = NAMED;
	else if (*p != '-')
		cmd->clients |= clients_of(p, end);
}

/* End of a shell word, including its quoted parts. */
static char *word_end(char *p, char *end)
{
	for (char quote = 0; p < end && (quote || *p != ' '); p++) {
		if (quote ? *p == quote : *p == '"' || *p == '\'')
			quote = quote ? 0 : *p;
	}
	return p;
}

static void shell_words(struct command *cmd, char *p, char *end)
{
	while (p < end) {
		char *stop = word_end(p, end), *colon = memchr(p, ':', stop - p);

		if (colon && is_header(p, colon))
			mask_value(colon + 1, stop - (stop[-1] == '"' || stop[-1] == '\''));
		else if (stop > p)
			one_word(cmd, p, stop);
		p = stop + 1;
	}
}

/* Processes one argument: a header field, a value, or several words. */
static void argument(struct command *cmd, char *p, char *end)
{
	char *colon = memchr(p, ':', end - p), *space = memchr(p, ' ', end - p);
	char *equals = memchr(p, '=', end - p);

	if (p == end)
		return;
	if (!cmd->next && colon && is_header(p, colon)) {
		mask_value(colon + 1, end);
		return;
	}
	/* An argument with blanks is a single value when its name has none; quoted, it is shell
	 * text. */
	if (space && !cmd->next &&
	    !(equals && equals < space && equals[1] != '\'' && equals[1] != '"' &&
	      is_secret(p, equals))) {
		struct command words = {.clients = cmd->clients};

		shell_words(&words, p, end);
	} else {
		one_word(cmd, p, end);
	}
}

/* Masks secrets in other forms (redact_fields.h). */
static void fields(char *p, char *end)
{
	struct redact_call c = {.p = (uint8_t *)p,
				.out = (uint8_t *)p,
				.kept = end - p,
				.len = end - p,
				.all = end - p};
	const char *equals = memchr(p, '=', end - p);
	struct redact_field field = {0};

	if (p < end && !(equals && is_directory(p, equals - p)))
		redact_fields(&field, &c, 0);
}

void redact_command(char *args, size_t sz)
{
	struct command cmd = {0};

	for (char *p = args, *end; p < args + sz; p = end + 1) {
		end = memchr(p, 0, args + sz - p);
		if (!end)
			end = args + sz;
		argument(&cmd, p, end);
		fields(p, end);
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
			fields(nul + 1, end);
		return;
	}
	for (char *p = text, *stop; p < end; p = stop + 1) {
		char *equals;

		stop = setting_end(p, end);
		equals = memchr(p, '=', stop - p);
		if (equals && is_secret(p, equals))
			mask(equals + 1, stop);
		else
			fields(p, stop);
	}
}
