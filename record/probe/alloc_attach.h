/* SPDX-License-Identifier: BSD-2-Clause */
/* Files with allocators, and the uprobes in them: attached all the time, or for a share of it. */
#ifndef RECORD_ALLOC_ATTACH_H
#define RECORD_ALLOC_ATTACH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct alloc_files;
struct file_facts;
struct probe_env;

enum alloc_how { ALLOC_BY_SESSION, ALLOC_BY_MULTI, ALLOC_BY_EACH };

/* Before loading: chooses programs. follow: also attaches to returns and free(). env is borrowed.
 */
int alloc_files__new(struct alloc_files **f, struct probe_env *env, enum alloc_how how,
		     bool follow);
void alloc_files__free(struct alloc_files *f);

/* As `file` and `file_gone` of struct probe. */
bool alloc_files__add(struct alloc_files *f, const struct file_facts *facts, int fd,
		      const struct stat *st, const char *path);
void alloc_files__gone(struct alloc_files *f, const struct stat *st);
/* Attaches in the system's libraries and the command, until the end. */
void alloc_files__system(struct alloc_files *f);

/* The uprobes are to be attached for 1/2^level of the time. */
void alloc_files__level(struct alloc_files *f, unsigned level);
/* Attaches or detaches if it is time. */
void alloc_files__cycle(struct alloc_files *f, uint64_t now_ns);

#endif
