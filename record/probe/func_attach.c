/* SPDX-License-Identifier: BSD-2-Clause */
/* Attaches uprobes to the functions that a reader has found in a file. */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/text.h"
#include "obrec.skel.h"
#include "record/base/loss.h"
#include "record/binary/read_functions.h"
#include "record/binary/uprobe_place.h"
#include "record/host/uprobes.h"
#include "record/probe/func_impl.h"
#include "record/probe/func_usdt.h"

enum { PLACES_MAX = 65536 };

struct places {
	uint64_t *offsets, *cookies;
	uint32_t cnt;
};

/* What is attached in a file. */
struct attaching {
	struct probe_env *env;
	const char *path;
	uint32_t set;
	struct places entries, by_return, returns, jumps, ifs;
	const struct func_operand *operand[RECORD_OPERANDS]; /* those asked for, in order */
	struct func_usdt usdt;
	struct places patched; /* all of these, in order, where places are told by their code */
	bool full;
	char unknown[256]; /* names of functions whose exits are not known */
	size_t unknown_cnt;
};

static void add_place(struct attaching *a, struct places *p, uint64_t offset, uint64_t cookie)
{
	if (!p->offsets) {
		p->offsets = malloc(PLACES_MAX * sizeof(*p->offsets));
		p->cookies = malloc(PLACES_MAX * sizeof(*p->cookies));
	}
	if (!p->offsets || !p->cookies || p->cnt == PLACES_MAX) {
		a->full = true;
		return;
	}
	p->offsets[p->cnt] = offset;
	p->cookies[p->cnt++] = cookie;
}

static int attach_places(const struct attaching *a, int fd, const struct bpf_program *multi,
			 const struct bpf_program *each, const struct places *p, bool at_return)
{
	bool many = func_is_multi(a->env);
	const struct uprobe_places at = {.prog_fd = bpf_program__fd(many ? multi : each),
					 .offsets = p->offsets,
					 .cookies = p->cookies,
					 .cnt = p->cnt,
					 .at_return = at_return,
					 .multi = many};

	return p->cnt ? uprobes__attach(a->env->uprobes, a->set, fd, &at) : 0;
}

/* Returns first: a call whose return is missed would never end. */
static int attach_all(const struct attaching *a, int fd)
{
	struct obrec_bpf *skel = a->env->skel;
	int err;

	err = attach_places(a, fd, skel->progs.func_returns, skel->progs.func_return, &a->by_return,
			    true);
	err = err ?: func_usdt_attach(a->env, &a->usdt, a->set, fd);
	err = err
		      ?: attach_places(a, fd, skel->progs.func_exits, skel->progs.func_exit,
				       &a->returns, false);
	err = err
		      ?: attach_places(a, fd, skel->progs.func_jumps, skel->progs.func_jump,
				       &a->jumps, false);
	err = err
		      ?: attach_places(a, fd, skel->progs.func_ifs, skel->progs.func_if, &a->ifs,
				       false);
	return err
		       ?: attach_places(a, fd, skel->progs.func_entries, skel->progs.func_entry,
					&a->entries, false);
}

/* Notes where probes will be. */
static void find_patched(struct attaching *a, struct parcel *answer, struct func_site *site)
{
	size_t from = answer->at;
	struct usdt_site usdt;
	uint32_t indirect;

	if (func_is_multi(a->env))
		return;
	while (read_functions_next(answer, site)) {
		add_place(a, &a->patched, site->entry, 0);
		for (uint32_t i = 0; i < site->exits.returns + site->exits.jumps; i++)
			add_place(a, &a->patched, site->exits.at[i], 0);
		for (uint32_t i = 0; i < site->exits.ifs; i++)
			add_place(a, &a->patched, site->exits.if_at[i], 0);
	}
	read_functions_left_out(answer, &indirect);
	while (read_functions_next_usdt(answer, &usdt))
		add_place(a, &a->patched, usdt.offset, 0);
	answer->at = from;
	uprobe_place_sort(a->patched.offsets, a->patched.cnt);
}

static struct func_place patched_place(const struct attaching *a, struct func_place place,
				       uint64_t offset)
{
	uprobe_place_patch((uint8_t *)place.code, sizeof(place.code), offset + FUNC_CODE_AT,
			   a->patched.offsets, a->patched.cnt);
	return place;
}

/* Without cookies the place is known by its code. */
static bool tell_place(const struct attaching *a, const struct func_site *site, uint32_t cookie)
{
	struct probe_env *env = a->env;
	const struct func_place place = patched_place(a, site->place, site->entry);
	int err = func_is_multi(env) ? 0
				     : bpf_map_update_elem(bpf_map__fd(env->skel->maps.func_places),
							   &place, &cookie, BPF_NOEXIST);

	if (err)
		loss__add(env->loss, "func",
			  err == -EEXIST ? "function: its code is like that of another one"
					 : "function: too many",
			  1);
	return !err;
}

/* Parts of keys are separated by tabs. */
static void set_name(char *to, size_t sz, const char *name)
{
	snprintf(to, sz, "%s", name);
	for (; *to; to++)
		if ((unsigned char)*to < ' ')
			*to = '?';
}

/* Gives a function the next number. */
bool func_attach_number(struct probe_env *env, const char *function, const char *binary,
			uint64_t wants, uint32_t *number)
{
	struct funcs *f = func_state(env);
	struct func_name *name;

	if (f->cnt == FUNC_MAX) {
		loss__add(env->loss, "func", "function: too many", 1);
		return false;
	}
	*number = f->cnt++;
	name = &f->names[*number];
	set_name(name->function, sizeof(name->function), function);
	set_name(name->binary, sizeof(name->binary), binary);
	name->wants = wants;
	bpf_map_update_elem(bpf_map__fd(env->skel->maps.func_names), number, name, BPF_ANY);
	return true;
}

bool func_attach_number_once(struct probe_env *env, const char *function, const char *binary,
			     uint64_t wants, uint32_t *number)
{
	const struct funcs *f = func_state(env);

	for (uint32_t i = 0; i < f->cnt; i++)
		if (f->names[i].wants == wants && !strcmp(f->names[i].function, function) &&
		    !strcmp(f->names[i].binary, binary)) {
			*number = i;
			return true;
		}
	return func_attach_number(env, function, binary, wants, number);
}

static const char *base_name(const char *path)
{
	const char *base = strrchr(path, '/');

	return base ? base + 1 : path;
}

/* What the operands ask for together; of several types, the first one's. */
static uint64_t all_wants(const struct attaching *a, uint32_t operands, uint32_t matches)
{
	uint64_t wants = FUNC_UNTIMED;

	for (unsigned i = 0; i < operands; i++) {
		uint64_t more = matches >> i & 1 ? a->operand[i]->wants : FUNC_UNTIMED;

		for (unsigned n = 0; n < USDT_ARGS; n++)
			if (!FUNC_WANTED(wants, n))
				wants |= FUNC_WANTS(n, FUNC_WANTED(more, n));
		if (!(more & FUNC_UNTIMED))
			wants &= ~FUNC_UNTIMED;
	}
	return wants;
}

static void mark_found(const struct attaching *a, unsigned operands, uint32_t matches)
{
	struct funcs *f = func_state(a->env);

	for (unsigned i = 0; i < operands; i++)
		if (matches >> i & 1)
			f->found[a->operand[i] - f->operand] = true;
}

static void add_usdt(struct attaching *a, struct parcel *answer, unsigned operands)
{
	struct usdt_site site;
	uint64_t left_out;

	while (read_functions_next_usdt(answer, &site) && site.pattern < operands) {
		const struct func_place place = patched_place(a, site.place, site.offset);
		uint32_t matches = 0;

		for (unsigned i = 0; i < operands; i++)
			if (a->operand[i]->usdt && usdt_matches(a->operand[i]->symbol, site.name))
				matches |= 1u << i;
		mark_found(a, operands, matches);
		func_usdt_add(a->env, &a->usdt, all_wants(a, operands, matches), &site, &place,
			      base_name(a->path));
	}
	left_out = read_functions_left_out_usdt(answer);
	if (left_out)
		loss__add(a->env->loss, "func", "USDT probe: no nop in the file, or too many",
			  left_out);
}

static void note_unknown(struct attaching *a, const char *name)
{
	size_t len = strlen(a->unknown);

	if (a->unknown_cnt++ < 3)
		snprintf(a->unknown + len, sizeof(a->unknown) - len, "%s%.64s", len ? ", " : "",
			 name);
}

static void tell_unknown(const struct attaching *a)
{
	char more[32] = "";

	if (!a->unknown_cnt)
		return;
	if (a->unknown_cnt > 3)
		snprintf(more, sizeof(more), " and %zu more", a->unknown_cnt - 3);
	message_warn("func: %s: not recorded: %s%s: not all return instructions could be found. "
		     "func:uretprobe needs none, but a C++ exception that passes the function ends "
		     "its program",
		     a->path, a->unknown, more);
}

/* A uretprobe would break the program, or might without having been asked for. */
static bool is_left_out(struct attaching *a, const struct func_site *site)
{
	bool asked = probe_env__option(a->env, &probe_func_entry, "uretprobe");

	if (!site->by_return || (!site->go && !site->pinned && (asked || !func_exits_possible())))
		return false;
	if (site->go || site->pinned) {
		loss__add(a->env->loss, "func",
			  site->go ? "function of Go: a uretprobe would break it"
				   : "function: a uretprobe would break it",
			  1);
		message_verbose("%s: %s: not attached: a uretprobe would break it", a->path,
				site->name);
	} else {
		loss__add(a->env->loss, "func", "function: return instructions not found", 1);
		note_unknown(a, site->name);
	}
	return true;
}

static void add_exits(struct attaching *a, const struct func_exits *e, uint32_t number,
		      uint32_t cookie)
{
	for (uint32_t i = 0; i < e->returns + e->jumps; i++)
		add_place(a, i < e->returns ? &a->returns : &a->jumps, e->at[i], cookie);
	/* Without cookies the code behind the breakpoint must tell the condition. */
	for (uint32_t i = 0; i < e->ifs; i++)
		if (func_is_multi(a->env) || e->if_opcode[i] >= 0x80)
			add_place(a, &a->ifs, e->if_at[i], FUNC_COOKIE_IF(number, e->if_opcode[i]));
}

static void add_function(struct attaching *a, uint32_t operands, const struct func_site *site)
{
	uint64_t wants = all_wants(a, operands, site->matches);
	uint32_t number, cookie;

	if (is_left_out(a, site))
		return;
	if (!func_attach_number(a->env, site->name, base_name(a->path), wants, &number))
		return;
	a->env->skel->bss->func_any_go |= site->go;
	cookie = FUNC_COOKIE(number, site->below) | (site->by_return ? FUNC_SHARES_FRAME : 0) |
		 (site->go ? FUNC_GO : 0) | (site->loops ? FUNC_LOOPS : 0);
	if (!tell_place(a, site, cookie))
		return;
	message_verbose("%s: %s at %#llx, %s%s", a->path, site->name,
			(unsigned long long)site->entry,
			site->by_return ? "uretprobe" : "return instructions",
			site->step ? "; entry single-stepped" : "");
	/* Without cookies the function is known from the entry only. */
	if (!(wants & FUNC_UNTIMED) || !func_is_multi(a->env))
		add_place(a, &a->entries, site->entry, cookie);
	if (site->by_return)
		add_place(a, &a->by_return, site->entry, cookie);
	add_exits(a, &site->exits, number, cookie);
}

static void note_indirect(const struct attaching *a, unsigned operands, uint32_t indirect)
{
	struct funcs *f = func_state(a->env);

	for (unsigned i = 0; i < operands; i++)
		f->indirect[a->operand[i] - f->operand] |= indirect >> i & 1;
}

static void places_fini(struct places *p)
{
	free(p->offsets);
	free(p->cookies);
}

void func_attach_found(struct probe_env *env, struct probed_file *to, int fd, const char *path,
		       uint32_t operands, struct parcel *answer)
{
	struct attaching a = {.env = env, .path = path, .set = to->uprobes};
	struct func_site *site = malloc(sizeof(*site));
	struct funcs *f = func_state(env);
	uint64_t left_out;
	uint32_t indirect;
	unsigned cnt = 0;
	int err = 0;

	if (answer->rc || !site) {
		loss__add(env->loss, "func",
			  answer->rc == -ETIMEDOUT ? "binary: reading timed out"
						   : "binary: cannot be read",
			  1);
		free(site);
		return;
	}
	for (unsigned i = 0; i < RECORD_OPERANDS; i++)
		if (operands >> i & 1)
			a.operand[cnt++] = &f->operand[i];
	find_patched(&a, answer, site);
	while (read_functions_next(answer, site) && site->pattern < cnt) {
		mark_found(&a, cnt, site->matches);
		add_function(&a, cnt, site);
	}
	left_out = read_functions_left_out(answer, &indirect);
	note_indirect(&a, cnt, indirect);
	tell_unknown(&a);
	if (left_out)
		loss__add(env->loss, "func", "function: too many", left_out);
	add_usdt(&a, answer, cnt);
	if (!a.full)
		err = attach_all(&a, fd);
	if (err || a.full) {
		loss__add(env->loss, "func",
			  err == -ETIMEDOUT ? "binary: attaching timed out"
					    : "binary: cannot attach",
			  1);
		message_verbose("%s: cannot attach: %s", path,
				a.full ? "too many places" : strerror(-err));
		if (!f->err)
			f->err = err ?: -E2BIG;
	}
	places_fini(&a.entries);
	places_fini(&a.by_return);
	places_fini(&a.returns);
	places_fini(&a.jumps);
	places_fini(&a.ifs);
	places_fini(&a.patched);
	func_usdt_fini(&a.usdt);
	free(site);
}
