/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Both functions return through closures that they deferred (to unlock). These are called one by
 * one and find the results already in the frame:
 *
 *	call *rax			once for each
 *	mov rax, [rsp + disp]		the count
 *	mov ..., [rsp + ...]
 *	add rsp, ...; pop rbp		(or mov rbp, [rsp + ...] before)
 *	ret
 *
 * A return instruction and all instructions before it must be single-stepped. The jump at the entry
 * of a closure can be emulated, and the count is found above the closure's return address. So most
 * returns are probed there. Returns before the first defer (errors) are probed at the return
 * instruction. So are all returns if obrec cannot determine where the count is stored.
 */
#include <string.h>

#include "record/binary/tls_find_go.h"

#if defined(__x86_64__)
#include "record/binary/go_code.h"
#include "record/binary/x86_insn.h"

enum { DEFERRED_MAX = 2 };

struct conn_function {
	const char *name;
	enum tls_kind kind;
	struct go_code code;
	struct go_code
		deferred[DEFERRED_MAX]; /* in the order of deferring; the last is called first */
};

/* ---- look-up ---- */

/* Closures are numbered per function. Since Go 1.22 those made for defer have names that say so. */
static int deferred_number(const char *rest)
{
	static const char *const names[] = {".func", ".deferwrap"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (!strncmp(rest, names[i], len) && rest[len] >= '1' &&
		    rest[len] < '1' + DEFERRED_MAX && !rest[len + 1])
			return rest[len] - '1';
	}
	return -1;
}

static struct go_code *code_of(struct conn_function *fn, const char *name)
{
	size_t len = strlen(fn->name);
	int number;

	if (strncmp(name, fn->name, len))
		return NULL;
	if (!name[len])
		return &fn->code;
	number = deferred_number(name + len);
	return number < 0 ? NULL : &fn->deferred[number];
}

struct finding {
	struct conn_function *fn;
	size_t cnt;
};

static void on_function(void *ctx, const struct go_function *f)
{
	struct finding *to = ctx;

	if (strncmp(f->name, "crypto/tls", 10) || f->end - f->start > TLS_GO_MAX_SZ)
		return;
	for (size_t i = 0; i < to->cnt; i++) {
		struct go_code *c = code_of(&to->fn[i], f->name);

		if (c && !c->end) {
			c->start = f->start;
			c->end = f->end;
		}
	}
}

/* ---- instructions ---- */

/* The straight-line code that leads to a return. */
struct way {
	unsigned calls;	    /* number of closure calls */
	uint32_t result_at; /* offset from rsp of the count loaded after the calls; 0: none */
};

static bool is_load_of_count(const uint8_t *p, size_t len, uint32_t *at)
{
	if (len == 5 && !memcmp(p, "\x48\x8b\x44\x24", 4)) { /* mov rax, [rsp + disp8] */
		*at = p[4];
		return p[4] < 0x80;
	}
	if (len != 8 || memcmp(p, "\x48\x8b\x84\x24", 4)) /* disp32 */
		return false;
	memcpy(at, p + 4, 4);
	return *at < TLS_GO_MAX_SZ;
}

/* Accepts moves to and from the frame, and the epilogue. */
static bool leads_on(const uint8_t *p, size_t len)
{
	if (p[0] == 0x90 || p[0] == 0x5d) /* nop; pop rbp */
		return true;
	if (p[0] == 0xc6) /* mov byte [rsp + ...], imm8: bit mask of pending closures */
		return len > 3 && p[2] == 0x24;
	if (len < 3 || (p[0] & 0xfb) != 0x48) /* REX.W, REX.WR */
		return false;
	return p[1] == 0x8b || !memcmp(p, "\x48\x83\xc4", 3) || !memcmp(p, "\x48\x81\xc4", 3);
}

static void follow(struct way *w, const uint8_t *p, size_t len)
{
	uint32_t at;

	if (len == 2 && !memcmp(p, "\xff\xd0", 2)) { /* call rax */
		w->calls++;
		w->result_at = 0;
	} else if (w->calls && !w->result_at && is_load_of_count(p, len, &at)) {
		w->result_at = at;
	} else if (!leads_on(p, len)) {
		*w = (struct way){0};
	}
}

/* ---- sites ---- */

/*
 * Index of the closure whose entry stands for returns: the first deferred one that can be probed.
 */
static unsigned listened(const struct conn_function *fn)
{
	for (unsigned i = 0; i < DEFERRED_MAX; i++)
		if (go_code_entry(&fn->deferred[i]))
			return i;
	return DEFERRED_MAX;
}

/* Adds all return instructions, or returns false. *result_at: stack offset of the count in
 * closures, 0: unknown. */
static bool add_returns(struct tls_sites *to, const struct conn_function *fn, uint32_t *result_at)
{
	const struct go_code *c = &fn->code;
	unsigned closure = listened(fn);
	struct way w = {0};
	size_t n;

	*result_at = 0;
	for (size_t at = 0; at < c->end - c->start; at += n) {
		struct tls_site ret = {c->offset + at, TLS_GO_RETURN, true, fn->name, 0};

		n = x86_insn_len(c->bytes + at, c->end - c->start - at);
		if (!n)
			return false;
		if (n > 1 || c->bytes[at] != 0xc3) {
			follow(&w, c->bytes + at, n);
			continue;
		}
		if (closure < DEFERRED_MAX && w.calls > closure && w.result_at &&
		    (!*result_at || *result_at == w.result_at)) {
			*result_at = w.result_at;
			ret.kind = TLS_GO_LATE_RETURN;
		}
		w = (struct way){0};
		if (!tls_sites_add(to, &ret))
			return false;
	}
	return true;
}

static void add_function(struct tls_sites *to, const struct conn_function *fn)
{
	size_t before = to->cnt, entry = go_code_entry(&fn->code);
	struct tls_site site = {fn->code.offset + entry, fn->kind, false, fn->name, 0};
	const struct go_code *d;
	uint32_t result_at;
	bool all = entry && add_returns(to, fn, &result_at);

	if (all && result_at) {
		d = &fn->deferred[listened(fn)];
		all = tls_sites_add(to, &(struct tls_site){d->offset + go_code_entry(d),
							   TLS_GO_DEFERRED, false, fn->name,
							   result_at});
	}
	/* A call without a probed return would never end. */
	if (!all || !tls_sites_add(to, &site))
		to->cnt = before;
}

bool tls_go_find(int fd, Elf *elf, struct tls_sites *sites)
{
	struct conn_function fn[] = {
		{.name = "crypto/tls.(*Conn).Read", .kind = TLS_GO_READ},
		{.name = "crypto/tls.(*Conn).Write", .kind = TLS_GO_WRITE},
	};
	enum { CNT = sizeof(fn) / sizeof(fn[0]) };
	size_t before = sites->cnt;

	if (!go_code_each(elf, on_function, &(struct finding){fn, CNT}))
		return false;
	for (size_t i = 0; i < CNT; i++) {
		for (size_t j = 0; j < DEFERRED_MAX; j++)
			go_code_read(fd, elf, &fn[i].deferred[j]);
		if (go_code_read(fd, elf, &fn[i].code))
			add_function(sites, &fn[i]);
		go_code_fini(&fn[i].code);
		for (size_t j = 0; j < DEFERRED_MAX; j++)
			go_code_fini(&fn[i].deferred[j]);
	}
	return sites->cnt > before;
}
#else
bool tls_go_find(int fd, Elf *elf, struct tls_sites *sites)
{
	(void)fd, (void)elf, (void)sites;
	return false;
}
#endif
