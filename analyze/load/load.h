/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads archives into tables. A loader is one `const struct loader` and one line in loaders.def. It
 * names the streams it reads and the tables it fills, and runs if one of them is wanted.
 */
#ifndef ANALYZE_LOAD_H
#define ANALYZE_LOAD_H

#include "analyze/base/name_short.h"
#include "analyze/load/binaries.h"
#include "analyze/load/captures.h"
#include "analyze/load/frames.h"
#include "analyze/load/message_filter.h"
#include "analyze/load/overlap.h"
#include "analyze/load/sample_filter.h"
#include "analyze/load/sample_kinds.h"
#include "analyze/load/stacks.h"
#include "analyze/store/store.h"
#include "analyze/base/strings.h"
#include "analyze/load/weights.h"

/* Time given with --from or --to. */
struct moment {
	bool set;
	bool relative; /* relative to the start of each capture */
	bool of_day;   /* relative to local midnight before each capture's start */
	uint64_t ns;
};

struct services;
struct l7_arg;

/* What tells callers of the same name apart. */
enum caller_key {
	BY_NAME,
#define CALLER_KEY(name, help) BY_CALLER_##name,
#include "analyze/load/caller_keys.def"
};

struct traffic_opts {
	const struct services *services; /* NULL: none; must outlive the load */
	struct message_filter filter;	 /* applies to message tables and statistics */
	uint64_t interval_ns;		 /* length of intervals in statistics; 0: no intervals */
	uint64_t max_messages;		 /* maximum rows of table message; 0: all */
	const struct l7_arg *args;	 /* Thrift arguments to show; must outlive the load */
	size_t arg_cnt;
	enum caller_key by;
	uint32_t by_args; /* bit by number in args: its value tells callers apart, too */
};

#define LOAD_KIND_LISTS 8

#define SLOTS_TIMES UINT32_MAX

struct load_opts {
	struct symbolizer_opts symbols;
	unsigned jobs;				 /* 0: all CPUs */
	const char *kind_lists[LOAD_KIND_LISTS]; /* --kind: comma-separated names; none: all */
	size_t kind_list_cnt;
	uint64_t kinds; /* as bits of sample_kinds.h; 0: all. Set by load__init */
	struct moment from, to;
	struct sample_filter samples; /* which samples, of every output */
	bool weights;		      /* aggregate samples in memory: load.weights */
	bool event_stacks;	      /* stack_frame only of stacks that events name */
	bool by_thread;		      /* separate weights per thread */
	bool futex_weights;	      /* fill futex_weight; with weights, by_thread */
	bool wakers;		      /* waits with the stacks of wakers: waker_stacks.h */
	/* Separate weights by time: that many equal parts of each capture, numbered from 0;
	 * SLOTS_TIMES: by their time in ns. */
	uint32_t slots;
	struct traffic_opts traffic;
	enum name_style names; /* for output that shows functions */
};

struct run;

/* State shared by all loaders. Borrowed members must live until load__fini. */
struct load {
	struct captures *captures;
	struct store *store;
	struct load_opts opts;
	struct name_set wanted; /* table names; empty: none */
	struct sample_kinds *kinds;
	struct event_tables *events;
	/* Row of the stack with this pair of ids of an archive. Set while stacks are loaded, else
	 * NULL. */
	int64_t (*stack_row)(struct load *l, uint32_t capture, uint32_t user, uint32_t kernel);
	void *stack_state;
	/* model in memory, filled by load_profile.c */
	struct strings *strings;
	struct binaries *binaries;
	struct stacks *stacks;
	struct frames *frames;
	struct weights *weights;
	struct threads *threads; /* with by_thread or a filter of threads, else NULL */
	struct stack_cut *cuts;	 /* by stack; NULL: whole stacks. See stack_view.h */
	struct overlap *overlap; /* NULL: none */
	uint64_t samples_admitted, samples_seen; /* counts, with and without opts.samples */
	const struct run *run;			 /* NULL: not within load__run */
};

struct loader {
	const char *const *streams, *const *tables; /* NULL-terminated */
	const char *const *needs;		    /* tables it reads; NULL: none */
	bool (*wanted)(const struct load *l);	    /* for tables not in the list; NULL: none */
	int (*need)(struct load *l);		    /* likewise, for needs */
	int (*begin)(struct load *l, void **state);
	/* Takes rows of one kind from any stream of the loader. Calls are serialized and in archive
	 * order. */
	int (*rows)(struct load *l, void *state, uint32_t capture, enum rec_kind kind,
		    const void *rows, size_t cnt);
	int (*finish)(struct load *l, void *state);
	void (*free)(void *state);
	/* The stream whose rows it may take beside the rows of all others, in another thread, once
	 * all of its other streams and those of the first loader were taken; NULL: none. */
	const char *apart;
	/* Whether rows of that stream then use neither the database nor what other loaders change.
	 */
	bool (*can_be_apart)(const struct load *l);
	int (*begin_apart)(struct load *l,
			   void *state); /* before these rows; may use the database */
	bool filled_at_begin;		 /* its tables; finish only adds what was damaged */
};

/* How many may run. */
size_t load__threads(const struct load *l);

int load__init(struct load *l, struct captures *captures, struct store *store,
	       const struct load_opts *opts);
void load__fini(struct load *l);

/* Fills the wanted tables and, with opts.weights, the model in memory. Damaged data is skipped, see
 * captures_damaged(). 0 or negative errno, reported. */
int load__run(struct load *l);

/*
 * Calls meanwhile, which may read the database, when the tables for which load__is_filled() holds
 * are filled, while others are still loaded. Called only if a loader takes a stream apart. Its
 * error ends the load and must have been reported if it is -EIO.
 */
int load__run_beside(struct load *l, int (*meanwhile)(void *ctx), void *ctx);
/* Within `meanwhile`. */
bool load__is_filled(const struct load *l, const char *table);

bool load__wants(const struct load *l, const char *table);

/* Range of --from and --to in CLOCK_REALTIME for one capture; {0, UINT64_MAX} if not set. */
void load__span(const struct load *l, size_t capture, uint64_t span[2]);

/* Returned by rows() when the loader needs no more rows: the rest is not read. */
#define LOAD_ENOUGH (-ECANCELED)

#define LOADER(name) extern const struct loader load_##name##_entry;
#include "analyze/load/loaders.def"
#undef LOADER

#endif
