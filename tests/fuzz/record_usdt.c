/* SPDX-License-Identifier: BSD-2-Clause */
/* Any bytes as a file with USDT probes, as a section of notes, and as a string of arguments: places
 * must be in the file, arguments must be those that the BPF program expects. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/binary/usdt_find.h"

static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *address)
{
	*address = len;
	return len & 1;
}

static void check_args(const struct usdt_arg *arg, size_t cnt)
{
	if (cnt > USDT_ARGS)
		abort();
	for (size_t i = 0; i < cnt; i++) {
		const struct usdt_arg *a = &arg[i];

		if (a->kind > USDT_MEM || a->shift > 3 || (a->reg > 31 && a->reg != USDT_NO_REG) ||
		    (a->index > 31 && a->index != USDT_NO_REG))
			abort();
		if (a->kind != USDT_UNKNOWN && a->sz != 1 && a->sz != 2 && a->sz != 4 && a->sz != 8)
			abort();
	}
}

static void parse(const char *text)
{
	static const unsigned machines[] = {EM_X86_64, EM_AARCH64};
	const struct usdt_symbols symbols = {4096, find_symbol, NULL};
	struct usdt_arg arg[USDT_ARGS];

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		check_args(arg, usdt_args_parse(text, machines[i], &symbols, arg));
}

static bool on_note(void *ctx, const struct usdt_note *n)
{
	parse(n->args);
	usdt_matches("*-*:[a-z]*", n->name);
	return strlen(n->provider) < 64;
}

static bool on_site(void *ctx, const struct usdt_site *s)
{
	size_t size = *(size_t *)ctx;

	if (s->offset >= size || s->counter >= size || !strchr(s->name, ':'))
		abort();
	check_args(s->arg, s->arg_cnt);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *pattern = "*:*";
	int fd = memfd_create("program", MFD_CLOEXEC);
	char *text = malloc(size + 1);

	if (fd < 0 || !text || write(fd, data, size) != (ssize_t)size)
		abort();
	usdt_find(fd, &pattern, 1, on_site, &size);
	usdt_notes_each(data, size, on_note, NULL);
	memcpy(text, data, size);
	text[size] = 0;
	parse(text);
	free(text);
	close(fd);
	return 0;
}
