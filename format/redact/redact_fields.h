/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Masks values by their names in any text: parameters of queries and forms (name=value; names may
 * be percent-encoded, or the last part of a[b]); JSON fields ("name": value; also as \"name\"
 * inside strings; objects and arrays completely); the same with names in single quotes or none,
 * when the value is a string (GraphQL); "value" beside a "name" or "key" that names a secret, in
 * JSON and YAML; elements of XML; fields of multipart forms (RFC 7578); and the password of a URL
 * (RFC 3986 3.2.1), of HTTP also a user without one, which may be a token.
 */
#ifndef FORMAT_REDACT_FIELDS_H
#define FORMAT_REDACT_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/redact/redact_hits.h"

struct redact_call;

enum field_kind {
	FIELD_NONE,
	FIELD_EQUALS, /* directly after name= */
	FIELD_QUERY,
	FIELD_FORM,
	FIELD_COLON, /* directly after "name": */
	FIELD_BARE,  /* directly after name: */
	FIELD_REST,  /* to the end of the line */
	FIELD_STRING,
	FIELD_SCALAR,
	FIELD_NEST, /* an object or array */
	FIELD_USER, /* user of a URL, longer than the carried bytes: a password may follow */
	FIELD_USERINFO,
	FIELD_PART_HEAD, /* in the head of a multipart form's part */
	FIELD_PART,
	FIELD_ELEMENT,
};

/* The current value. */
struct redact_field {
	uint8_t kind;  /* enum field_kind */
	bool head;     /* the call starts in the head of an HTTP/1 message, or is text of a shell */
	bool form;     /* FIELD_EQUALS: the value is in such a head */
	bool quoted;   /* FIELD_NEST: inside a string */
	uint8_t quote; /* quote character that ends the string or the single-quoted parameter */
	uint8_t level; /* backslashes before quotes, when the JSON is inside a string */
	uint8_t slashes; /* consecutive backslashes */
	uint8_t line;	 /* FIELD_PART: 1 at the start of a line, 2 after a '-' there;
			  * FIELD_ELEMENT: 1 after a '<' */
	uint16_t depth;
	uint8_t pair;	/* quote, or ':' of YAML, around the last "name" of a pair whose value is
			 * secret; 0: none */
	size_t pair_at; /* where it is in the call; 0: in an earlier one */
};

/* Masks such values in a call, of which `hits` are those left. Returns the start of an unfinished
 * name, else the end of the call. */
size_t redact_fields(struct redact_field *f, struct redact_call *c, struct redact_hits hits);

/* Whether this call may continue a name that the last bytes of an earlier call started. */
bool redact_fields_go_on(const uint8_t *carry, size_t carry_sz, const struct redact_call *c);

/* Returns the replacement of a value's next byte. Afterwards f->kind FIELD_NONE: it was the last
 * one. */
uint8_t redact_field_byte(struct redact_field *f, uint8_t ch);

#endif
