/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * From archives to tables. A loader is one `const struct loader` and one line in loaders.def: it
 * says which streams it reads and which tables it fills, and runs when one of them is wanted.
 */
#ifndef ANALYZE_LOAD_H
#define ANALYZE_LOAD_H

#include "analyze/base/name_short.h"
#include "analyze/load/binaries.h"
#include "analyze/load/captures.h"
#include "analyze/load/frames.h"
#include "analyze/load/message_filter.h"
#include "analyze/load/sample_kinds.h"
#include "analyze/load/stacks.h"
#include "analyze/store/store.h"
#include "analyze/base/strings.h"
#include "analyze/load/weights.h"

/* A point in time of --from, --to. */
struct moment {
	bool set;
	bool relative; /* to each capture's start */
	bool of_day;   /* to local midnight before each capture's start */
	uint64_t ns;
};

struct services;
struct l7_arg;

struct traffic_opts {
	const struct services *services; /* NULL: none; lives as long as the load */
	struct message_filter filter;	 /* of messages, in tables and figures */
	uint64_t interval_ns;		 /* figures tell intervals of this length apart; 0: none */
	uint64_t max_messages;		 /* rows of the table message; 0: all */
	const struct l7_arg *args; /* of Thrift calls, shown in detail; live as long as the load */
	size_t arg_cnt;
};

#define LOAD_KIND_LISTS 8

struct load_opts {
	struct symbolizer_opts symbols;
	unsigned jobs;	/* 0: all CPUs */
	const char *kind_lists[LOAD_KIND_LISTS]; /* --kind: comma lists of names; none: all */
	size_t kind_list_cnt;
	uint64_t kinds; /* what they name, as bits of sample_kinds.h; 0: all. Set by load__init */
	struct moment from, to;
	bool weights;	/* add samples up in memory: load.weights */
	bool by_thread; /* weights tell threads apart */
	struct traffic_opts traffic;
	enum name_style names; /* for those who show functions */
};

/* Everything loaders share. Borrowed parts live until load__fini. */
struct load {
	struct captures *captures;
	struct store *store;
	struct load_opts opts;
	struct name_set wanted; /* tables; empty: none */
	struct sample_kinds *kinds;
	struct event_tables *events;
	/* The row of the stack that an archive's pair of ids names; set while stacks are loaded,
	 * else NULL. */
	int64_t (*stack_row)(struct load *l, uint32_t capture, uint32_t user, uint32_t kernel);
	void *stack_state;
	/* in memory, filled by load_profile.c */
	struct strings *strings;
	struct binaries *binaries;
	struct stacks *stacks;
	struct frames *frames;
	struct weights *weights;
};

struct loader {
	const char *const *streams, *const *tables; /* NULL-terminated */
	const char *const *needs;		    /* tables it reads itself; NULL: none */
	bool (*wanted)(const struct load *l); /* of tables that are not in the list; NULL: none */
	int (*need)(struct load *l);	      /* the same of needs */
	int (*begin)(struct load *l, void **state);
	/* Rows of one kind, from any of its streams: one call at a time, in the archive's order. */
	int (*rows)(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
		    const void *rows, size_t cnt);
	int (*finish)(struct load *l, void *state);
	void (*free)(void *state);
};

int load__init(struct load *l, struct captures *captures, struct store *store,
	       const struct load_opts *opts);
void load__fini(struct load *l);

/* Fills the wanted tables and, with opts.weights, the model in memory. What is damaged is left out
 * and can be seen in captures_damaged(). 0 or negative errno, reported. */
int load__run(struct load *l);

bool load__wants(const struct load *l, const char *table);

/* Where --from and --to lie for one capture, CLOCK_REALTIME: {0, UINT64_MAX} when not set. */
void load__span(const struct load *l, size_t capture, uint64_t span[2]);

/* From a loader's rows(): all that was asked for is there; what follows is not read. */
#define LOAD_ENOUGH (-ECANCELED)

#define LOADER(name) extern const struct loader load_##name##_entry;
#include "analyze/load/loaders.def"
#undef LOADER

#endif
