/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Keeps obrec's reading thread off the CPU that most records come from: there a target is at work,
 * which would wait whenever obrec reads what it did. A machine whose CPUs are all busy has no other
 * place where obrec costs the target nothing.
 */
#ifndef RECORD_ASIDE_H
#define RECORD_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

struct aside;

/* For `cpus` rings; NULL where there is no choice (one CPU allowed, or no memory). */
struct aside *aside__new(unsigned cpus);
void aside__free(struct aside *a);

/* Time for a look? */
bool aside__due(const struct aside *a, uint64_t now_ns);

/* From the thread itself: taken[cpu] bytes were read of each CPU's ring so far. `late`: some were
 * read so late that they are better read on any CPU for a while. */
void aside__look(struct aside *a, const uint64_t *taken, bool late, uint64_t now_ns);

/* The CPU to keep off when it was `now` (-1: none) and each CPU's ring has brought so much since.
 */
int aside_choose(const uint64_t *brought, unsigned cpus, int now);

#endif
