/* SPDX-License-Identifier: BSD-2-Clause */
/* MongoDB responses: did the command and each of its writes succeed? */
#include <inttypes.h>

#include "format/text.h"
#include "analyze/l7/proto/mongodb_message.h"

struct outcome {
	bool ok_seen, ok, failed, cursor;
	int64_t code;
	struct span code_name, text;
};

/* A write error, or a write concern error: the command itself succeeded. */
static void read_error(struct bson b, struct outcome *o)
{
	struct bson_field f;
	double v;

	o->failed = true;
	while (bson_next(&b, &f)) {
		if (l7_is(f.name, "code") && bson_number(&f, &v) && v >= INT32_MIN &&
		    v <= INT32_MAX)
			o->code = v;
		else if (l7_is(f.name, "codeName"))
			o->code_name = bson_text(&f);
		else if (l7_is(f.name, "errmsg"))
			o->text = bson_text(&f);
	}
}

static void read_field(const struct bson_field *f, struct outcome *o)
{
	struct bson inner;
	struct bson_field first;
	double v;

	if (l7_is(f->name, "ok") && bson_number(f, &v)) {
		o->ok_seen = true;
		o->ok = v == 1;
	} else if (l7_is(f->name, "cursor")) {
		o->cursor = true;
	} else if (l7_is(f->name, "code") && bson_number(f, &v) && v >= INT32_MIN &&
		   v <= INT32_MAX) {
		o->code = v;
	} else if (l7_is(f->name, "codeName")) {
		o->code_name = bson_text(f);
	} else if (l7_is(f->name, "errmsg") || l7_is(f->name, "$err")) {
		o->text = bson_text(f);
	} else if (l7_is(f->name, "writeErrors") && f->type == BSON_ARRAY) {
		bson_inner(f, &inner);
		if (!bson_next(&inner, &first) || first.type != BSON_DOCUMENT)
			return;
		bson_inner(&first, &inner);
		read_error(inner, o);
	} else if (l7_is(f->name, "writeConcernError") && f->type == BSON_DOCUMENT && !o->failed) {
		bson_inner(f, &inner);
		read_error(inner, o);
	}
}

/* Names of the codes of write errors, which come without a name. */
static const char *name_of_code(int64_t code)
{
	switch (code) {
	case 11000:
		return "DuplicateKey";
	case 121:
		return "DocumentValidationFailure";
	case 112:
		return "WriteConflict";
	case 43:
		return "CursorNotFound";
	default:
		return NULL;
	}
}

bool mongodb_outcome(struct l7_parser *parser, const struct mongodb_message *a,
		     struct l7_message *m)
{
	struct outcome o = {.code_name = {"", 0}, .text = {"", 0}};
	struct bson b = a->doc;
	struct bson_field f;
	const char *name;

	while (a->found && bson_next(&b, &f))
		read_field(&f, &o);
	if (a->op == OP_REPLY && a->flags & (CURSOR_NOT_FOUND | QUERY_FAILURE)) {
		o.failed = true;
		if (a->flags & CURSOR_NOT_FOUND)
			o.code_name = (struct span){"CursorNotFound", 14};
	} else if (a->op == OP_REPLY && !o.ok_seen && !o.text.len) {
		o.ok = o.ok_seen = true; /* documents, not the result of a command */
	}
	m->is_error = o.failed || (o.ok_seen && !o.ok);
	name = name_of_code(o.code);
	/* Results come before "ok", except for errors, where "ok" comes first. */
	if (!m->is_error && (o.ok_seen || o.cursor))
		m->status = (struct span){"OK", 2};
	else if (m->is_error && o.code_name.len)
		m->status = mongodb_bounded(o.code_name, MONGODB_NAME);
	else if (m->is_error && name)
		m->status = span_of(name);
	else if (m->is_error)
		m->status = o.code ? l7_text(parser, "%" PRId64, o.code) : (struct span){"ERR", 3};
	if (m->is_error && o.text.len)
		m->detail = l7_text(parser, "{\"code\":%" PRId64 ",\"error\":\"%s\"}", o.code,
				    l7_json(parser, o.text, 200).p);
	return b.ended || !a->short_end;
}
