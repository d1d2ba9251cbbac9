/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values that are secret by their names, in whatever text: parameters of queries and forms
 * (name=value; names may be percent-encoded, or the last part of a[b]), fields of JSON ("name":
 * value; within strings as \"name\" too, objects and arrays whole), fields of multipart forms
 * (RFC 7578), and the password of a URL (RFC 3986 3.2.1).
 */
#ifndef FORMAT_REDACT_FIELDS_H
#define FORMAT_REDACT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct redact_call;

enum field_kind {
	FIELD_NONE,
	FIELD_EQUALS, /* behind name=, nothing yet */
	FIELD_QUERY,
	FIELD_FORM,
	FIELD_COLON, /* behind "name":, nothing yet */
	FIELD_STRING,
	FIELD_SCALAR,
	FIELD_NEST, /* an object or array */
	FIELD_USER, /* of a URL, longer than is carried: a password may follow */
	FIELD_USERINFO,
	FIELD_PART_HEAD, /* of a multipart form */
	FIELD_PART,
};

/* The value at hand. */
struct redact_field {
	uint8_t kind;	 /* enum field_kind */
	bool head;	 /* the call begins in the head of an HTTP/1 message */
	bool form;	 /* it is of one, FIELD_EQUALS */
	bool quoted;	 /* FIELD_NEST: within a string */
	uint8_t quote;	 /* which ends the string, or a parameter within single quotes */
	uint8_t level;	 /* backslashes before the quotes of this JSON: it is in a string itself */
	uint8_t slashes; /* met in a row */
	uint8_t line;	 /* FIELD_PART: 1 at a line's start, 2 behind its '-' */
	uint16_t depth;
};

/* Masks them in a call, whose first hit (redact_hits.h) is at `hit`, or at its end. Returns where
 * an unfinished name begins, else its end. */
size_t redact_fields(struct redact_field *f, struct redact_call *c, size_t hit);

/* May the name that an earlier call's last bytes began go on in this one? */
bool redact_fields_go_on(const uint8_t *carry, size_t carry_sz, const struct redact_call *c);

/* What to write instead of a value's next byte; f->kind FIELD_NONE: it was the last. */
uint8_t redact_field_byte(struct redact_field *f, uint8_t ch);

#endif
