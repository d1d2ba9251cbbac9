/* SPDX-License-Identifier: BSD-2-Clause */
/* A set of rules, numbered in the order they came, at most as many as a row's 16 bits can name. */
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
/* The rule's number; RULE_ID_BAD once the set is full. 0, -ENOMEM. */
int rule_set__intern(struct rule_set *s, const struct rule *rule, uint32_t *id);
/* Ends interning: the caller owns the rules. */
struct rule *rule_set__take(struct rule_set *s);

#endif
