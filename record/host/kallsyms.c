/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/kallsyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "format/clock.h"
#include "format/text.h"
#include "record/host/ksym_table.h"

#define RELOAD_NS (5ULL * 1000000000) /* a load takes about 40 ms */

struct kallsyms {
	struct obz_writer *writer;
	int symbols_fd, modules_fd;
	bool loaded;
	uint64_t loaded_ns;
	struct ksym_table table;
	uint64_t *hits; /* start addresses of the symbols written; open addressing, 0: free */
	size_t hit_cnt, hit_cap;
};

int kallsyms__new_from(struct kallsyms **out, struct obz_writer *writer, const char *symbols,
		       const char *modules)
{
	struct kallsyms *k = calloc(1, sizeof(*k));
	int err;

	if (!k)
		return -ENOMEM;
	k->writer = writer;
	k->modules_fd = modules ? open(modules, O_RDONLY | O_CLOEXEC) : -1;
	k->symbols_fd = open(symbols, O_RDONLY | O_CLOEXEC);
	err = k->symbols_fd < 0 ? -errno : ksym_table_visible(k->symbols_fd);
	if (err == -EPERM)
		message_warn("kernel symbols are hidden: set sysctl kernel.kptr_restrict to 0, or "
			     "to 1 with CAP_SYSLOG");
	else if (err)
		message_warn("%s: no kernel symbols: %s", symbols, strerror(-err));
	if (err) {
		kallsyms__free(k);
		return err;
	}
	*out = k;
	return 0;
}

int kallsyms__new(struct kallsyms **k, struct obz_writer *writer)
{
	return kallsyms__new_from(k, writer, "/proc/kallsyms", "/proc/modules");
}

void kallsyms__free(struct kallsyms *k)
{
	if (!k)
		return;
	if (k->symbols_fd >= 0)
		close(k->symbols_fd);
	if (k->modules_fd >= 0)
		close(k->modules_fd);
	ksym_table__fini(&k->table);
	free(k->hits);
	free(k);
}

static int load(struct kallsyms *k)
{
	int err;

	ksym_table__fini(&k->table); /* the old one first, so that memory holds only one */
	k->loaded = true;
	k->loaded_ns = clock_now_ns();
	err = ksym_table__load(&k->table, k->symbols_fd, k->modules_fd);
	if (!err || err == -ENOMEM)
		return err;
	message_warn("kernel symbols could not be read: %s", strerror(-err));
	return 0; /* continue without kernel symbols */
}

/* ---- set of symbols written */

/* Returns the slot of an address, or the free slot for it. */
static uint64_t *slot_of(uint64_t *hits, size_t cap, uint64_t address)
{
	size_t i = address * 0x9E3779B97F4A7C15ULL >> 20 & (cap - 1);

	while (hits[i] && hits[i] != address)
		i = (i + 1) & (cap - 1);
	return &hits[i];
}

/* Returns 1 if the address was known, 0 if it was added. */
static int note_hit(struct kallsyms *k, uint64_t address)
{
	uint64_t *slot;

	if (2 * (k->hit_cnt + 1) > k->hit_cap) {
		size_t cap = k->hit_cap ? 2 * k->hit_cap : 1024;
		uint64_t *hits = calloc(cap, sizeof(*hits));

		if (!hits)
			return -ENOMEM;
		for (size_t i = 0; i < k->hit_cap; i++)
			if (k->hits[i])
				*slot_of(hits, cap, k->hits[i]) = k->hits[i];
		free(k->hits);
		k->hits = hits, k->hit_cap = cap;
	}
	slot = slot_of(k->hits, k->hit_cap, address);
	if (*slot)
		return 1;
	*slot = address;
	k->hit_cnt++;
	return 0;
}

static int put(struct kallsyms *k, const struct ksym *s, uint64_t size)
{
	struct rec_symbol rec = {.binary = FRAME_BINARY_KERNEL,
				 .address = s->address,
				 .size = size,
				 .name = span_of(ksym_name(&k->table, s)),
				 .module = span_of(ksym_module(&k->table, s))};

	return obz_writer__put(k->writer, REC_symbol, &rec);
}

/* *s is NULL when there is none. */
static int find(struct kallsyms *k, uint64_t address, const struct ksym **s, uint64_t *size)
{
	int err = k->loaded ? 0 : load(k);

	if (err)
		return err;
	*s = ksym_table_find(&k->table, address, size);
	if (*s || clock_now_ns() - k->loaded_ns <= RELOAD_NS)
		return 0;
	err = load(k);
	if (!err)
		*s = ksym_table_find(&k->table, address, size);
	return err;
}

const char *kallsyms__name(struct kallsyms *k, uint64_t address)
{
	const struct ksym *s;
	uint64_t size;

	return find(k, address, &s, &size) || !s ? NULL : ksym_name(&k->table, s);
}

int kallsyms__hit(struct kallsyms *k, uint64_t address)
{
	const struct ksym *s;
	uint64_t size;
	int err = find(k, address, &s, &size);

	if (err || !s)
		return err;
	err = note_hit(k, s->address);
	return err < 0 ? err : err ? 0 : put(k, s, size);
}

int kallsyms__reanchor(struct kallsyms *k)
{
	int err = 0;

	for (size_t i = 0; !err && i < k->hit_cap; i++) {
		uint64_t size;
		const struct ksym *s =
			k->hits[i] ? ksym_table_find(&k->table, k->hits[i], &size) : NULL;

		if (s)
			err = put(k, s, size);
	}
	return err;
}
