/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/probe/series_key.h"

#include <stdio.h>
#include <string.h>

#include "bpf/wire.h"
#include "format/text.h"

void series_key_clean(char *name)
{
	for (; *name; name++)
		if ((unsigned char)*name < ' ' || *name == 0x7f)
			*name = '?';
}

void series_key_set(char *text, size_t sz, const char *part)
{
	snprintf(text, sz, "%s", part);
	series_key_clean(text);
}

void series_key_add(char *text, size_t sz, const char *part)
{
	size_t len = strlen(text);

	if (len + 1 >= sz)
		return;
	text[len] = '\t';
	series_key_set(text + len + 1, sz - len - 1, part);
}

void series_key_comm(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		     size_t sz)
{
	char comm[WIRE_COMM_LEN + 1];

	snprintf(comm, sizeof(comm), "%.*s", WIRE_COMM_LEN, (const char *)part);
	series_key_set(text, sz, comm);
}

void series_key_error(struct probe_env *env, const uint64_t part[METRIC_KEY_PARTS], char *text,
		      size_t sz)
{
	char name[24];

	series_key_comm(env, part, text, sz);
	series_key_add(text, sz, format_errno(name, part[METRIC_PART_ERROR]));
}
