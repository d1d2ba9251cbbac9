/* SPDX-License-Identifier: BSD-2-Clause */
/* The speedscope writer, read back as JSON. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "analyze_profile.h"

static json_object *get(json_object *o, const char *key)
{
	json_object *v;

	assert(json_object_object_get_ex(o, key, &v));
	return v;
}

static const char *string(json_object *o, const char *key)
{
	return json_object_get_string(get(o, key));
}

int main(void)
{
	char text[16384] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");
	json_object *all, *profile, *frames, *samples, *weights;
	uint64_t sum = 0;

	assert(out && !feed_profile(&profile_speedscope, out));
	fclose(out);
	all = json_tokener_parse(text);
	assert(all);
	assert(!strcmp(string(all, "name"), "demo \"quoted\""));
	profile = json_object_array_get_idx(get(all, "profiles"), 0);
	frames = get(get(all, "shared"), "frames");
	samples = get(profile, "samples");
	weights = get(profile, "weights");
	assert(!strcmp(string(profile, "type"), "sampled"));
	assert(!strcmp(string(profile, "unit"), "nanoseconds"));
	assert(json_object_array_length(samples) == 4 && json_object_array_length(weights) == 4);
	for (size_t i = 0; i < 4; i++) {
		json_object *stack = json_object_array_get_idx(samples, i);

		sum += json_object_get_int64(json_object_array_get_idx(weights, i));
		for (size_t k = 0; k < json_object_array_length(stack); k++)
			assert(json_object_get_uint64(json_object_array_get_idx(stack, k)) <
			       json_object_array_length(frames));
	}
	assert(sum == 65000000 && json_object_get_uint64(get(profile, "endValue")) == sum);
	assert(json_object_array_length(frames) == 6); /* root first: main, eval, step, leaf, ... */
	frames = json_object_array_get_idx(frames, 2);
	assert(!strcmp(string(frames, "name"), "step") &&
	       !strcmp(string(frames, "file"), "/src/eval.h") &&
	       json_object_get_int(get(frames, "line")) == 5);
	json_object_put(all);
	return 0;
}
