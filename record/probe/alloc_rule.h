/* SPDX-License-Identifier: BSD-2-Clause */
/* What a sampled allocation stands for, and what is a leak. Pure arithmetic. */
#ifndef RECORD_ALLOC_RULE_H
#define RECORD_ALLOC_RULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a sampled call of `size` bytes (at least 1) stands for, on average: the inverse of
 * its probability 1-exp(-size/rate), times its size. rate 0: each is sampled. */
double alloc_weight(uint64_t size, uint64_t rate);
/* The rate that is in effect if runtime.MemProfileRate of a Go program is `value`. */
uint64_t alloc_go_rate(uint64_t value);
/* Bytes up to the first sample; u: uniform in (0, 1]. */
double alloc_first_gap(double u, uint64_t rate);
/* Rounds up or down at random, on average to x; u: uniform in [0, 1). */
uint64_t alloc_round(double x, double u);

/* A sampled allocation of a process. */
struct alloc_life {
	uint64_t birth_ns, freed_ns; /* 0: in use at the end */
	uint64_t stack;
	uint32_t near;	/* hash of the frames nearest to it */
	uint32_t entry; /* the caller's */
	enum { ALLOC_UNDECIDED, ALLOC_NO_LEAK, ALLOC_LEAK } verdict;
};

/*
 * Sets the verdicts of a process's allocations: those that are in use at the end, and those that
 * were freed when they were older than age_ns. Sorts them by stack.
 *
 * A stack leaks if
 *
 * - at least ALLOC_LEAK_MIN of its allocations are in use and older than age_ns ("old"),
 * - these are at least twice as many as there were before any time when their number fell by half,
 * - the number of old ones grew in the last quarter of the time since the first of these became
 *   old: by 1/16 of what it is at the end (growing evenly, it would have grown by 1/4), and by four
 *   standard deviations of what would be left by chance of a number that does not grow, as many as
 *   were added and removed.
 *
 * So a cache that has filled up and stopped does not leak, nor one whose entries are replaced,
 * whether the oldest or others, nor what is collected and then freed at once, again and again. A
 * cache that fills up for more than 3/4 of the time does, as what is to come is not known.
 *
 * A stack of less than ALLOC_SURE allocations that does not leak is not decided by that: it may be
 * one of many that do together. Undecided ones are taken together where the nearest frames are the
 * same, and what is then left in the process, if that is at least ALLOC_SURE.
 *
 * Returns 0, or -ENOMEM: nothing leaks.
 */
enum { ALLOC_LEAK_MIN = 4, ALLOC_SURE = 16 };
int alloc_judge(struct alloc_life *lives, size_t cnt, uint64_t end_ns, uint64_t age_ns);

#endif
