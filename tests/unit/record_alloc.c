/* SPDX-License-Identifier: BSD-2-Clause */
/* What sampled allocations stand for; what a leak is; allocators in files: libc, libstdc++, this
 * program, damaged ones. */
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "damaged.h"
#include "record/binary/alloc_find.h"
#include "record/binary/alloc_find_go.h"
#include "record/probe/alloc_rule.h"

#if defined(__x86_64__)
#define LIBRARIES "x86_64-linux-gnu"
#else
#define LIBRARIES "aarch64-linux-gnu"
#endif

/* ---- weights */

static uint64_t random_state = 1;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((random_state >> 11) + 1) * 0x1p-53;
}

static void test_weight(void)
{
	CHECK(fabs(alloc_weight(1, 1 << 20) / (1 << 20) - 1) < 1e-5);
	CHECK(alloc_weight(1 << 30, 1 << 10) == 1 << 30);
	CHECK(fabs(alloc_weight(1000, 1000) - 1000 / (1 - exp(-1))) < 1e-6);
	CHECK(alloc_weight(64, 1) == 64);
	CHECK(alloc_weight(1, 0) == 1 && alloc_weight(64, 0) == 64);
	CHECK(alloc_round(3.0, 0) == 3 && alloc_round(3.25, 0.2) == 4 &&
	      alloc_round(3.25, 0.3) == 3);
}

static void test_go_rate(void)
{
	CHECK(alloc_go_rate(1) == 1 && alloc_go_rate(512 << 10) == 512 << 10);
	CHECK(alloc_go_rate(0) == 1 && alloc_go_rate(-1) == 1);
	CHECK(alloc_go_rate(INT64_MAX) == 0x7000000);
}

/* Sampled by gaps as the programs do, the estimates of each size are right. */
static void test_unbiased(void)
{
	static const uint64_t sizes[] = {16, 700, 4096, 100000};
	enum { RATE = 4096, CALLS = 200000, SIZES = sizeof(sizes) / sizeof(*sizes) };
	double gap = alloc_first_gap(uniform(), RATE), bytes[SIZES] = {0}, variance[SIZES] = {0};

	for (int i = 0; i < CALLS; i++)
		for (int j = 0; j < SIZES; j++) {
			double w = alloc_weight(sizes[j], RATE);

			gap -= sizes[j];
			if (gap > 0)
				continue;
			gap = alloc_first_gap(uniform(), RATE);
			bytes[j] += w;
			variance[j] += w * (w - sizes[j]);
		}
	for (int j = 0; j < SIZES; j++)
		CHECK(fabs(bytes[j] - (double)sizes[j] * CALLS) <= 5 * sqrt(variance[j]) + 1e-3);
}

/* ---- leaks */

enum { STEPS = 1000, AGE = 50 };
static struct alloc_life lives[2 * STEPS];
static size_t cnt;
static uint64_t stack; /* of those to come */
static uint32_t near;

static void live(uint64_t birth)
{
	lives[cnt++] = (struct alloc_life){.birth_ns = birth, .stack = stack, .near = near};
}

static void freed(uint64_t birth, uint64_t at)
{
	if (at - birth >= AGE && at <= STEPS)
		lives[cnt++] = (struct alloc_life){
			.birth_ns = birth, .freed_ns = at, .stack = stack, .near = near};
	else if (at > STEPS)
		live(birth);
}

/* How many stacks have allocations that leak. */
static int leaks(void)
{
	uint64_t last = UINT64_MAX;
	int n = 0;

	CHECK(!alloc_judge(lives, cnt, STEPS, AGE));
	for (size_t i = 0; i < cnt; i++)
		if (lives[i].verdict == ALLOC_LEAK && !lives[i].freed_ns &&
		    lives[i].stack != last) {
			last = lives[i].stack;
			n++;
		}
	cnt = stack = near = 0;
	return n;
}

static void test_leaks(void)
{
	CHECK(!leaks());
	for (int i = 1; i <= STEPS; i++)
		live(i);
	CHECK(leaks());
	for (int i = 1; i <= STEPS; i += 100) /* few, but evenly */
		live(i);
	CHECK(leaks());
	for (int i = 1; i <= 3; i++) /* too few */
		live(i * 300);
	CHECK(!leaks());
	for (int i = 1; i <= STEPS / 2; i++) /* a cache that stops */
		live(i);
	CHECK(!leaks());
	for (int i = 1; i <= STEPS * 7 / 10; i++)
		live(i);
	CHECK(!leaks());
	for (int i = 1; i <= STEPS; i++) /* short-lived ones */
		freed(i, i + 20);
	CHECK(!leaks());
	for (int i = 1; i <= STEPS; i++) /* of which some leak */
		if (i % 8)
			freed(i, i + 20);
		else
			live(i);
	CHECK(leaks());
	for (int i = 1; i <= STEPS; i++) /* the oldest is replaced */
		freed(i, i + 300);
	CHECK(!leaks());
	for (int i = 1; i <= STEPS; i++) /* any is: ages are exponential */
		freed(i, i - 100 * log(uniform()));
	CHECK(!leaks());
	for (int i = 1; i <= STEPS; i++) /* both: replaced, and some forgotten */
		if (i % 3)
			freed(i, i - 100 * log(uniform()));
		else
			live(i);
	CHECK(leaks());
	for (int i = 1; i <= STEPS; i++) /* from the middle on, some are forgotten */
		if (i % 3 || i < STEPS / 2)
			freed(i, i - 100 * log(uniform()));
		else
			live(i);
	CHECK(leaks());
}

/* Collected, and freed all at once: at `at`, and every `period` after it. */
static void sawtooth(int at, int period, int keep)
{
	for (int i = 1; i <= STEPS; i++) {
		while (at < i)
			at += period;
		if (keep && i % keep == 0)
			live(i);
		else
			freed(i, at);
	}
}

static void test_sawtooth(void)
{
	for (int period = AGE * 2; period <= STEPS / 2; period += 7) /* a whole one is seen */
		for (int at = 1; at <= period; at += 11) {
			sawtooth(at, period, 0);
			CHECK(!leaks());
		}
	for (int i = 1; i <= STEPS; i++) /* many are replaced before that */
		freed(i, uniform() < 0.5 ? i + AGE + 1 : (i / 300 + 1) * 300);
	CHECK(!leaks());
	sawtooth(100, 200, 2); /* not all are freed */
	CHECK(leaks());
}

/* Each of many stacks has too few to tell. */
static void test_many_stacks(void)
{
	for (int i = 1; i <= STEPS; i++) {
		stack = near = i; /* nothing in common */
		live(i);
	}
	CHECK(leaks() > STEPS * 9 / 10);
	for (int i = 1; i <= STEPS; i++) { /* others are as many, and are no leak */
		near = i % 2;
		stack = 2 * (i / 4) + near;
		if (near)
			live(i);
		else
			live(i / 2);
	}
	CHECK(leaks() < STEPS / 4 + 10);
	for (int i = 1; i <= STEPS; i++) { /* replaced */
		stack = i;
		freed(i, i + 300);
	}
	CHECK(!leaks());
	for (int i = 1; i <= 8; i++) { /* at the beginning only, or too few */
		stack = i;
		live(i * 10);
	}
	CHECK(!leaks());
}

/* ---- files */

static struct alloc_site sites[ALLOC_FUNCS];
static enum alloc_go_lack lack;

static size_t find(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = fd < 0 ? 0 : alloc_find(fd, sites, &lack);

	if (fd >= 0)
		close(fd);
	return n;
}

static const struct alloc_site *site(size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(sites[i].name, name))
			return &sites[i];
	return NULL;
}

static const char *path_of(const char *symbol)
{
	void *p = dlsym(RTLD_DEFAULT, symbol);
	Dl_info info;

	return p && dladdr(p, &info) ? info.dli_fname : "";
}

static void test_libc(void)
{
	size_t n = find(path_of("fclose"));

	if (!n) /* of a sanitizer, or static */
		return;
	CHECK(site(n, "malloc") && site(n, "malloc")->kind == ALLOC_malloc);
	CHECK(site(n, "calloc") && site(n, "realloc") && site(n, "posix_memalign"));
	CHECK(site(n, "free") && site(n, "free")->kind == ALLOC_free);
	for (size_t i = 0; i < n; i++) {
		CHECK(sites[i].start < sites[i].end && sites[i].address >= sites[i].start &&
		      sites[i].address < sites[i].end);
		for (size_t j = 0; j < i; j++)
			CHECK(sites[i].start != sites[j].start);
	}
	CHECK(!site(n, "malloc")->step && !site(n, "free")->step);
#if defined(__x86_64__)
	CHECK(!(site(n, "malloc")->tails & ALLOC_TAILS_OWN));
	CHECK(!(site(n, "calloc")->tails & ALLOC_TAILS_OWN));
	for (size_t i = 0; i < n; i++) {
		CHECK(!(sites[i].tails & ALLOC_TAILS_ANY));
		CHECK(!(sites[i].tails & ALLOC_TAILS_OWN) == !sites[i].jumps[0]);
		CHECK(sites[i].jumps[0] != sites[i].start);
	}
#endif
}

/* Not all of an allocator's functions may be found if they are too many. */
static void test_room(void)
{
	static const char *const libraries[] = {"libmimalloc.so.2", "libtcmalloc_minimal.so.4",
						"libjemalloc.so.2"};
	char path[64];
	size_t n;

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		snprintf(path, sizeof(path), "/usr/lib/" LIBRARIES "/%s", libraries[i]);
		n = find(path);
		CHECK(n < ALLOC_FUNCS * 7 / 8);
		CHECK(!n || i || site(n, "mi_heap_reallocn"));
	}
}

/* ---- Go */

#if defined(__x86_64__)
#define CODE(name, ...) static const uint8_t name[] = {__VA_ARGS__}

static void test_go_code(void)
{
	/* mov rdx, [rip + 0x10]; test rdx, rdx; mov rax, [rip + 0x20]; xchg ax, ax; cmp rax, 1 */
	CODE(loaded, 0x48, 0x8b, 0x15, 0x10, 0, 0, 0, 0x48, 0x85, 0xd2, 0x48, 0x8b, 0x05, 0x20, 0,
	     0, 0, 0x66, 0x90, 0x48, 0x83, 0xf8, 0x01);
	/* mov r9, [rip - 0x10]; cmp r9, 1 */
	CODE(high, 0x4c, 0x8b, 0x0d, 0xf0, 0xff, 0xff, 0xff, 0x49, 0x83, 0xf9, 0x01);
	/* cmp qword [rip + 0x30], 1 */
	CODE(direct, 0x48, 0x83, 0x3d, 0x30, 0, 0, 0, 0x01);
	/* mov rax, [rip + 0x20]; mov rax, [rax]; cmp rax, 1; cmp rbx, 1 */
	CODE(other, 0x48, 0x8b, 0x05, 0x20, 0, 0, 0, 0x48, 0x8b, 0x00, 0x48, 0x83, 0xf8, 0x01, 0x48,
	     0x83, 0xfb, 0x01);
	/* nop; mov byte [rbx + 10], 2; mov byte [r9 + 16], 3; mov byte [rsp + 8], 1 */
	CODE(kind, 0x90, 0xc6, 0x43, 0x0a, 0x02);
	CODE(kind_high, 0x41, 0xc6, 0x41, 0x10, 0x03);
	CODE(on_stack, 0xc6, 0x44, 0x24, 0x08, 0x01);
	struct alloc_go go = {0};

	CHECK(alloc_go_rate_at(loaded, sizeof(loaded), 0x1000) == 0x1000 + 17 + 0x20);
	CHECK(alloc_go_rate_at(high, sizeof(high), 0x1000) == 0x1000 + 7 - 0x10);
	CHECK(alloc_go_rate_at(direct, sizeof(direct), 0x1000) == 0x1000 + 8 + 0x30);
	CHECK(!alloc_go_rate_at(other, sizeof(other), 0x1000));
	for (size_t len = 0; len < sizeof(loaded); len++) /* cut */
		CHECK(!alloc_go_rate_at(loaded, len, 0x1000));
	CHECK(alloc_go_special(kind, sizeof(kind), &go) && go.special_at == 10 && go.special == 2);
	CHECK(alloc_go_special(kind_high, sizeof(kind_high), &go) && go.special_at == 16 &&
	      go.special == 3);
	CHECK(!alloc_go_special(on_stack, sizeof(on_stack), &go));
	CHECK(!alloc_go_special(kind, sizeof(kind) - 1, &go));
}

/* The go command itself. */
static void test_go(void)
{
	static const char *const names[] = {"runtime.profilealloc", "runtime.freeSpecial"};
	size_t n = find("/usr/lib/go/bin/go");
	const struct alloc_site *s;

	if (access("/usr/lib/go/bin/go", R_OK))
		return;
	CHECK(n == 2 && lack != ALLOC_GO_LACKS_FUNCTION && lack != ALLOC_GO_LACKS_FREES);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		s = site(n, names[i]);
		CHECK(s && s->kind == ALLOC_go_sample + i && s->go.rate_at > s->end);
		CHECK(s && s->go.special_at >= 10 && s->go.special > 1);
		CHECK(s && s->place.code[0] && s->address > s->start && s->address < s->end);
	}
}
#else
static void test_go_code(void)
{
}

static void test_go(void)
{
}
#endif

static void any(int fd)
{
	CHECK(alloc_find(fd, sites, &lack) <= ALLOC_FUNCS);
}

int main(void)
{
	test_weight();
	test_unbiased();
	test_leaks();
	test_sawtooth();
	test_many_stacks();
	test_libc();
	test_room();
	test_go_rate();
	test_go_code();
	test_go();
	CHECK(!find("/proc/self/exe"));
	CHECK(!find("/dev/null"));
	each_damaged(any);
	return failed;
}
