/* SPDX-License-Identifier: BSD-2-Clause */
/* Kernel addresses to symbols: a small table with every case in it, then this kernel's own. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/host/kallsyms.h"
#include "record/host/ksym_table.h"

static struct {
	char name[128], module[64];
	uint64_t address, size;
} got;
static int records;

int obz_writer__put(struct obz_writer *unused, enum rec_kind kind, const void *rec)
{
	const struct rec_symbol *r = rec;

	assert(kind == REC_symbol && r->binary == FRAME_BINARY_KERNEL);
	snprintf(got.name, sizeof(got.name), "%.*s", (int)r->name.len, r->name.p);
	snprintf(got.module, sizeof(got.module), "%.*s", (int)r->module.len, r->module.p);
	got.address = r->address;
	got.size = r->size;
	records++;
	return 0;
}

static char *temp(const char *text)
{
	char *path = strdup("/tmp/record_kallsyms.XXXXXX");
	int fd = mkstemp(path);

	assert(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	return path;
}

static void drop(char *path)
{
	unlink(path);
	free(path);
}

static const char table[] = "0000000000000000 A fixed_percpu_data\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000000 T _text\n"
			    "ffffffff81000000 T startup\n"
			    "ffffffff810000f0 T __pfx_work\n"
			    "ffffffff81000100 t __se_sys_work\n"
			    "ffffffff81000100 T sys_work\n"
			    "ffffffff81000100 T __x64_sys_work\n"
			    "ffffffff81000180 d not_text\n"
			    "ffffffff81000200 t last\n"
			    "ffffffff81000300 T _etext\n"
			    "ffffffff82000000 D data\n"
			    "ffffffffc0002000 t mod_b\t[mod]\n" /* module symbols are not sorted */
			    "ffffffffc0001000 t mod_a\t[mod]\n"
			    "ffffffffc0009000 t bpf_prog_1234_one\t[bpf]\n"
			    "ffffffffc0009100 t bpf_prog_5678_two\t[bpf]\n";

struct expected {
	uint64_t address;
	const char *name, *module;
	uint64_t start, size;
};

static void test_table(void)
{
	static const struct expected expected[] = {
		{0xffffffff81000000, "startup", "", 0xffffffff81000000, 0x100},
		{0xffffffff810000ff, "startup", "", 0xffffffff81000000, 0x100},
		{0xffffffff81000100, "sys_work", "", 0xffffffff81000100, 0x100},
		{0xffffffff810001ff, "sys_work", "", 0xffffffff81000100, 0x100},
		{0xffffffff810002ff, "last", "", 0xffffffff81000200, 0x100},
		{0xffffffff81000300, NULL, "", 0, 0},
		{0xffffffff80ffffff, NULL, "", 0, 0},
		{0xffffffff82000000, NULL, "", 0, 0},
		{0xffffffffc0001abc, "mod_a", "mod", 0xffffffffc0001000, 0x1000},
		{0xffffffffc0002fff, "mod_b", "mod", 0xffffffffc0002000, 0x1000},
		{0xffffffffc0003000, NULL, "", 0, 0},
		{0xffffffffc0009010, "bpf_prog_1234_one", "bpf", 0xffffffffc0009000, 0x100},
		{0xffffffffc0009110, "bpf_prog_5678_two", "bpf", 0xffffffffc0009100, 0x20000},
		{0x401000, NULL, "", 0, 0},
		{UINT64_MAX, NULL, "", 0, 0},
	};
	char *symbols = temp(table), *modules = temp("mod 8192 0 - Live 0xffffffffc0001000\n");
	struct kallsyms *k;

	assert(!kallsyms__new_from(&k, NULL, symbols, modules));
	for (size_t i = 0; i < sizeof(expected) / sizeof(*expected); i++) {
		const struct expected *e = &expected[i];

		memset(&got, 0, sizeof(got));
		assert(!kallsyms__hit(k, e->address));
		if (!e->name) {
			if (got.name[0])
				printf("%" PRIx64 " is %s\n", e->address, got.name);
			assert(!got.name[0]);
			continue;
		}
		if (got.name[0] && (strcmp(got.name, e->name) || strcmp(got.module, e->module) ||
				    got.address != e->start || got.size != e->size)) {
			printf("%" PRIx64 ": %s [%s] %" PRIx64 " +%" PRIx64 "\n", e->address,
			       got.name, got.module, got.address, got.size);
			exit(1);
		}
	}
	assert(records == 7); /* once each */
	assert(!kallsyms__reanchor(k) && records == 14);
	kallsyms__free(k);
	drop(symbols);
	drop(modules);
}

static void test_hidden_and_damaged(void)
{
	char *hidden = temp(
		"0000000000000000 A percpu\n0000000000000000 T _stext\n0000000000000000 t f\n");
	char *garbage = temp("\x01\x02\n\nffffffff81000000\nxyz T name\nffffffff81000000 T \n");
	char *empty = temp("");
	struct kallsyms *k;

	assert(kallsyms__new_from(&k, NULL, hidden, NULL) == -EPERM);
	assert(kallsyms__new_from(&k, NULL, garbage, NULL) == -ENODATA);
	assert(kallsyms__new_from(&k, NULL, empty, NULL) == -ENODATA);
	assert(kallsyms__new_from(&k, NULL, "/nonexistent", NULL) == -ENOENT);
	drop(hidden);
	drop(garbage);
	drop(empty);
}

/* Labels are kept beside each other where sections adjoin, as on 7.2; variables hide them. */
static void test_labels(void)
{
	static const char *const expected[] = {"__sched_text_start", "__lock_text_start",
					       "__sched_text_end", "__lock_text_end", "data"};
	char *path = temp("ffffffff81000000 T __sched_text_start\n"
			  "ffffffff81000000 T schedule\n"
			  "ffffffff81000100 T __lock_text_start\n"
			  "ffffffff81000100 T __sched_text_end\n"
			  "ffffffff81000200 T __lock_text_end\n"
			  "ffffffff82000000 T __other_text_start\n"
			  "ffffffff82000000 D data\n");
	struct ksym_table t;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert(fd >= 0 && !ksym_table__load_variables(&t, fd));
	assert(t.cnt == sizeof(expected) / sizeof(*expected));
	for (size_t i = 0; i < t.cnt; i++)
		assert(!strcmp(ksym_name(&t, &t.syms[i]), expected[i]));
	ksym_table__fini(&t);
	close(fd);
	drop(path);
}

static double ms(struct timespec a, struct timespec b)
{
	return (b.tv_sec - a.tv_sec) * 1e3 + (b.tv_nsec - a.tv_nsec) / 1e6;
}

/* Every text symbol of the running kernel is found at its own address under its own or an alias's
 * name. */
static int test_own_kernel(void)
{
	struct timespec t0, t1, t2;
	unsigned long long address;
	char type, name[512], line[1024];
	long hits = 0, wrong = 0;
	struct rusage ru;
	struct kallsyms *k;
	FILE *f;

	if (kallsyms__new(&k, NULL)) {
		puts("kernel symbols are hidden here");
		return 77;
	}
	f = fopen("/proc/kallsyms", "r");
	assert(f);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	kallsyms__hit(k, 1);
	clock_gettime(CLOCK_MONOTONIC, &t1);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%llx %c %511s", &address, &type, name) != 3 ||
		    !strchr("tTwW", type) || !address || !strncmp(name, "__pfx_", 6) ||
		    strstr(name, "text") || strstr(name, "_end") || strchr(line, '['))
			continue;
		got.name[0] = 0;
		hits++;
		if (kallsyms__hit(k, address) || (got.name[0] && got.address != address))
			wrong++;
	}
	clock_gettime(CLOCK_MONOTONIC, &t2);
	fclose(f);
	getrusage(RUSAGE_SELF, &ru);
	printf("%ld symbols: loaded in %.1f ms, all hit in %.1f ms, %ld wrong, peak %ld KiB\n",
	       hits, ms(t0, t1), ms(t1, t2), wrong, ru.ru_maxrss);
	assert(hits > 1000 && wrong == 0);
	kallsyms__free(k);
	return 0;
}

int main(void)
{
	test_table();
	test_hidden_and_damaged();
	test_labels();
	return test_own_kernel();
}
