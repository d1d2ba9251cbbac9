/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which samples are shown, and which part of their stacks: conditions on the thread, and on the
 * functions of the stack. Every output of samples gets them through load_profile.c and
 * stack_view.h, which apply this.
 */
#ifndef ANALYZE_SAMPLE_FILTER_H
#define ANALYZE_SAMPLE_FILTER_H

#include <regex.h>
#include <stdbool.h>
#include <stdint.h>

#include "format/text.h"

/* NULL: no condition. */
struct sample_filter {
	const char *pid, *comm, *thread, *exe, *cgroup; /* lists of patterns.h */
	regex_t *focus, *ignore; /* a function of the stack matches; none does. Owned */
	const char *focus_text, *ignore_text;
	const char *callers, *callees; /* a function, as pattern: only this side of its call */
};

void sample_filter_fini(struct sample_filter *f);
/* Compiles an extended regular expression. 0, -ENOMEM, or -EINVAL and the reason in `why`. */
int sample_filter_compile(regex_t **re, const char *text, char *why, size_t sz);

bool sample_filter_by_thread(const struct sample_filter *f);
bool sample_filter_by_stack(const struct sample_filter *f);
bool sample_filter_any(const struct sample_filter *f); /* either */
/* Appends the conditions as options: "--comm redis* --focus read". */
void sample_filter_text(const struct sample_filter *f, struct strbuf *b);

struct thread_facts {
	const char *comm, *process, *exe, *cgroup; /* NULL: not known */
	uint64_t tid, pid;
};
bool sample_filter_wants_thread(const struct sample_filter *f, const struct thread_facts *t);

/* Conditions that a function's name meets, as bits. */
enum { NAME_FOCUS = 1, NAME_IGNORE = 2, NAME_CALLERS = 4, NAME_CALLEES = 8 };
unsigned sample_filter_name(const struct sample_filter *f, const char *name);

/* The part of a stack that is shown. first: counted from the leaf. */
struct stack_cut {
	uint32_t first, cnt;
	bool drop; /* the sample is not shown */
};
/* names: sample_filter_name() of the functions of the stack, leaf first. */
struct stack_cut sample_filter_cut(const struct sample_filter *f, const uint8_t *names,
				   uint32_t cnt);

#endif
