/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two passes over the text. The first replaces types, innermost first, so that default arguments
 * can be compared with their expansion. The second drops the return type and abridges long lists.
 * Both distinguish brackets from operators: "operator<", "->", "(4)<(5)" in an expression.
 */
#include "analyze/base/name_short.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
	NAME_MAX_SZ = 64 << 10, /* longer names, and names nested deeper, are not shortened */
	DEPTH_MAX = 100,
	ARGS_MAX = 16,
	LONG_NAME = 96, /* names up to this length are not abridged */
	LONG_LIST = 48,
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool has(struct span s, size_t at, const char *text)
{
	size_t n = strlen(text);

	return at <= s.len && s.len - at >= n && !memcmp(s.p + at, text, n);
}

static bool has_word(struct span s, size_t at)
{
	return at < s.len && is_word(s.p[at]);
}

static bool span_is(struct span s, const char *text)
{
	return s.len == strlen(text) && has(s, 0, text);
}

static bool ends_with(struct span s, const char *end)
{
	size_t n = strlen(end);

	return s.len >= n && !memcmp(s.p + s.len - n, end, n);
}

static void add(struct strbuf *b, struct span s)
{
	strbuf_add(b, s.p, s.len);
}

/* ---- tokens */

/* Length of the operator symbol after "operator" at `at`. 0: a conversion operator or a word
 * (new). */
static size_t operator_sign(struct span s, size_t at)
{
	static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "()", "[]", "->",
					    "<<",  ">>",  "<=",	 ">=",	"<",  ">"};

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (has(s, at, signs[i]))
			return strlen(signs[i]);
	return 0;
}

/*
 * Length of the non-bracket token at `at`: a word ("operator" includes its symbol), "->", or any
 * other byte. 0: a bracket. in_parens: within "(...)", where '<' after ')' is a comparison.
 */
static size_t plain_token(struct span s, size_t at, bool in_parens)
{
	size_t n = 0;

	while (at + n < s.len && is_word(s.p[at + n]))
		n++;
	if (n)
		return span_is((struct span){s.p + at, n}, "operator")
			       ? n + operator_sign(s, at + n)
			       : n;
	if (has(s, at, "->"))
		return 2;
	if (in_parens && s.p[at] == '<' && at && (s.p[at - 1] == ')' || s.p[at - 1] == ' '))
		return 1;
	if (in_parens && s.p[at] == '>')
		return 1;
	return strchr("<>()[]{}", s.p[at]) && s.p[at] ? 0 : 1;
}

static char closing(char open)
{
	switch (open) {
	case '<':
		return '>';
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	default:
		return 0;
	}
}

/* ---- first pass: types */

/* Default template arguments, dropped from the end while they match. They follow the first
 * argument, or the first two. $0 and $1 stand for those. */
static const struct template_defaults {
	const char *name, *args[3];
} templates[] = {
	{"basic_string", {"std::char_traits<$0>", "std::allocator<$0>"}},
	{"basic_string_view", {"std::char_traits<$0>"}},
	{"basic_ostream", {"std::char_traits<$0>"}},
	{"basic_istream", {"std::char_traits<$0>"}},
	{"basic_iostream", {"std::char_traits<$0>"}},
	{"basic_ios", {"std::char_traits<$0>"}},
	{"basic_streambuf", {"std::char_traits<$0>"}},
	{"basic_filebuf", {"std::char_traits<$0>"}},
	{"basic_ifstream", {"std::char_traits<$0>"}},
	{"basic_ofstream", {"std::char_traits<$0>"}},
	{"basic_fstream", {"std::char_traits<$0>"}},
	{"basic_stringbuf", {"std::char_traits<$0>", "std::allocator<$0>"}},
	{"basic_istringstream", {"std::char_traits<$0>", "std::allocator<$0>"}},
	{"basic_ostringstream", {"std::char_traits<$0>", "std::allocator<$0>"}},
	{"basic_stringstream", {"std::char_traits<$0>", "std::allocator<$0>"}},
	{"istreambuf_iterator", {"std::char_traits<$0>"}},
	{"ostreambuf_iterator", {"std::char_traits<$0>"}},
	{"basic_regex", {"std::regex_traits<$0>"}},
	{"vector", {"std::allocator<$0>"}},
	{"deque", {"std::allocator<$0>"}},
	{"list", {"std::allocator<$0>"}},
	{"forward_list", {"std::allocator<$0>"}},
	{"set", {"std::less<$0>", "std::allocator<$0>"}},
	{"multiset", {"std::less<$0>", "std::allocator<$0>"}},
	{"map", {NULL, "std::less<$0>", "std::allocator<std::pair<$0 const, $1>>"}},
	{"multimap", {NULL, "std::less<$0>", "std::allocator<std::pair<$0 const, $1>>"}},
	{"unordered_set", {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}},
	{"unordered_multiset", {"std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>"}},
	{"unique_ptr", {"std::default_delete<$0>"}},
	{"queue", {"std::deque<$0>"}},
	{"stack", {"std::deque<$0>"}},
	{"priority_queue", {"std::vector<$0>", "std::less<$0>"}},
};

/* For hash maps, after key and value type. */
static const char *const hash_map_args[] = {"std::hash<$0>", "std::equal_to<$0>",
					    "std::allocator<std::pair<$0 const, $1>>"};

/* Templates with an alias for when only the character type is left. */
static const struct {
	const char *prefix, *character, *name;
} characters[] = {
	{"basic_", "char", ""},	       {"basic_", "wchar_t", "w"},    {"basic_", "char8_t", "u8"},
	{"basic_", "char16_t", "u16"}, {"basic_", "char32_t", "u32"},
};

/* Inline namespaces in which libraries put their versions. */
static const char *const inline_scopes[] = {"__cxx11", "__1", "__2", "__ndk1", "_V2"};

struct args {
	size_t start[ARGS_MAX + 1], cnt; /* offsets in the output; the last argument ends at len */
};

static struct span arg(const struct strbuf *b, const struct args *a, size_t i, size_t end)
{
	size_t next = i + 1 < a->cnt ? a->start[i + 1] - 2 : end; /* ", " */

	return (struct span){b->p + a->start[i], next - a->start[i]};
}

/* Whether text matches the pattern. In pairs, a compiler may put "const" first. */
static bool is_default(const struct strbuf *b, const struct args *a, struct span text,
		       const char *pattern)
{
	size_t at = 0;

	for (const char *p = pattern; *p; p++) {
		struct span x = {p, 1};

		if (*p == '$') {
			x = arg(b, a, (size_t)(*++p - '0'), b->len);
			if (!strncmp(p + 1, " const", 6) && has(text, at, "const ")) {
				at += 6;
				p += 6;
			}
		}
		if (text.len - at < x.len || memcmp(text.p + at, x.p, x.len))
			return false;
		at += x.len;
	}
	return at == text.len;
}

/* first: argument index of defaults[0]. */
static void drop_defaults(struct strbuf *b, struct args *a, const char *const *defaults, size_t cnt,
			  size_t first)
{
	while (a->cnt > first && a->cnt <= first + cnt) {
		const char *d = defaults[a->cnt - 1 - first];

		if (!d || !is_default(b, a, arg(b, a, a->cnt - 1, b->len), d))
			return;
		b->len = a->start[--a->cnt] - 2;
	}
}

/* Replaces "std::basic_string<char" by its alias. */
static bool use_alias(struct strbuf *b, size_t name_at, struct span name, const struct args *a)
{
	struct span only = arg(b, a, 0, b->len);
	char rest[64];

	if (a->cnt != 1 || name.len >= sizeof(rest))
		return false;
	for (size_t i = 0; i < sizeof(characters) / sizeof(*characters); i++) {
		size_t n = strlen(characters[i].prefix);

		if (!has(name, 0, characters[i].prefix) || !span_is(only, characters[i].character))
			continue;
		memcpy(rest, name.p + n, name.len - n);
		rest[name.len - n] = 0;
		b->len = name_at;
		strbuf_addf(b, "%s%s", characters[i].name, rest);
		return true;
	}
	return false;
}

/* The '<' is at `open` in the output, followed by all arguments. True: the caller must omit the
 * closing '>'. */
static bool shorten_template(struct strbuf *b, size_t open, struct args *a)
{
	size_t at = open;
	struct span name;

	while (at && is_word(b->p[at - 1]))
		at--;
	name = (struct span){b->p + at, open - at};
	if (at < 5 || memcmp(b->p + at - 5, "std::", 5) || (at > 5 && is_word(b->p[at - 6])) ||
	    !a->cnt)
		return false;
	if (span_is(name, "unordered_map") || span_is(name, "unordered_multimap")) {
		drop_defaults(b, a, hash_map_args, 3, 2);
		return false;
	}
	for (size_t i = 0; i < sizeof(templates) / sizeof(*templates); i++) {
		const struct template_defaults *t = &templates[i];
		size_t skipped = !t->args[0], cnt = 0;

		if (!span_is(name, t->name))
			continue;
		while (skipped + cnt < 3 && t->args[skipped + cnt])
			cnt++;
		drop_defaults(b, a, t->args + skipped, cnt, 1 + skipped);
		return use_alias(b, at, name, a);
	}
	return false;
}

struct types {
	struct span in;
	size_t at;
	struct strbuf *out;
};

/* Length of a tag that does not help to identify the function: [abi:cxx11], or a Rust crate number
 * in hex. */
static size_t mark(struct span s, size_t at)
{
	size_t n = at + 1, hex;

	if (s.p[at] != '[' || !at || (!is_word(s.p[at - 1]) && s.p[at - 1] != ']'))
		return 0;
	if (has(s, at, "[abi:")) {
		for (n = at + 5; n < s.len && is_word(s.p[n]); n++)
			;
		return n < s.len && n > at + 5 && s.p[n] == ']' ? n + 1 - at : 0;
	}
	while (n < s.len && isxdigit((unsigned char)s.p[n]) && !isupper((unsigned char)s.p[n]))
		n++;
	hex = n - at - 1;
	return hex >= 8 && hex <= 16 && has(s, n, "]::") ? n + 1 - at : 0;
}

/* Length of an inline namespace such as "__cxx11::" after "::". */
static size_t inline_scope(const struct types *t)
{
	struct span done = {t->out->p, t->out->len};

	if (!ends_with(done, "::"))
		return 0;
	for (size_t i = 0; i < sizeof(inline_scopes) / sizeof(*inline_scopes); i++) {
		size_t n = strlen(inline_scopes[i]);

		if (has(t->in, t->at, inline_scopes[i]) && has(t->in, t->at + n, "::"))
			return n + 2;
	}
	return 0;
}

static bool types_in(struct types *t, char close, unsigned depth);

/* Processes the bracket at t->at and its contents. */
static bool types_group(struct types *t, unsigned depth)
{
	char open = t->in.p[t->at], close = closing(open);
	static const char anonymous[] = "(anonymous namespace)";

	if (!close || depth == DEPTH_MAX)
		return false;
	if (has(t->in, t->at, anonymous)) {
		strbuf_addf(t->out, "(anon)");
		t->at += sizeof(anonymous) - 1;
		return true;
	}
	strbuf_add(t->out, &open, 1);
	t->at++;
	if (!types_in(t, close, depth + 1))
		return false;
	t->at++;
	return true;
}

/* Processes text up to the bracket `close` (0: the end), which is not consumed. */
static bool types_in(struct types *t, char close, unsigned depth)
{
	size_t open = t->out->len ? t->out->len - 1 : 0;
	struct args args = {.start = {t->out->len}, .cnt = 1};
	bool many = false;

	while (!t->out->failed && t->at < t->in.len && t->in.p[t->at] != close) {
		size_t skip = mark(t->in, t->at), n;

		if (!skip && is_word(t->in.p[t->at]))
			skip = inline_scope(t);
		if (skip) {
			t->at += skip;
			continue;
		}
		n = plain_token(t->in, t->at, close == ')');
		if (!n) {
			if (!types_group(t, depth))
				return false;
			continue;
		}
		strbuf_add(t->out, t->in.p + t->at, n);
		t->at += n;
		if (close != '>' || !has(t->in, t->at - n, ", "))
			continue;
		strbuf_add(t->out, " ", 1);
		t->at++;
		many |= args.cnt == ARGS_MAX;
		if (!many)
			args.start[args.cnt++] = t->out->len;
	}
	if (!close)
		return t->at == t->in.len;
	if (t->at == t->in.len || t->out->failed)
		return false;
	if (close == '>') {
		struct span done = {t->out->p, t->out->len};

		if (t->at > 1 && !memcmp(t->in.p + t->at - 2, "> ", 2) && ends_with(done, " ") &&
		    !ends_with(done, "operator> ") && !ends_with(done, "operator>> "))
			t->out->len--;
		if (!many && t->out->len > open + 1 && shorten_template(t->out, open, &args))
			return true;
	}
	strbuf_add(t->out, &close, 1);
	return true;
}

/* ---- second pass: long lists */

/* Offset after the group at `at`. 0: the group is not closed. */
static size_t group_end(struct span s, size_t at)
{
	char open[DEPTH_MAX];
	unsigned depth = 0;

	while (at < s.len) {
		size_t n = plain_token(s, at, depth && open[depth - 1] == ')');

		if (n) {
			at += n;
			continue;
		}
		if (closing(s.p[at])) {
			if (depth == DEPTH_MAX)
				return 0;
			open[depth++] = closing(s.p[at]);
		} else if (!depth || s.p[at] != open[--depth]) {
			return 0;
		}
		at++;
		if (!depth)
			return at;
	}
	return 0;
}

/* Appends a group unchanged if it is short, otherwise with the contents of nested groups
 * replaced by "...". A list that is still too long becomes "..." itself. A lambda, "{...}",
 * keeps its word. */
static void abridge_group(struct strbuf *b, struct span g)
{
	size_t start = b->len, at = 1;

	if (g.len <= LONG_LIST + 2) {
		add(b, g);
		return;
	}
	strbuf_add(b, g.p, 1);
	while (at < g.len - 1) {
		size_t n = plain_token(g, at, *g.p == '('), end;

		if (n) {
			strbuf_add(b, g.p + at, n);
			at += n;
			continue;
		}
		end = group_end(g, at);
		if (!end)
			break;
		if (end - at <= 12) /* "{closure#0}" */
			strbuf_add(b, g.p + at, end - at);
		else
			strbuf_addf(b, "%c...%c", g.p[at], g.p[end - 1]);
		at = end;
	}
	if (at < g.len - 1 || b->len - start > LONG_LIST || b->failed) {
		b->len = start;
		strbuf_addf(b, "%c...", *g.p);
	}
	strbuf_add(b, g.p + g.len - 1, 1);
}

static bool is_keyword(struct span s, size_t end)
{
	static const char *const keywords[] = {"decltype", "noexcept", "sizeof", "alignof"};
	size_t at = end;

	while (at && is_word(s.p[at - 1]))
		at--;
	for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++)
		if (span_is((struct span){s.p + at, end - at}, keywords[i]))
			return true;
	return false;
}

/* Bytes before the name. Only functions made from templates, which end in '>', have a return
 * type. */
static size_t return_type(struct span s)
{
	size_t name = 0, at = 0;

	while (at < s.len) {
		size_t n = plain_token(s, at, false), end;

		if (n) {
			if (has(s, at, "operator") && !has_word(s, at + 8))
				return name; /* the rest may contain spaces */
			at += n;
			if (s.p[at - 1] == ' ')
				name = at;
			continue;
		}
		if (s.p[at] == '(' && at && s.p[at - 1] != ' ' && s.p[at - 1] != ':' &&
		    !is_keyword(s, at))
			return s.p[at - 1] == '>' ? name : 0;
		if (has(s, at, "(*") || has(s, at, "(&"))
			return 0; /* returns a pointer to a function */
		end = group_end(s, at);
		if (!end)
			return 0;
		at = end;
	}
	return 0;
}

static void abridge(struct strbuf *b, struct span s)
{
	static const char *const thunks[] = {" to ", " for "};
	size_t skip = return_type(s), at;

	for (size_t i = 0; i < sizeof(thunks) / sizeof(*thunks); i++)
		if (memmem(s.p, skip, thunks[i], strlen(thunks[i])))
			skip = 0;
	at = skip;
	while (at < s.len) {
		size_t n = plain_token(s, at, false), end = n ? at + n : group_end(s, at);

		if (!end)
			end = s.len;
		if (n || s.len - skip <= LONG_NAME)
			strbuf_add(b, s.p + at, end - at);
		else
			abridge_group(b, (struct span){s.p + at, end - at});
		at = end;
	}
}

/* ---- Rust */

/* Removes "::h" and 16 hex digits, which distinguish Rust functions of the same name. */
static struct span without_hash(struct span s)
{
	enum { HASH = 19 };

	if (s.len <= HASH || !has(s, s.len - HASH, "::h"))
		return s;
	for (size_t i = s.len - 16; i < s.len; i++)
		if (!isxdigit((unsigned char)s.p[i]) || isupper((unsigned char)s.p[i]))
			return s;
	return (struct span){s.p, s.len - HASH};
}

/* Escapes for symbols in Rust's legacy mangling. */
static const struct {
	const char *escape, *text;
} escapes[] = {
	{"$SP$", "@"},	{"$BP$", "*"},	{"$RF$", "&"},	{"$LT$", "<"},	{"$GT$", ">"},
	{"$LP$", "("},	{"$RP$", ")"},	{"$C$", ","},	{"$u20$", " "}, {"$u22$", "\""},
	{"$u27$", "'"}, {"$u2b$", "+"}, {"$u3b$", ";"}, {"$u3d$", "="}, {"$u5b$", "["},
	{"$u5d$", "]"}, {"$u7b$", "{"}, {"$u7d$", "}"}, {"$u7e$", "~"}, {"..", "::"},
};

static void unescape(struct strbuf *b, struct span s)
{
	size_t at = 0, i;

	while (at < s.len) {
		at += has(s, at, "_$") && (!at || s.p[at - 1] == ':');
		for (i = 0; i < sizeof(escapes) / sizeof(*escapes); i++)
			if (has(s, at, escapes[i].escape))
				break;
		if (i < sizeof(escapes) / sizeof(*escapes)) {
			strbuf_addf(b, "%s", escapes[i].text);
			at += strlen(escapes[i].escape);
		} else {
			strbuf_add(b, s.p + at++, 1);
		}
	}
}

static bool is_escaped(struct span s)
{
	return memmem(s.p, s.len, "$LT$", 4) || memmem(s.p, s.len, "$u7b$", 5);
}

/* ---- the whole */

/* Whether paths or dots come before any bracket: names of Go, Java, JavaScript, Python, clones of C
 * functions. */
static bool is_foreign(struct span s)
{
	for (size_t i = 0; i < s.len && !strchr("<({", s.p[i]); i++)
		if (!s.p[i] || strchr("./;@", s.p[i]))
			return true;
	return memchr(s.p, 0, s.len) != NULL;
}

static bool shorten(struct strbuf *out, struct strbuf *work, struct span name)
{
	struct types t = {.in = name, .out = work};

	if (is_foreign(name) || !types_in(&t, 0, 0) || !work->len)
		return false;
	abridge(out, (struct span){work->p, work->len});
	return true;
}

void name_short(struct strbuf *b, struct span name)
{
	struct strbuf plain = {0}, work = {0};
	size_t start = b->len;
	struct span s = name;

	if (!name.len)
		return;
	if (name.len <= NAME_MAX_SZ) {
		s = without_hash(s);
		if (is_escaped(s)) {
			unescape(&plain, s);
			s = (struct span){plain.p, plain.len};
		}
		if (!s.len || !shorten(b, &work, s) || b->len == start) {
			b->len = start;
			add(b, s.len ? s : name);
		}
	} else {
		add(b, name);
	}
	b->failed |= plain.failed | work.failed;
	strbuf_fini(&plain);
	strbuf_fini(&work);
}
