/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names of variables and layouts of types are not in a stripped program, and the latter differ
 * between versions of Go. Both are read from the code that uses them:
 *
 *	mov rax, [rip + MemProfileRate]		runtime.nextSample, or runtime.profilealloc, into
 *	cmp rax, 1				which it is inlined (if MemProfileRate == 1)
 *
 *	mov byte [rbx + 10], 2			runtime.setprofilebucket (s.special.kind = ...)
 */
#include "record/binary/alloc_find_go.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include "record/binary/go_code.h"
#include "record/binary/x86_insn.h"

enum { CODE_MAX = 64 << 10, REGISTERS = 16, REX_W = 8, REX_R = 4, REX_B = 1 };

/* An instruction with REX.W prefix and, after its opcode, a ModRM byte. */
struct insn {
	const uint8_t *p; /* the opcode */
	size_t left;
	unsigned rex, mod, reg, rm;
};

static struct insn insn_of(const uint8_t *p, size_t len)
{
	struct insn i = {.p = p, .left = len};

	if (len < 3 || (p[0] & 0xf8) != (0x40 | REX_W))
		return (struct insn){0};
	i.rex = p[0];
	i.p++;
	i.left--;
	i.mod = i.p[1] >> 6;
	i.reg = (i.p[1] >> 3 & 7) | (i.rex & REX_R ? 8 : 0);
	i.rm = (i.p[1] & 7) | (i.rex & REX_B ? 8 : 0);
	return i;
}

static bool is_rip_relative(const struct insn *i)
{
	return i->mod == 0 && (i->p[1] & 7) == 5 && i->left >= 6;
}

static uint64_t target(const struct insn *i, uint64_t next)
{
	int32_t by;

	memcpy(&by, i->p + 2, sizeof(by));
	return next + by;
}

uint64_t alloc_go_rate_at(const uint8_t *code, size_t len, uint64_t start)
{
	uint64_t loaded[REGISTERS] = {0};

	for (size_t at = 0, n; at < len; at += n) {
		struct insn i;

		n = x86_insn_len(code + at, len - at);
		if (!n)
			return 0;
		i = insn_of(code + at, n);
		if (!i.p)
			continue;
		if (*i.p == 0x8b) /* mov reg, [...] */
			loaded[i.reg] = is_rip_relative(&i) ? target(&i, start + at + n) : 0;
		if (*i.p != 0x83 || (i.reg & 7) != 7 || i.p[i.left - 1] != 1) /* cmp ..., 1 */
			continue;
		if (is_rip_relative(&i))
			return target(&i, start + at + n);
		if (i.mod == 3 && loaded[i.rm])
			return loaded[i.rm];
	}
	return 0;
}

bool alloc_go_special(const uint8_t *code, size_t len, struct alloc_go *go)
{
	for (size_t at = 0, n; at < len; at += n) {
		const uint8_t *p = code + at;

		n = x86_insn_len(p, len - at);
		if (!n)
			return false;
		if (n == 5 && p[0] == 0x41) /* REX.B */
			p++;
		/* mov byte [reg + disp8], imm8 */
		if (n != 4 + (size_t)(p - code - at) || p[0] != 0xc6 || p[1] >> 3 != 8 ||
		    (p[1] & 7) == 4 || !p[2] || p[2] > 127)
			continue;
		go->special_at = p[2];
		go->special = p[3];
		return true;
	}
	return false;
}

/* ---- in a file */

enum wanted { PROFILEALLOC, NEXT_SAMPLE, SET_PROFILE_BUCKET, FREE_SPECIAL, WANTED_CNT };

struct finding {
	struct go_code code[WANTED_CNT];
	bool profiler;
};

/* The linker leaves the profiler's functions out if nothing calls them, and sets MemProfileRate to
 * 0 then (runtime.disableMemoryProfiling). The internal one is that of Go 1.23. */
static bool is_profiler(const char *name)
{
	return !strcmp(name, "MemProfile") || !strcmp(name, "memProfileInternal");
}

static void on_function(void *ctx, const struct go_function *fn)
{
	static const char *const names[WANTED_CNT] = {
		[PROFILEALLOC] = "profilealloc",
		[NEXT_SAMPLE] = "nextSample",
		[SET_PROFILE_BUCKET] = "setprofilebucket",
		[FREE_SPECIAL] = "freeSpecial",
	};
	struct finding *f = ctx;

	if (strncmp(fn->name, "runtime.", 8) || fn->end - fn->start > CODE_MAX)
		return;
	f->profiler |= is_profiler(fn->name + 8);
	for (size_t i = 0; i < WANTED_CNT; i++)
		if (!f->code[i].end && !strcmp(fn->name + 8, names[i])) {
			f->code[i].start = fn->start;
			f->code[i].end = fn->end;
		}
}

static uint64_t rate_at(const struct go_code *c)
{
	return c->bytes ? alloc_go_rate_at(c->bytes, c->end - c->start, c->start) : 0;
}

static bool put(struct alloc_site *s, const struct go_code *c, enum alloc_kind kind,
		const char *name)
{
	size_t entry = go_code_entry(c), len = c->end - c->start;

	if (!entry || len < entry + ALLOC_CODE_AT + sizeof(s->place.code))
		return false;
	*s = (struct alloc_site){
		.kind = kind,
		.offset = c->offset + entry,
		.address = c->start + entry,
		.start = c->start,
		.end = c->end,
	};
	s->place.position = s->offset & 0xfff;
	memcpy(s->place.code, c->bytes + entry + ALLOC_CODE_AT, sizeof(s->place.code));
	snprintf(s->name, sizeof(s->name), "%s", name);
	return true;
}

static size_t put_all(const struct finding *f, struct alloc_site *sites, enum alloc_go_lack *lack)
{
	const struct go_code *bucket = &f->code[SET_PROFILE_BUCKET];
	struct alloc_go go = {.rate_at = rate_at(&f->code[PROFILEALLOC])};

	if (!go.rate_at)
		go.rate_at = rate_at(&f->code[NEXT_SAMPLE]);
	*lack = ALLOC_GO_LACKS_FUNCTION;
	if (!go.rate_at ||
	    !put(&sites[0], &f->code[PROFILEALLOC], ALLOC_go_sample, "runtime.profilealloc"))
		return 0;
	sites[0].go = go;
	*lack = f->profiler ? ALLOC_GO_LACKS_FREES : ALLOC_GO_LACKS_PROFILER;
	if (!bucket->bytes || !alloc_go_special(bucket->bytes, bucket->end - bucket->start, &go) ||
	    !put(&sites[1], &f->code[FREE_SPECIAL], ALLOC_go_free, "runtime.freeSpecial"))
		return 1;
	sites[0].go = sites[1].go = go;
	if (f->profiler)
		*lack = ALLOC_GO_LACKS_NOTHING;
	return 2;
}

size_t alloc_find_go(int fd, Elf *elf, struct alloc_site *sites, size_t room,
		     enum alloc_go_lack *lack)
{
	struct finding f = {0};
	size_t cnt;

	if (room < 2 || !go_code_each(elf, on_function, &f))
		return 0;
	for (size_t i = 0; i < WANTED_CNT; i++)
		go_code_read(fd, elf, &f.code[i]);
	cnt = put_all(&f, sites, lack);
	for (size_t i = 0; i < WANTED_CNT; i++)
		go_code_fini(&f.code[i]);
	return cnt;
}
#else
size_t alloc_find_go(int fd, Elf *elf, struct alloc_site *sites, size_t room,
		     enum alloc_go_lack *lack)
{
	(void)fd, (void)elf, (void)sites, (void)room, (void)lack;
	return 0;
}
#endif
