/* SPDX-License-Identifier: BSD-2-Clause */
/* USDT probes: the arguments of their notes, sections of notes, and files: this program, with
 * probes of its own, and damaged ones. */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "damaged.h"
#include "record/binary/usdt_find.h"
#include "../workload/usdt_note.h"

#define NONE USDT_NO_REG
#define UNKNOWN                                                                                    \
	{                                                                                          \
		0, USDT_UNKNOWN, NONE, NONE, 0, 0, 0,                                              \
		{                                                                                  \
			0                                                                          \
		}                                                                                  \
	}

static bool find_symbol(void *ctx, const char *name, size_t len, uint64_t *address)
{
	*address = 0x5000;
	return len == 6 && !memcmp(name, "symbol", len);
}
static const struct usdt_symbols symbols = {0x4000, find_symbol, NULL};

static const struct {
	unsigned machine;
	const char *text;
	size_t cnt;
	struct usdt_arg arg[3];
} strings[] = {
	{EM_X86_64, "", 0, {{0}}},
	{EM_X86_64, "   ", 0, {{0}}},
	{EM_X86_64, "-4@%edi", 1, {{0, USDT_REG, 14, NONE, 0, 4, 1, {0}}}},
	{EM_X86_64,
	 "1@%al 2@%r9w 8@%r15",
	 3,
	 {{0, USDT_REG, 10, NONE, 0, 1, 0, {0}},
	  {0, USDT_REG, 8, NONE, 0, 2, 0, {0}},
	  {0, USDT_REG, 0, NONE, 0, 8, 0, {0}}}},
	{EM_X86_64,
	 "4@$5 -8@$-7 8@$0x10",
	 3,
	 {{5, USDT_CONST, NONE, NONE, 0, 4, 0, {0}},
	  {-7, USDT_CONST, NONE, NONE, 0, 8, 1, {0}},
	  {16, USDT_CONST, NONE, NONE, 0, 8, 0, {0}}}},
	{EM_X86_64,
	 "1@$-6 2@$-536 4@$-294967296",
	 3,
	 {{250, USDT_CONST, NONE, NONE, 0, 1, 0, {0}},
	  {65000, USDT_CONST, NONE, NONE, 0, 2, 0, {0}},
	  {4000000000, USDT_CONST, NONE, NONE, 0, 4, 0, {0}}}},
	{EM_X86_64,
	 "-1@$250 8@$-1 -2@$-300",
	 3,
	 {{-6, USDT_CONST, NONE, NONE, 0, 1, 1, {0}},
	  {-1, USDT_CONST, NONE, NONE, 0, 8, 0, {0}},
	  {-300, USDT_CONST, NONE, NONE, 0, 2, 1, {0}}}},
	{EM_X86_64,
	 "8@-16(%rbp) 8@(%rax) 4@8(%rsp)",
	 3,
	 {{-16, USDT_MEM, 4, NONE, 0, 8, 0, {0}},
	  {0, USDT_MEM, 10, NONE, 0, 8, 0, {0}},
	  {8, USDT_MEM, 19, NONE, 0, 4, 0, {0}}}},
	{EM_X86_64,
	 "8@(%rax,%rdx,8) 8@4(,%rdx,2) 8@(%rax,%rdx)",
	 3,
	 {{0, USDT_MEM, 10, 12, 3, 8, 0, {0}},
	  {4, USDT_MEM, NONE, 12, 1, 8, 0, {0}},
	  {0, USDT_MEM, 10, 12, 0, 8, 0, {0}}}},
	{EM_X86_64,
	 "-4@symbol(%rip) 4@8+symbol(%rip) 4@symbol-8(%rip)",
	 3,
	 {{0x1000, USDT_MEM, 16, NONE, 0, 4, 1, {0}},
	  {0x1008, USDT_MEM, 16, NONE, 0, 4, 0, {0}},
	  {0xff8, USDT_MEM, 16, NONE, 0, 4, 0, {0}}}},
	{EM_X86_64, "4@other(%rip) 4@symbol(%rax) 4@8(%rip)", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "8f@%xmm0 4@%ah 4@$symbol", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "3@%eax 0@%eax 16@%rax", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64,
	 "-9223372036854775808@%eax 99999999999999999999999@$1 8@$",
	 3,
	 {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64,
	 "8@(%rax,%rdx,3) 8@(%rax,%rdx,0) 8@(%rax,%rdx,16)",
	 3,
	 {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "8@(%rax 8@() 8@()", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "%eax @%eax 8@", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "8@1234 8@%rax%rdx 8@%", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_X86_64, "\xff\xff\x01 8@symbol+symbol(%rip) [", 3, {UNKNOWN, UNKNOWN, UNKNOWN}},
	{EM_AARCH64,
	 "-4@w0 8@x30 8@sp",
	 3,
	 {{0, USDT_REG, 0, NONE, 0, 4, 1, {0}},
	  {0, USDT_REG, 30, NONE, 0, 8, 0, {0}},
	  {0, USDT_REG, 31, NONE, 0, 8, 0, {0}}}},
	{EM_AARCH64,
	 "-4@7 8@[sp, 16] 8@[x29,#-8]",
	 3,
	 {{7, USDT_CONST, NONE, NONE, 0, 4, 1, {0}},
	  {16, USDT_MEM, 31, NONE, 0, 8, 0, {0}},
	  {-8, USDT_MEM, 29, NONE, 0, 8, 0, {0}}}},
	{EM_AARCH64, "8@[x0 8@x31 8@d0", 1, {UNKNOWN}},
	{EM_386, "4@%eax", 1, {UNKNOWN}},
};

static void test_strings(void)
{
	struct usdt_arg arg[USDT_ARGS];

	for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++) {
		size_t cnt = usdt_args_parse(strings[i].text, strings[i].machine, &symbols, arg);

		CHECK(cnt == strings[i].cnt, "'%s': %zu", strings[i].text, cnt);
		for (size_t n = 0; n < cnt && n < 3; n++)
			CHECK(!memcmp(&arg[n], &strings[i].arg[n], sizeof(arg[n])),
			      "'%s': argument %zu: kind %d reg %d index %d value %lld",
			      strings[i].text, n, arg[n].kind, arg[n].reg, arg[n].index,
			      (long long)arg[n].value);
	}
	CHECK(usdt_args_parse("1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1 1@$1",
			      EM_X86_64, NULL, arg) == USDT_ARGS);
}

/* ---- sections */

struct section {
	uint8_t p[4096];
	size_t len;
};

static void put(struct section *s, const void *p, size_t len)
{
	memcpy(s->p + s->len, p, len);
	s->len += len;
}

static void put_note(struct section *s, uint32_t namesz, uint32_t descsz, uint32_t type,
		     const char *name, const char *strings, size_t strings_len)
{
	const uint32_t head[] = {namesz, descsz, type};
	const uint64_t addresses[] = {0x1000, 0x2000, 0x3000};

	put(s, head, sizeof(head));
	put(s, name, 8);
	put(s, addresses, sizeof(addresses));
	put(s, strings, strings_len);
	while (s->len % 4)
		s->p[s->len++] = 0;
}

static bool note_seen(void *ctx, const struct usdt_note *n)
{
	CHECK(n->pc == 0x1000 && n->base == 0x2000 && n->semaphore == 0x3000);
	++*(size_t *)ctx;
	return strcmp(n->name, "last");
}

static size_t notes_in(const struct section *s, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1); /* so that ASan sees what is read behind it */
	size_t cnt = 0;

	memcpy(copy, s->p, len);
	usdt_notes_each(copy, len, note_seen, &cnt);
	free(copy);
	return cnt;
}

static void test_sections(void)
{
	static const char good[] = "p\0n\0004@$1", last[] = "p\0last\0", open[] = "p\0n\0004@$1";
	struct section s = {0};
	size_t first;

	put_note(&s, 8, 24 + sizeof(good), 3, "stapsdt", good, sizeof(good));
	first = s.len;
	CHECK(notes_in(&s, s.len) == 1);
	put_note(&s, 8, 24 + sizeof(good), 1, "stapsdt", good, sizeof(good)); /* another type */
	put_note(&s, 8, 24 + sizeof(good), 3, "another", good, sizeof(good));
	/* strings that do not end */
	put_note(&s, 8, 24 + sizeof(open) - 1, 3, "stapsdt", open, sizeof(open) - 1);
	put_note(&s, 8, 24 + sizeof(good), 3, "stapsdt", good, sizeof(good));
	CHECK(notes_in(&s, s.len) == 2);
	put_note(&s, 8, 24 + sizeof(last), 3, "stapsdt", last, sizeof(last));
	put_note(&s, 8, 24 + sizeof(good), 3, "stapsdt", good, sizeof(good));
	CHECK(notes_in(&s, s.len) == 3, "until fn returns false");
	for (size_t len = 0; len < first; len++)
		CHECK(notes_in(&s, len) == (len >= 20 + 24 + sizeof(good)), "cut at %zu", len);
	s.len = first;
	put_note(&s, 0xfffffffd, 0xffffffff, 3, "stapsdt", good, sizeof(good));
	CHECK(notes_in(&s, s.len) == 1);
	s.len = first;
	put_note(&s, 8, 0xfffffffe, 3, "stapsdt", good, sizeof(good));
	CHECK(notes_in(&s, s.len) == 1);
	s.len = first;
	put_note(&s, 0, 0, 3, "stapsdt", good, sizeof(good));
	CHECK(notes_in(&s, s.len) == 1);
}

static void test_names(void)
{
	CHECK(usdt_matches("p:n", "p:n") && !usdt_matches("p:n", "p:m") &&
	      !usdt_matches("p", "p:n"));
	CHECK(usdt_matches("*:q*t", "p:query__start") && usdt_matches("p:query-*", "p:query__x"));
	CHECK(usdt_matches("p:query-start", "p:query__start") &&
	      usdt_matches("p:query__start", "p:query__start"));
	CHECK(!usdt_matches("p:query-start", "p:query_start") && usdt_matches("p:a-_", "p:a___"));
}

/* ---- files */

unsigned short unit_semaphore __attribute__((section(".probes"), used));

__attribute__((noinline)) static void fire(int i)
{
	USDT_NOTE("unit", "plain", "0", "-4@%0", "nor"(i));
	USDT_NOTE("unit", "asked", "unit_semaphore", "-4@%0", "nor"(i));
}

struct found {
	size_t cnt, counted, args;
	uint64_t offset;
};

static bool count(void *ctx, const struct usdt_site *s)
{
	struct found *f = ctx;

	f->cnt++;
	f->counted += s->counter != 0;
	f->args += s->arg_cnt == 1 && s->arg[0].kind != USDT_UNKNOWN;
	f->offset = s->offset;
	return true;
}

static struct found find(int fd, const char *pattern)
{
	struct found f = {0};

	usdt_find(fd, &pattern, 1, count, &f);
	return f;
}

#if defined(__x86_64__)
#define NOP_BYTE 0x90
#else
#define NOP_BYTE 0x1f /* of 0xd503201f */
#endif

static void test_files(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	struct found f = find(fd, "unit:*");
	uint8_t code;

	CHECK(f.cnt == 2 && f.counted == 1 && f.args == 2, "%zu %zu %zu", f.cnt, f.counted, f.args);
	f = find(fd, "unit:plain");
	CHECK(f.cnt == 1 && !f.counted);
	CHECK(pread(fd, &code, 1, f.offset) == 1 && code == NOP_BYTE, "a nop");
	CHECK(!find(fd, "unit:none").cnt && !find(fd, "unit").cnt);
	close(fd);
}

/* As prelink leaves it: the file has moved since the notes were written. */
static void test_moved(void)
{
	static const char head[] = "\3\0\0\0stapsdt";
	static uint8_t b[1 << 20];
	int from = open("/proc/self/exe", O_RDONLY), fd = memfd_create("moved", MFD_CLOEXEC);
	ssize_t sz = read(from, b, sizeof(b));
	struct found f = find(from, "unit:asked");
	uint64_t offset = f.offset;
	unsigned changed = 0;

	for (uint8_t *p = b; (p = memmem(p, b + sz - p, head, sizeof(head)));) {
		p += sizeof(head);
		for (size_t i = 0; i < 3; i++, p += sizeof(uint64_t)) {
			uint64_t address;

			memcpy(&address, p, sizeof(address));
			address -= address ? 0x100 : 0;
			memcpy(p, &address, sizeof(address));
		}
		changed++;
	}
	CHECK(write(fd, b, sz) == sz && changed >= 2, "%u", changed);
	f = find(fd, "unit:asked");
	CHECK(f.cnt == 1 && f.counted == 1 && f.offset == offset);
	close(from);
	close(fd);
}

static void find_any(int fd)
{
	find(fd, "*");
}

int main(void)
{
	fire(1);
	test_strings();
	test_sections();
	test_names();
	test_files();
	test_moved();
	each_damaged(find_any);
	return failed;
}
