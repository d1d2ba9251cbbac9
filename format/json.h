/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The archive's JSON members. tar has no payload checksum, so each text ends with a seal: its last
 * key is "crc32", the hexadecimal CRC-32 (as in zlib) of all bytes before the comma that precedes
 * the key.
 */
#ifndef FORMAT_JSON_H
#define FORMAT_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compact text of an object with seal and newline; malloc'ed; *len without the NUL. NULL: no
 * memory. */
char *json_seal(struct json_object *o, size_t *len);

/* Parses untrusted text with at most 16 levels; NULL when it is not exactly one object. */
struct json_object *json_parse(const char *text, size_t len);

/* Whether a member's text ends with a valid seal; does not check that it is JSON. */
bool json_sealed(const char *text, size_t len);

/* The value; NULL when o is NULL or has no such key or one of another type. */
struct json_object *json_get(struct json_object *o, const char *key, enum json_type type);
/* As json_get(); "" or 0 when there is no value. Negative numbers become 0. */
const char *json_string(struct json_object *o, const char *key);
uint64_t json_u64(struct json_object *o, const char *key);

/* Text form of a uuid, and back. */
enum { UUID_TEXT_SZ = 37 };
void uuid_put(char text[UUID_TEXT_SZ], const uint8_t uuid[16]);
bool uuid_get(const char *text, uint8_t uuid[16]);

uint32_t crc32_of(const void *p, size_t len);

#endif
