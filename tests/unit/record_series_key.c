// SPDX-License-Identifier: BSD-2-Clause
/* Texts of keys: no name can look like two parts, and nothing is written beyond the end. */
#include <string.h>

#include "record/probe/series_key.h"
#include "check.h"

static void comm_is(const char *name, const char *expected)
{
	uint64_t part[METRIC_KEY_PARTS] = {0};
	char text[64];

	memcpy(part, name, strlen(name));
	series_key_comm(NULL, part, text, sizeof(text));
	CHECK(!strcmp(text, expected), "is: %s", text);
}

static void test_names(void)
{
	comm_is("redis", "redis");
	comm_is("", "");
	comm_is("a\tb\nc", "a?b?c");
	comm_is("\x1b[31m\x7f", "?[31m?");
	comm_is("caf\xc3\xa9", "caf\xc3\xa9");
	comm_is("sixteen letters.and more", "sixteen letters.");
}

static void test_parts(void)
{
	char text[16];

	series_key_set(text, sizeof(text), "x\ty");
	CHECK(!strcmp(text, "x?y"));
	series_key_add(text, sizeof(text), "a\tb");
	CHECK(!strcmp(text, "x?y\ta?b"));
	series_key_add(text, sizeof(text), "");
	CHECK(!strcmp(text, "x?y\ta?b\t"));
	series_key_add(text, sizeof(text), "0123456789");
	CHECK(!strcmp(text, "x?y\ta?b\t\t012345"));
	series_key_add(text, sizeof(text), "more");
	CHECK(!strcmp(text, "x?y\ta?b\t\t012345"));
	series_key_set(text, sizeof(text), "longer than the text");
	CHECK(!strcmp(text, "longer than the"));
}

int main(void)
{
	test_names();
	test_parts();
	return failed;
}
