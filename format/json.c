/* SPDX-License-Identifier: BSD-2-Clause */
#include "format/json.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 16 };

/* ,"crc32":"89abcdef"}\n */
#define SEAL ",\"crc32\":\"%08x\"}\n"
enum { SEAL_LEN = 21 };

static uint32_t crc_table[256];

/* Reflected polynomial 0xedb88320 (ISO 3309, as in zlib). */
static void crc_table_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? 0xedb88320 ^ c >> 1 : c >> 1;
		crc_table[i] = c;
	}
}

uint32_t crc32_of(const void *p, size_t len)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint32_t crc = 0xffffffff;

	pthread_once(&once, crc_table_make);
	for (const uint8_t *b = p; len--; b++)
		crc = crc_table[(crc ^ *b) & 255] ^ crc >> 8;
	return ~crc;
}

char *json_seal(struct json_object *o, size_t *len)
{
	const char *text;
	size_t body;
	char *sealed;

	json_object_object_del(o, "crc32");
	if (json_object_object_length(o) == 0)
		return NULL; /* nothing to seal; no member is empty */
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
							 JSON_C_TO_STRING_NOSLASHESCAPE);
	if (!text)
		return NULL;
	body = strlen(text) - 1; /* without the last brace */
	sealed = malloc(body + SEAL_LEN + 1);
	if (!sealed)
		return NULL;
	memcpy(sealed, text, body);
	snprintf(sealed + body, SEAL_LEN + 1, SEAL, crc32_of(sealed, body));
	*len = body + SEAL_LEN;
	return sealed;
}

struct json_object *json_parse(const char *text, size_t len)
{
	struct json_tokener *t;
	struct json_object *o;
	size_t end;

	if (len > INT_MAX || memchr(text, 0, len))
		return NULL;
	t = json_tokener_new_ex(DEPTH_MAX);
	if (!t)
		return NULL;
	o = json_tokener_parse_ex(t, text, len);
	end = json_tokener_get_parse_end(t);
	while (end < len && strchr(" \t\r\n", text[end]))
		end++;
	if (o && (json_tokener_get_error(t) != json_tokener_success || end != len ||
		  !json_object_is_type(o, json_type_object))) {
		json_object_put(o);
		o = NULL;
	}
	json_tokener_free(t);
	return o;
}

bool json_sealed(const char *text, size_t len)
{
	char seal[SEAL_LEN + 1];

	if (len <= SEAL_LEN)
		return false;
	snprintf(seal, sizeof(seal), SEAL, crc32_of(text, len - SEAL_LEN));
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
	return true;
#endif
	return !memcmp(seal, text + len - SEAL_LEN, SEAL_LEN);
}

struct json_object *json_get(struct json_object *o, const char *key, enum json_type type)
{
	struct json_object *v;

	if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &v) ||
	    !json_object_is_type(v, type))
		return NULL;
	return v;
}

const char *json_string(struct json_object *o, const char *key)
{
	struct json_object *v = json_get(o, key, json_type_string);

	return v ? json_object_get_string(v) : "";
}

uint64_t json_u64(struct json_object *o, const char *key)
{
	struct json_object *v = json_get(o, key, json_type_int);

	return v ? json_object_get_uint64(v) : 0; /* below zero: 0 */
}

void uuid_put(char text[UUID_TEXT_SZ], const uint8_t u[16])
{
	snprintf(text, UUID_TEXT_SZ,
		 "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
		 u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
		 u[15]);
}

bool uuid_get(const char *text, uint8_t uuid[16])
{
	char again[UUID_TEXT_SZ];
	const char *p = text;

	for (unsigned i = 0; i < 16; i++, p += 2) {
		unsigned byte;

		p += *p == '-';
		if (strspn(p, "0123456789abcdef") < 2 || sscanf(p, "%2x", &byte) != 1)
			return false;
		uuid[i] = byte;
	}
	uuid_put(again, uuid);
	return !strcmp(again, text);
}
