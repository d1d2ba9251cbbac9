/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sample kinds of all captures. Kinds with the same name are one kind, whatever their numbers.
 * Those of kinds.def come first, then those named in archive schemas, then kind-N in order of
 * appearance. Indexes are below SAMPLE_KIND_CNT; further kinds share the index of "kind-other".
 */
#ifndef ANALYZE_SAMPLE_KINDS_H
#define ANALYZE_SAMPLE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_KIND_CNT 64

struct named_kind {
	char name[32], title[64], unit[16], count_name[16]; /* as in kinds.def; safe to print */
};

struct sample_kinds;

/* Contains the kinds of kinds.def. */
int sample_kinds__new(struct sample_kinds **k);
/* Adds the kinds named in a capture's schema.json; NULL: none. 0 or -ENOMEM. */
int sample_kinds__schema(struct sample_kinds *k, uint32_t capture, const char *text);
void sample_kinds__free(struct sample_kinds *k);

/* Index of the kind with this number in a capture. */
uint32_t sample_kinds__index(struct sample_kinds *k, uint32_t capture, uint32_t number);
size_t sample_kinds__cnt(const struct sample_kinds *k);
const struct named_kind *sample_kinds__get(const struct sample_kinds *k, uint32_t index);
/* Index of a name; -1: not found. */
int sample_kinds__find(const struct sample_kinds *k, const char *name, size_t len);

#endif
