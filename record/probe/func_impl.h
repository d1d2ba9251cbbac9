/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by the files of the probe func (probe_func.c). */
#ifndef RECORD_FUNC_IMPL_H
#define RECORD_FUNC_IMPL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "bpf/probe/func.h"
#include "record/probe/func_operand.h"
#include "record/probe/probe.h"
#include "record/probe/probed_files.h"

struct parcel;

enum { FUNC_SYMBOL_MAX = 128 }; /* functions of the kernel with longer names are not attached */

extern const struct probe probe_func_entry;

/* State of the probe. */
struct funcs {
	struct probed_files files;
	struct func_operand operand[RECORD_OPERANDS]; /* from prepare on */
	struct func_name *names;		      /* of FUNC_MAX functions and USDT probes */
	uint32_t cnt, usdt_cnt; /* of functions and USDT probes; of places of the latter */
	/* Files that exist already, and the operands that name them. */
	struct func_meant **meant;
	size_t meant_cnt;
	int missing[RECORD_OPERANDS]; /* errors: paths */
	bool file_seen[RECORD_OPERANDS], found[RECORD_OPERANDS];
	bool indirect[RECORD_OPERANDS]; /* name indirect functions */
	unsigned late;			/* files that are still being read */
	int err; /* of the first file that could not be attached before the start */
	char slot[FUNC_SLOTS][FUNC_SYMBOL_MAX]; /* functions of the kernel (func_slots.h) */
	unsigned slot_cnt;
};

static inline struct funcs *func_state(const struct probe_env *env)
{
	return probe_env__state(env, &probe_func_entry);
}

/* Ways to attach, in the order of `variants`. */
enum func_way { FUNC_KPROBE_MULTI, FUNC_MULTI, FUNC_FENTRY, FUNC_EACH };

/* Whether a link attaches many places; else places are told by their code. */
static inline bool func_is_multi(const struct probe_env *env)
{
	return probe_env__variant(env, &probe_func_entry) <= FUNC_MULTI;
}

/* ---- func_attach.c */

/* Gives a function the next number. wants: what is recorded of it. */
bool func_attach_number(struct probe_env *env, const char *function, const char *binary,
			uint64_t wants, uint32_t *number);
/* As above; or the number that this name of the same binary has already. */
bool func_attach_number_once(struct probe_env *env, const char *function, const char *binary,
			     uint64_t wants, uint32_t *number);
/* Attaches to the functions and USDT probes in a reader's answer. operands: those that were asked
 * for. */
void func_attach_found(struct probe_env *env, struct probed_file *to, int fd, const char *path,
		       uint32_t operands, struct parcel *answer);

/* ---- func_files.c: of struct probe */

/* Call after the operands are known. */
void func_files_prepare(struct probe_env *env);
void func_files_fini(struct probe_env *env);

int func_files_attach(struct probe_env *env);
bool func_files_new(struct probe_env *env, const struct file_facts *facts, int fd,
		    const struct stat *st, const char *path);
void func_files_gone(struct probe_env *env, const struct stat *st);

#endif
