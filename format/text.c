/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/text.h"

#include <stdbool.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void strbuf_fini(struct strbuf *b)
{
	free(b->p);
	*b = (struct strbuf){0};
}

/* Makes room for `more` bytes and the terminating NUL. */
static bool reserve(struct strbuf *b, size_t more)
{
	size_t need, cap;
	char *p;

	if (b->failed)
		return false;
	if (__builtin_add_overflow(b->len, more, &need) || need >= SIZE_MAX / 2) {
		b->failed = 1;
		return false;
	}
	if (need < b->cap)
		return true;
	cap = need + 1 < 64 ? 64 : (need + 1) + (need + 1) / 2;
	p = realloc(b->p, cap);
	if (!p) {
		b->failed = 1;
		return false;
	}
	b->p = p;
	b->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *b, const char *p, size_t len)
{
	if (!reserve(b, len))
		return;
	if (len)
		memcpy(b->p + b->len, p, len);
	b->len += len;
	b->p[b->len] = 0;
}

static void addv(struct strbuf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	if (b->failed)
		return;
	va_copy(again, ap);
	/* In most cases there is enough room. */
	n = vsnprintf(b->p ? b->p + b->len : NULL, b->p ? b->cap - b->len : 0, fmt, ap);
	if (n < 0) {
		b->failed = 1;
	} else if (b->p && (size_t)n < b->cap - b->len) {
		b->len += n;
	} else if (reserve(b, n)) {
		vsnprintf(b->p + b->len, n + 1, fmt, again);
		b->len += n;
	} else if (b->p) {
		b->p[b->len] = 0;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	addv(b, fmt, ap);
	va_end(ap);
}

/* ---- escaping ---- */

/* Length of the well-formed UTF-8 sequence at p (RFC 3629, table 3-7 of Unicode), 0 when it is
 * none. */
static size_t utf8_len(const unsigned char *p, size_t left, uint32_t *code)
{
	static const struct {
		unsigned char mask, lead, len;
		uint32_t least;
	} forms[] = {{0x80, 0x00, 1, 0},
		     {0xe0, 0xc0, 2, 0x80},
		     {0xf0, 0xe0, 3, 0x800},
		     {0xf8, 0xf0, 4, 0x10000}};

	for (size_t f = 0; f < 4; f++) {
		uint32_t c = p[0] & (unsigned char)~forms[f].mask;

		if ((p[0] & forms[f].mask) != forms[f].lead)
			continue;
		if (forms[f].len > left)
			return 0;
		for (size_t i = 1; i < forms[f].len; i++) {
			if ((p[i] & 0xc0) != 0x80)
				return 0;
			c = c << 6 | (p[i] & 0x3f);
		}
		*code = c;
		return c < forms[f].least || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)
			       ? 0
			       : forms[f].len;
	}
	return 0;
}

/*
 * Whether a character has an effect instead of a glyph: C0, DEL and C1 controls, the line
 * separators that end a JavaScript line, bidirectional controls (they make a terminal show a
 * different text), and noncharacters (invalid in XML).
 */
static bool is_active(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 || c == 0x061c ||
	       c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069) || (c & 0xfffe) == 0xfffe;
}

static const char *entity(enum escape how, const char *p, const char *end)
{
	char next = p + 1 < end ? p[1] : 0;

	switch (how) {
	case ESCAPE_XML:
		switch (*p) {
		case '<':
			return "&lt;";
		case '>':
			return "&gt;";
		case '&':
			return "&amp;";
		case '"':
			return "&quot;";
		case '\'':
			return "&#39;";
		case '\t':
			return "&#9;";
		case '\n':
			return "&#10;";
		case '\r':
			return "&#13;";
		}
		return NULL;
	case ESCAPE_JSON:
		switch (*p) {
		case '"':
			return "\\\"";
		case '\\':
			return "\\\\";
		case '\n':
			return "\\n";
		case '\t':
			return "\\t";
		case '\r':
			return "\\r";
		case '<': /* JSON may be in an HTML script element, which "</" and "<!" would end */
			return next == '/' || next == '!' ? "\\u003c" : NULL;
		}
		return NULL;
	case ESCAPE_CSV:
		return *p == '"'    ? "\"\""
		       : *p == '\n' ? "\n"
		       : *p == '\r' ? "\r"
		       : *p == '\t' ? "\t"
				    : NULL;
	case ESCAPE_JSON_TEXT: /* these are already escaped */
	case ESCAPE_TERMINAL:
		return NULL;
	}
	return NULL;
}

static void add_inert(struct strbuf *b, enum escape how, const unsigned char *p, size_t n,
		      uint32_t code)
{
	bool json = how == ESCAPE_JSON || how == ESCAPE_JSON_TEXT;

	if (json && n > 1 && code < 0x10000) {
		strbuf_addf(b, "\\u%04x", (unsigned)code);
		return;
	}
	for (size_t i = 0; i < n; i++)
		strbuf_addf(b, json ? "\\u%04x" : "\\x%02x", p[i]);
}

/* Needs no escaping in any form. */
static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '<' && c != '>' && c != '&' && c != '"' && c != '\'' &&
	       c != '\\';
}

static bool wants_quotes(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] == ',' || s.p[i] == '"' || s.p[i] == '\n' || s.p[i] == '\r')
			return true;
	return false;
}

static size_t digits_at(struct span s, size_t i)
{
	size_t from = i;

	while (i < s.len && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i - from;
}

/* -5, +1.5, -2e-9 */
static bool is_number(struct span s)
{
	size_t i = s.len && (*s.p == '-' || *s.p == '+'), n = digits_at(s, i);

	i += n;
	if (i < s.len && s.p[i] == '.')
		i += 1 + digits_at(s, i + 1);
	if (n && i < s.len && (s.p[i] == 'e' || s.p[i] == 'E')) {
		i++;
		i += i < s.len && (s.p[i] == '-' || s.p[i] == '+');
		n = digits_at(s, i);
		i += n;
	}
	return n && i == s.len;
}

/* Whether a spreadsheet would evaluate it. */
static bool is_formula(struct span s)
{
	/* A single character, such as "-" for "none", is not evaluated. */
	return s.len > 1 && memchr("=+-@\t\r\n", *s.p, 7) && !is_number(s);
}

void strbuf_escape(struct strbuf *b, enum escape how, struct span s)
{
	const char *p = s.p, *end, *plain = p;
	bool quote = how == ESCAPE_CSV && wants_quotes(s);

	if (!s.len) /* the pointer may be NULL */
		return;
	end = p + s.len;
	if (quote)
		strbuf_add(b, "\"", 1);
	if (how == ESCAPE_CSV && is_formula(s))
		strbuf_add(b, "'", 1);
	while (p < end) {
		uint32_t code = 0;
		const char *e;
		size_t n;

		if (is_plain(*p)) {
			p++;
			continue;
		}
		n = utf8_len((const unsigned char *)p, end - p, &code);
		e = n == 1 ? entity(how, p, end) : NULL;
		if (n && !e && !is_active(code)) {
			p += n;
			continue;
		}
		strbuf_add(b, plain, p - plain);
		if (e)
			strbuf_add(b, e, strlen(e));
		else
			add_inert(b, how, (const unsigned char *)p, n ? n : 1, code);
		p += n ? n : 1;
		plain = p;
	}
	strbuf_add(b, plain, p - plain);
	if (quote)
		strbuf_add(b, "\"", 1);
}

/* ---- figures ---- */

/* Three significant digits in the largest unit not above v. */
static char *scaled(char *buf, uint64_t v, unsigned base, const char *const *units, size_t cnt)
{
	double d = v;
	size_t u = 0;

	/* 999.5 would print as 1000 */
	while (u + 1 < cnt && d >= (base == 1000 ? 999.5 : 1023.5)) {
		d /= base;
		u++;
	}
	snprintf(buf, 24, "%.*f%s",
		 u == 0 || d >= 99.95 ? 0
		 : d >= 9.995	      ? 1
		 : base == 1000	      ? 2
				      : 1,
		 d, units[u]);
	return buf;
}

char *format_bytes(char *buf, uint64_t bytes)
{
	static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};

	return scaled(buf, bytes, 1024, units, 7);
}

char *format_count(char *buf, uint64_t n)
{
	static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};

	return scaled(buf, n, 1000, units, 7);
}

char *format_duration(char *buf, uint64_t ns)
{
	static const char *const units[] = {" ns", " us", " ms", " s"};
	uint64_t s = ns / 1000000000;

	if (s < 60)
		return scaled(buf, ns, 1000, units, 4);
	if (s < 3600)
		snprintf(buf, 24, "%um%02us", (unsigned)(s / 60), (unsigned)(s % 60));
	else if (s < 86400)
		snprintf(buf, 24, "%uh%02um", (unsigned)(s / 3600), (unsigned)(s / 60 % 60));
	else
		snprintf(buf, 24, "%ud%02uh", (unsigned)(s / 86400), (unsigned)(s / 3600 % 24));
	return buf;
}

/* Numbers of include/linux/errno.h, which programs never see. */
static const char *kernel_errno(uint32_t number)
{
	static const char *const names[] = {
		[0] = "ERESTARTSYS",
		[1] = "ERESTARTNOINTR",
		[2] = "ERESTARTNOHAND",
		[3] = "ENOIOCTLCMD",
		[4] = "ERESTART_RESTARTBLOCK",
		[5] = "EPROBE_DEFER",
		[6] = "EOPENSTALE",
		[7] = "ENOPARAM",
		[9] = "EBADHANDLE",
		[10] = "ENOTSYNC",
		[11] = "EBADCOOKIE",
		[12] = "ENOTSUPP",
		[13] = "ETOOSMALL",
		[14] = "ESERVERFAULT",
		[15] = "EBADTYPE",
		[16] = "EJUKEBOX",
		[17] = "EIOCBQUEUED",
		[18] = "ERECALLCONFLICT",
	};

	number -= 512;
	return number < sizeof(names) / sizeof(*names) ? names[number] : NULL;
}

char *format_errno(char *buf, uint32_t number)
{
	const char *name = number && number < 512 ? strerrorname_np(number) : kernel_errno(number);

	if (name)
		snprintf(buf, 24, "%s", name);
	else
		snprintf(buf, 24, "%u", number);
	return buf;
}

char *format_signal(char *buf, uint32_t number)
{
	const char *name = number < 32 ? sigabbrev_np(number) : NULL;

	if (name)
		snprintf(buf, 24, "SIG%s", name);
	else
		snprintf(buf, 24, "%u", number);
	return buf;
}

char *format_capability(char *buf, uint32_t number)
{
	static const char *const names[] = {
		"CHOWN",
		"DAC_OVERRIDE",
		"DAC_READ_SEARCH",
		"FOWNER",
		"FSETID",
		"KILL",
		"SETGID",
		"SETUID",
		"SETPCAP",
		"LINUX_IMMUTABLE",
		"NET_BIND_SERVICE",
		"NET_BROADCAST",
		"NET_ADMIN",
		"NET_RAW",
		"IPC_LOCK",
		"IPC_OWNER",
		"SYS_MODULE",
		"SYS_RAWIO",
		"SYS_CHROOT",
		"SYS_PTRACE",
		"SYS_PACCT",
		"SYS_ADMIN",
		"SYS_BOOT",
		"SYS_NICE",
		"SYS_RESOURCE",
		"SYS_TIME",
		"SYS_TTY_CONFIG",
		"MKNOD",
		"LEASE",
		"AUDIT_WRITE",
		"AUDIT_CONTROL",
		"SETFCAP",
		"MAC_OVERRIDE",
		"MAC_ADMIN",
		"SYSLOG",
		"WAKE_ALARM",
		"BLOCK_SUSPEND",
		"AUDIT_READ",
		"PERFMON",
		"BPF",
		"CHECKPOINT_RESTORE",
	};

	if (number < sizeof(names) / sizeof(names[0]))
		snprintf(buf, 24, "CAP_%s", names[number]);
	else
		snprintf(buf, 24, "%u", number);
	return buf;
}

bool list_has(const char *list, const char *name)
{
	size_t len = strlen(name), n;

	for (; *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == len && !memcmp(list, name, len))
			return true;
	}
	return false;
}

/* ---- messages ---- */

static const char *message_program = "obrec";
static int message_level;
static atomic_bool status_shown;

#define STATUS_CLEAR "\r\033[K"

void message_init(const char *program, int verbosity)
{
	message_program = program;
	message_level = verbosity;
}

/* Uses a single write, so that lines of several threads do not mix. */
static void message(const char *fmt, va_list ap)
{
	struct strbuf text = {0}, line = {0};
	ssize_t n = 0;

	addv(&text, fmt, ap);
	while (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	strbuf_addf(&line, "%s%s: ", atomic_exchange(&status_shown, false) ? STATUS_CLEAR : "",
		    message_program);
	strbuf_escape(&line, ESCAPE_TERMINAL, (struct span){text.p, text.len});
	strbuf_add(&line, "\n", 1);
	if (line.p)
		n = write(STDERR_FILENO, line.p, line.len);
	(void)n; /* there is no way to report that stderr is closed */
	strbuf_fini(&text);
	strbuf_fini(&line);
}

void message_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void message_warn(const char *fmt, ...)
{
	va_list ap;

	if (message_level < 0)
		return;
	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void message_verbose(const char *fmt, ...)
{
	va_list ap;

	if (message_level < 1)
		return;
	va_start(ap, fmt);
	message(fmt, ap);
	va_end(ap);
}

void message_status(const char *fmt, ...)
{
	struct strbuf text = {0}, line = {0};
	ssize_t n = 0;
	va_list ap;

	if (!fmt) {
		if (atomic_exchange(&status_shown, false))
			n = write(STDERR_FILENO, STATUS_CLEAR, strlen(STATUS_CLEAR));
		(void)n;
		return;
	}
	if (message_level < 0 || !isatty(STDERR_FILENO))
		return;
	va_start(ap, fmt);
	addv(&text, fmt, ap);
	va_end(ap);
	strbuf_add(&line, STATUS_CLEAR, strlen(STATUS_CLEAR));
	strbuf_escape(&line, ESCAPE_TERMINAL, (struct span){text.p, text.len});
	if (line.p) {
		atomic_store(&status_shown, true);
		n = write(STDERR_FILENO, line.p, line.len);
	}
	strbuf_fini(&text);
	strbuf_fini(&line);
}

static bool is_operator(const char *list, const char *at)
{
	if (at > list && at[-1] == '<')
		at--;
	return at - list >= 8 && !memcmp(at - 8, "operator", 8);
}

/* Returns the bracket that closes the one at s; s: none does, or it is not a bracket. */
static const char *closing(const char *s)
{
	char open = *s, close = *s == '(' ? ')' : '>';
	int depth = 0;

	for (const char *p = s; *p; p++) {
		depth += *p == open;
		depth -= *p == close;
		if (!depth)
			return p;
	}
	return s;
}

size_t text_word_len(const char *list)
{
	const char *s = list;

	for (; *s && *s != ','; s++)
		if (*s == '(' || (*s == '<' && !is_operator(list, s)))
			s = closing(s);
	return s - list;
}
