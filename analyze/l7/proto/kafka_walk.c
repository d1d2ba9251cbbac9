/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "analyze/l7/proto/kafka_api.h"

enum { DEPTH_MAX = 8, TAGS_MAX = 256, UUID_SZ = 16 };

struct walk {
	struct kafka_found *f;
	struct l7_cursor c;
	const uint8_t *begin;
	uint64_t left; /* on the wire, from begin on */
	unsigned version;
	bool flexible;
	struct span topic; /* last name, as long as its id may follow */
};

uint64_t kafka_varint(struct l7_cursor *c)
{
	uint64_t v;

	c->cut |= !l7_varint(c, 5, &v);
	return c->cut ? 0 : v;
}

void kafka_tags(struct l7_cursor *c)
{
	uint64_t cnt = kafka_varint(c);

	if (cnt > TAGS_MAX)
		c->cut = true;
	for (uint64_t i = 0; i < cnt && !c->cut; i++) {
		kafka_varint(c);
		l7_take(c, kafka_varint(c));
	}
}

static uint64_t wire_left(const struct walk *w)
{
	uint64_t done = w->c.p - w->begin;

	return w->left > done ? w->left - done : 0;
}

static bool going(const struct walk *w)
{
	return !w->f->bad && !w->f->open && !w->c.cut;
}

/* Reads a length of `n` bytes, or a compact one. -1: null. A length larger than the message is
 * bad. */
static int64_t length(struct walk *w, unsigned n)
{
	int64_t len;

	if (w->flexible)
		len = (int64_t)kafka_varint(&w->c) - 1;
	else if (n == 2)
		len = (int16_t)l7_be(&w->c, 2);
	else
		len = (int32_t)l7_be(&w->c, 4);
	if (w->c.cut)
		return -1;
	if (len < -1 || (len > 0 && (uint64_t)len > wire_left(w)))
		w->f->bad = true;
	return w->f->bad ? -1 : len;
}

static struct span string(struct walk *w, unsigned n)
{
	int64_t len = length(w, n);

	return len > 0 ? l7_bytes(&w->c, len) : (struct span){"", 0};
}

static void add_topic(struct walk *w, struct span s, bool is_id)
{
	struct kafka_found *f = w->f;

	if (f->topic_cnt < KAFKA_TOPICS) {
		f->topics[f->topic_cnt] = s;
		f->is_id[f->topic_cnt] = is_id;
	}
	f->topic_cnt++;
}

static void topic_name(struct walk *w)
{
	struct span s = string(w, 2);

	w->topic = s;
	if (s.len)
		add_topic(w, s, false);
}

static void topic_id(struct walk *w)
{
	static const char none[UUID_SZ];
	struct span id = l7_bytes(&w->c, UUID_SZ);

	if (w->c.cut || !memcmp(id.p, none, UUID_SZ))
		return;
	if (!w->topic.len)
		add_topic(w, id, true);
	else if (w->f->learn)
		w->f->learn(w->f->ctx, id, w->topic);
	w->topic = (struct span){"", 0};
}

static void error_code(struct walk *w)
{
	int code = (int16_t)l7_be(&w->c, 2);

	if (w->c.cut)
		return;
	w->f->has_error = true;
	if (!w->f->error)
		w->f->error = code;
}

static void field(struct walk *w, char type)
{
	struct kafka_found *f = w->f;
	struct span s;

	switch (type) {
	case 'b':
		l7_take(&w->c, 1);
		break;
	case 'h':
		l7_take(&w->c, 2);
		break;
	case 'w':
		l7_take(&w->c, 4);
		break;
	case 'q':
		l7_take(&w->c, 8);
		break;
	case 'u':
		l7_take(&w->c, UUID_SZ);
		break;
	case 's':
		string(w, 2);
		break;
	case 'y':
		string(w, 4);
		break;
	case 'T':
		topic_name(w);
		break;
	case 'U':
		topic_id(w);
		break;
	case 'E':
		error_code(w);
		break;
	case 'A':
		f->acks = (int16_t)l7_be(&w->c, 2);
		f->has_acks = !w->c.cut;
		break;
	case 'G':
		s = string(w, 2);
		if (!f->group.len)
			f->group = s;
		break;
	case 'M':
		s = string(w, 2);
		if (!f->message.len && f->error)
			f->message = s;
		break;
	case '.':
		f->open = true;
		break;
	}
}

static unsigned number(const char **p)
{
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9'; (*p)++)
		n = n * 10 + (**p - '0');
	return n;
}

/* Parses the versions of a word, at *p after its letter, and moves *p to the next word. */
static bool in_version(const char **p, unsigned version)
{
	unsigned from = number(p), to = 255;

	if (**p == '-') {
		(*p)++;
		to = number(p);
	}
	while (**p == ' ')
		(*p)++;
	return version >= from && version <= to;
}

static bool opens(char ch)
{
	return ch == '[' || ch == '<';
}

static bool closes(char ch)
{
	return ch == ']' || ch == '>';
}

/* Returns the position after the bracket that closes the array at p. */
static const char *behind(const char *p)
{
	for (unsigned depth = 1; *p && depth; p++)
		depth += opens(*p) - closes(*p);
	while (*p == ' ')
		p++;
	return p;
}

/* Walks the fields of one struct, or a bare value. */
static void walk_struct(struct walk *w, const char *p, unsigned depth, bool bare)
{
	if (depth > DEPTH_MAX)
		w->f->bad = true;
	while (*p && !closes(*p) && going(w)) {
		char type = *p++;
		bool here = in_version(&p, w->version);
		int64_t cnt;

		if (!opens(type)) {
			if (here)
				field(w, type);
			continue;
		}
		cnt = here ? length(w, 4) : 0;
		for (int64_t i = 0; i < cnt && going(w); i++) {
			w->topic = (struct span){"", 0};
			walk_struct(w, p, depth + 1, type == '<');
		}
		p = behind(p);
	}
	if (w->flexible && !bare && going(w))
		kafka_tags(&w->c);
}

void kafka_walk(struct kafka_found *f, struct l7_cursor c, uint64_t left, const char *fields,
		unsigned version, bool flexible)
{
	struct walk w = {.f = f,
			 .c = c,
			 .begin = c.p,
			 .left = left,
			 .version = version,
			 .flexible = flexible,
			 .topic = {"", 0}};

	walk_struct(&w, fields, 0, false);
	f->whole = going(&w);
	f->end = w.c.p;
}
