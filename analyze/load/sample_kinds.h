/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What samples are of, over all captures: kinds of the same name are one, whatever their numbers.
 * Those of kinds.def come first, then what the archives' schemas name, then kind-N as they are met.
 * Kinds have indexes below SAMPLE_KIND_CNT; what is beyond is one kind, "kind-other".
 */
#ifndef ANALYZE_SAMPLE_KINDS_H
#define ANALYZE_SAMPLE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_KIND_CNT 64

struct named_kind {
	char name[32], title[64], unit[16], count_name[16]; /* kinds.def; all safe to print */
};

struct sample_kinds;

/* With those of kinds.def. */
int sample_kinds__new(struct sample_kinds **k);
/* Adds what a capture's schema.json names; NULL: nothing. 0 or -ENOMEM. */
int sample_kinds__schema(struct sample_kinds *k, uint32_t capture, const char *text);
void sample_kinds__free(struct sample_kinds *k);

/* The index of a sample's kind. */
uint32_t sample_kinds__index(struct sample_kinds *k, uint32_t capture, uint32_t number);
size_t sample_kinds__cnt(const struct sample_kinds *k);
const struct named_kind *sample_kinds__get(const struct sample_kinds *k, uint32_t index);
/* By name; -1: there is none. */
int sample_kinds__find(const struct sample_kinds *k, const char *name, size_t len);

#endif
