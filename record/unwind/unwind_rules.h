/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of rules, numbered in order of insertion, limited to what a row's 16 bits can address. */
#ifndef RECORD_UNWIND_RULES_H
#define RECORD_UNWIND_RULES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/unwind.h"

#define RULE_ID_NONE 0 /* CFA_NONE and CFA_BAD are in every set */
#define RULE_ID_BAD 1

struct rule_set {
	struct rule *v;
	size_t cnt, cap;
	uint32_t *buckets; /* number + 1 */
	size_t bucket_cnt;
};

int rule_set__init(struct rule_set *s); /* 0, -ENOMEM */
void rule_set__fini(struct rule_set *s);
/* Gets the number of a rule; RULE_ID_BAD if the set is full. Returns 0 or -ENOMEM. */
int rule_set__intern(struct rule_set *s, const struct rule *rule, uint32_t *id);
/* Ends interning; the caller owns the rules. */
struct rule *rule_set__take(struct rule_set *s);

#endif
