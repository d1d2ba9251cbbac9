/* SPDX-License-Identifier: BSD-2-Clause */
/* runs: 3000 */
/*
 * A binary with the file it refers to: a .dwo file or .dwp package of split DWARF, or dwz's common
 * file. Both are from the input, so that either may be hostile to the other.
 *
 * Input: kind of the second file (modulo 4: none, a.dwo, prog.dwp, by build-id), length of the
 * binary (three bytes), the binary, the second file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "format/dwarf/elf_image.h"
#include "analyze/symbol/symbol.h"

enum { HEAD = 4, ADDRS = 128 };

struct input {
	const uint8_t *data;
	size_t sz;
};

static char dir[64];
static size_t sink;

static void on_exit_remove(void)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	if (system(cmd))
		abort();
}

static void make_dir(void)
{
	struct statfs fs;

	snprintf(dir, sizeof(dir), "%s/fuzz-split.XXXXXX",
		 statfs("/dev/shm", &fs) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		abort();
	atexit(on_exit_remove);
}

static int open_input(void *ctx)
{
	const struct input *in = ctx;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, in->data, in->sz) != (ssize_t)in->sz)
		abort();
	return fd;
}

static int open_by_id(void *ctx, const char *id_hex)
{
	return open_input(ctx);
}

static const char *content_by_id(void *ctx, const char *id_hex)
{
	return "11111111111111111111111111111111";
}

static void put_file(const char *name, const struct input *in)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!in) {
		unlink(path);
		return;
	}
	f = fopen(path, "w");
	if (!f || fwrite(in->data, 1, in->sz, f) != in->sz || fclose(f))
		abort();
}

static void touch(void *ctx, size_t index, const struct symbol_frame *chain, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++) {
		sink += chain[i].name ? strlen(chain[i].name) : 0;
		sink += chain[i].linkage_name ? strlen(chain[i].linkage_name) : 0;
		sink += chain[i].file ? strlen(chain[i].file) : 0;
		sink += chain[i].line + chain[i].inlined;
	}
}

/* Chooses addresses spread over the code. */
static size_t choose_addrs(struct input *in, uint64_t *addrs)
{
	const struct elf_range *code;
	struct elf_image *e;
	const char *why;
	size_t n = 0, cnt;

	addrs[n++] = UINT64_MAX;
	if (elf_image__open(&e, open_input(in), &why))
		return n;
	code = elf_image__code(e, &cnt);
	for (size_t i = 0; i < cnt && n < ADDRS; i++)
		for (uint64_t k = 0; k < 64 && n < ADDRS; k++)
			addrs[n++] = code[i].lo + (code[i].hi - code[i].lo) / 64 * k + k % 7;
	elf_image__close(e);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t sz)
{
	struct symbolizer_opts opts = {.jobs = 1, .inlines = true};
	struct input binary, second;
	const struct symbol_archive archive = {"00000000000000000000000000000000", NULL, open_by_id,
					       content_by_id, &second};
	struct symbol_image *image;
	uint64_t addrs[ADDRS];
	struct symbolizer *s;
	char path[96];

	if (sz < HEAD)
		return 0;
	if (!*dir)
		make_dir();
	binary = (struct input){data + HEAD, data[1] << 16 | data[2] << 8 | data[3]};
	if (binary.sz > sz - HEAD)
		binary.sz = sz - HEAD;
	second = (struct input){binary.data + binary.sz, sz - HEAD - binary.sz};
	put_file("a.dwo", data[0] % 4 == 1 ? &second : NULL);
	put_file("prog.dwp", data[0] % 4 == 2 ? &second : NULL);
	snprintf(path, sizeof(path), "%s/prog", dir);
	if (symbolizer__new(&s, &opts) ||
	    symbolizer__image(s, NULL, path, open_input, &binary, &image))
		abort();
	if (data[0] % 4 == 3 && symbol_image__in_archive(image, &archive))
		abort();
	symbolizer__resolve(s, image, addrs, choose_addrs(&binary, addrs), touch, NULL);
	symbolizer__free(s);
	return 0;
}
