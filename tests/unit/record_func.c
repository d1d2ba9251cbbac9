/* SPDX-License-Identifier: BSD-2-Clause */
/* Where functions are probed: at the beginning and at the ends of code written by hand, and in
 * files: this program, libc, and damaged ones. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "damaged.h"
#include "record/binary/func_find.h"
#include "record/binary/go_code.h"
#include "record/binary/uprobe_place.h"

#if defined(__x86_64__)

#define CODE(bytes) bytes, sizeof(bytes) - 1

static const struct {
	const char *cause, *code;
	size_t len;
	bool cheap;
	size_t skip;
	uint32_t below;
} places[] = {
	{"push", CODE("\x53\xc3"), true, 0, 0},
	{"endbr64, push", CODE("\xf3\x0f\x1e\xfa\x55"), true, 4, 0},
	{"cmp, jle", CODE("\x83\xff\x01\x7e\x13"), true, 3, 0},
	{"sub rsp, call", CODE("\x48\x83\xec\x18\x31\xf6\xe8\0\0\0\0"), true, 6, 24},
	{"sub rsp, large", CODE("\x48\x81\xec\x00\x10\0\0\xe8\0\0\0\0"), true, 7, 4096},
	{"twice", CODE("\x48\x83\xec\x18\x48\x83\xec\x08\xe8\0\0\0\0"), true, 8, 32},
	{"stores by rsp", CODE("\x48\x83\xec\x18\x48\x89\x7c\x24\x08\x74\x00"), true, 9, 24},
	{"its copy", CODE("\x48\x89\xe7\x74\x00"), true, 3, 0},
	{"r12 is not rsp", CODE("\x49\x89\xfc\x74\x00"), true, 3, 0},
	{"rsp is set", CODE("\x48\x89\xfc\x74\x00"), false, 0, 0},
	{"rsp is loaded", CODE("\x48\x8b\x27\x74\x00"), false, 0, 0},
	{"rsp is computed", CODE("\x48\x8d\x64\x24\xe8\x74\x00"), false, 0, 0},
	{"rsp is aligned", CODE("\x48\x83\xe4\xf0\xe8\0\0\0\0"), false, 0, 0},
	{"by a register", CODE("\x48\x29\xc4\xe8\0\0\0\0"), false, 0, 0},
	{"not by words", CODE("\x48\x83\xec\x04\xe8\0\0\0\0"), false, 0, 0},
	{"upwards", CODE("\x48\x83\xec\xf8\xe8\0\0\0\0"), false, 0, 0},
	{"pop", CODE("\x58\x74\x00"), false, 0, 0},
	{"exchanged", CODE("\x48\x94\x74\x00"), false, 0, 0},
	{"mov esp, imm", CODE("\xbc\0\0\0\0\x74\x00"), false, 0, 0},
	{"mov r12d, imm", CODE("\x41\xbc\0\0\0\0\x74\x00"), true, 6, 0},
	{"cmov into rsp", CODE("\x48\x0f\x44\xe0\x74\x00"), false, 0, 0},
	{"ret first", CODE("\xc3\x74\x00"), false, 0, 0},
	{"syscall", CODE("\x0f\x05\x74\x00"), false, 0, 0},
	{"indirect call", CODE("\xff\xd0\x74\x00"), false, 0, 0},
	{"to its end", CODE("\x31\xc0"), false, 0, 0},
};

/* With all six arguments. */
static const struct {
	const char *cause, *code;
	size_t len, skip;
	bool cheap;
} places_args[] = {
	{"test, je", CODE("\x48\x85\xff\x74\x02"), 3, true},
	{"xor ecx", CODE("\x31\xc9\x55"), 0, false},
	{"xor r8d", CODE("\x45\x31\xc0\x55"), 0, false},
	{"mov r9, rax", CODE("\x49\x89\xc1\x55"), 0, false},
	{"mov edx, imm", CODE("\xba\0\0\0\0\x55"), 0, false},
	{"mov r8d, imm", CODE("\x41\xb8\0\0\0\0\x55"), 0, false},
	{"mov r10d, imm", CODE("\x41\xba\0\0\0\0\x55"), 6, true},
	{"movzx ecx", CODE("\x0f\xb6\x0f\x55"), 0, false},
	{"xor eax", CODE("\x31\xc0\x55"), 2, true},
};

static void test_places_args(void)
{
	for (size_t i = 0; i < sizeof(places_args) / sizeof(*places_args); i++) {
		size_t skip = 99;
		bool cheap = uprobe_place_args((const uint8_t *)places_args[i].code,
					       places_args[i].len, 6, &skip);

		CHECK(cheap == places_args[i].cheap && skip == places_args[i].skip, "%s: %d, %zu",
		      places_args[i].cause, cheap, skip);
	}
}

static void test_places(void)
{
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		size_t skip = 99;
		uint32_t below = 99;
		bool cheap = uprobe_place_deep((const uint8_t *)places[i].code, places[i].len,
					       &skip, &below);

		CHECK(cheap == places[i].cheap && skip == places[i].skip &&
			      below == places[i].below,
		      "%s: %d, %zu, %u", places[i].cause, cheap, skip, below);
	}
}

/* At address 100; a part at 500 holds `cold`. */
static const struct {
	const char *cause, *code;
	size_t len;
	const char *cold;
	size_t cold_len;
	bool known;
	uint32_t returns, jumps, ifs;
	bool restarts, loops;
} ends[] = {
	{"ret", CODE("\x90\xc3"), CODE(""), true, 1, 0, 0, false, false},
	{"three", CODE("\x74\x01\xc3\xf3\xc3\xc2\x08\x00"), CODE(""), true, 3, 0, 0, false, false},
	{"c3 is an operand", CODE("\xb8\xc3\xc3\xc3\xc3\xc3"), CODE(""), true, 1, 0, 0, false,
	 false},
	{"none", CODE("\xeb\xfe"), CODE(""), true, 0, 0, 0, false, true}, /* to its start */
	{"tail call", CODE("\x90\xe9\0\1\0\0"), CODE(""), true, 0, 1, 0, false, false},
	{"tail call, near", CODE("\x90\xeb\x7f"), CODE(""), true, 0, 1, 0, false, false},
	{"conditional jump out", CODE("\x0f\x84\0\1\0\0\xc3"), CODE(""), true, 1, 0, 0, false,
	 false},
	{"jump within", CODE("\x90\xeb\x00\xc3"), CODE(""), true, 1, 0, 0, false, false},
	{"by a pointer", CODE("\x5b\xff\xe0"), CODE(""), true, 0, 1, 0, false, false},
	{"by a pointer in memory", CODE("\xff\x25\0\0\0\0"), CODE(""), true, 0, 1, 0, false, false},
	{"by one in r8", CODE("\x41\xff\xe0"), CODE(""), true, 0, 1, 0, false, false},
	{"switch, by a sum", CODE("\x48\x01\xd0\xff\xe0\xc3"), CODE(""), true, 1, 0, 0, false,
	 false},
	{"switch, by a table", CODE("\xff\x24\xc5\0\0\0\0\xc3"), CODE(""), true, 1, 0, 0, false,
	 false},
	{"switch, not tracked", CODE("\x3e\xff\xe0\xc3"), CODE(""), true, 1, 0, 0, false, false},
	{"call", CODE("\xff\xd0\xe8\0\0\0\0\xc3"), CODE(""), true, 1, 0, 0, false, false},
	{"into the cold part", CODE("\xe9\x8b\1\0\0"), CODE("\x90\xc3"), true, 1, 0, 0, false,
	 false},
	{"out of the cold part", CODE("\xc3"), CODE("\xe9\0\1\0\0"), true, 1, 1, 0, false, false},
	{"back from there", CODE("\x90\xc3"), CODE("\xe9\x6c\xfe\xff\xff"), true, 1, 0, 0, true,
	 false},
	{"a loop", CODE("\x90\x90\x75\xfd\xc3"), CODE(""), true, 1, 0, 0, true, false},
	{"a loop from its start", CODE("\x90\x75\xfd\xc3"), CODE(""), true, 1, 0, 0, false, true},
	{"always", CODE("\x74\x02\xeb\xfc\xc3"), CODE(""), true, 1, 0, 0, false, true},
	{"conditional tail call", CODE("\x0f\x85\x22\3\0\0\xc3"), CODE(""), true, 1, 0, 1, false,
	 false},
	{"to a function nearby", CODE("\x75\x7e\xc3"), CODE(""), true, 1, 0, 1, false, false},
	{"not code", CODE("\x90\x06\xc3"), CODE(""), false, 0, 0, 0, false, false},
	{"cut off", CODE("\x90\xe9\0"), CODE(""), false, 0, 0, 0, false, false},
	{"empty", CODE(""), CODE(""), false, 0, 0, 0, false, false},
};

static void test_ends(void)
{
	static const uint64_t at[] = {100, 228, 908};
	const struct func_starts starts = {at, 3};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const struct func_code part[] = {
			{100, ends[i].len, (const uint8_t *)ends[i].code, false},
			{500, ends[i].cold_len, (const uint8_t *)ends[i].cold, false}};
		struct func_exits e;
		bool known = func_exits_find(part, 1 + !!ends[i].cold_len, 1, &starts, &e);

		CHECK(known == ends[i].known, "%s", ends[i].cause);
		CHECK(!known || (e.returns == ends[i].returns && e.jumps == ends[i].jumps &&
				 e.ifs == ends[i].ifs && e.restarts == ends[i].restarts &&
				 e.loops == ends[i].loops),
		      "%s: %u, %u, %u, %d, %d", ends[i].cause, e.returns, e.jumps, e.ifs,
		      e.restarts, e.loops);
		CHECK(!e.ifs || e.if_at[0] == 100, "%s", ends[i].cause);
	}
}

static const struct func_starts no_starts;

static void test_blocks(void)
{
	static const uint8_t code[] = "\x90\x74\x05\xe8\xc3\0\0\0\x0f\x0b\xc3";
	static const uint8_t jump[] = "\x90\xff\xe0\xc3", open[] = "\x90\x90";
	const struct func_code part = {100, 7, (const uint8_t *)"\x0f\x84\0\1\0\0\xc3", false};
	struct func_exits e;

	CHECK(func_exits_block(code, sizeof(code) - 1) == 10);
	CHECK(func_exits_block(jump, sizeof(jump) - 1) == 3);
	CHECK(!func_exits_block(open, sizeof(open) - 1));
	CHECK(func_exits_find(&part, 1, 0, &no_starts, &e) && e.beyond_cnt == 1 &&
	      e.beyond[0] == 362);
}

/* cmp rsp, [r14 + 16]; jbe; ret; call; jmp to the beginning, as in Go */
static void test_go(void)
{
	static const uint8_t code[32] = "\x49\x3b\x66\x10\x76\x01\xc3\xe8\0\0\0\0\xeb\xf2";
	static const uint8_t large[32] = "\x4c\x8d\x64\x24\x80\x4d\x3b\x66\x10\x0f\x86";
	static const uint8_t other[32] = "\x49\x3b\x66\x18\x76\x01";
	const struct func_code again = {100, 14, code, true}, loop = {100, 14, code, false};
	struct func_exits e;

	CHECK(go_code_check(code, sizeof(code)) == 4 && go_code_check(large, sizeof(large)) == 9);
	CHECK(!go_code_check(other, sizeof(other)) && !go_code_check(code, 10));
	CHECK(func_exits_find(&again, 1, 4, &no_starts, &e) && e.returns == 1 && !e.jumps &&
	      !e.restarts && !e.loops);
	CHECK(func_exits_find(&loop, 1, 4, &no_starts, &e) && e.returns == 1 && !e.jumps &&
	      e.loops);
}

static void test_many_ends(void)
{
	static uint8_t code[FUNC_EXITS_MAX + 1];
	const struct func_code part = {100, sizeof(code), code, false};
	struct func_exits e;

	memset(code, 0xc3, sizeof(code));
	CHECK(!func_exits_find(&part, 1, 0, &no_starts, &e));
}

#else
static void test_places(void)
{
}
static void test_places_args(void)
{
}
static void test_ends(void)
{
}
static void test_blocks(void)
{
}
/* ldr x16, [x28, #16]; cmp sp, x16; b.ls */
static void test_go(void)
{
	static const uint8_t code[32] = "\x90\x0b\x40\xf9\xff\x63\x30\xeb\x09\x01\x00\x54";

	CHECK(go_code_check(code, sizeof(code)) == 8 && !go_code_check(code, 10));
}
static void test_many_ends(void)
{
}
#endif

struct found {
	size_t cnt, by_return;
	uint32_t indirect;
	char name[64];
};

static bool count(void *ctx, const struct func_site *s)
{
	struct found *f = ctx;

	f->cnt++;
	f->by_return += s->by_return;
	snprintf(f->name, sizeof(f->name), "%s", s->name);
	return true;
}

static struct found find(int fd, const char *pattern, bool uretprobes)
{
	struct found f = {0};

	func_find(fd, &pattern, 1, uretprobes, count, &f, &f.indirect);
	return f;
}

/* Functions of two names are found once, by the name asked for. */
__attribute__((noinline, used)) void found_once(void)
{
	__asm__ volatile("");
}
void found_alias(void) __attribute__((alias("found_once"), used));

static void test_files(void)
{
	int fd = open("/proc/self/exe", O_RDONLY), libc;
	struct link_map *map = dlopen("libc.so.6", RTLD_LAZY);
	struct found f = find(fd, "main", false);

	CHECK(f.cnt == 1 && !strcmp(f.name, "main"));
	f = find(fd, "*", true);
	CHECK(f.cnt >= 2 && f.by_return == f.cnt);
	f = find(fd, "found_*", false);
	CHECK(f.cnt == 1, "%zu", f.cnt);
	f = find(fd, "found_alias", false);
	CHECK(f.cnt == 1 && !strcmp(f.name, "found_alias"), "%s", f.name);
	f = find(fd, "mai", false);
	CHECK(!f.cnt);
	libc = map ? open(map->l_name, O_RDONLY) : -1;
	CHECK(libc >= 0, "%s", strerror(errno));
	f = find(libc, "malloc", false);
	CHECK(f.cnt == 1 && !strcmp(f.name, "malloc"));
	f = find(libc, "strlen", false);
	CHECK(!f.cnt && f.indirect == 1, "%zu, %u", f.cnt, f.indirect);
	f = find(libc, "*", false);
	CHECK(f.cnt == FUNC_MAX, "%zu", f.cnt);
#if defined(__x86_64__)
	CHECK(f.by_return < f.cnt / 20, "%zu of %zu", f.by_return, f.cnt);
#endif
	close(libc);
	close(fd);
}

static void find_any(int fd)
{
	find(fd, "[a-z]*", false);
}

int main(void)
{
	test_places();
	test_places_args();
	test_ends();
	test_blocks();
	test_go();
	test_many_ends();
	test_files();
	each_damaged(find_any);
	return failed;
}
