/* SPDX-License-Identifier: BSD-2-Clause */
#include "record/host/ksym_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SZ (64u << 10)
#define MAX_SYMBOLS (4u << 20)
/* Maximum size of a symbol whose end is unknown: BPF programs and the last symbol of a module. */
#define MAX_OPEN_SZ (128u << 10)

/* ---- lines of a file, read in blocks */

/* Returns 0 or 1 to continue. A negative value stops. */
typedef int (*line_fn)(void *ctx, char *line, size_t len);

static int each_line(int fd, line_fn fn, void *ctx)
{
	char *buf = malloc(BLOCK_SZ + 1);
	size_t have = 0;
	off_t off = 0;
	int err = buf ? 0 : -ENOMEM;

	while (!err) {
		ssize_t n = pread(fd, buf + have, BLOCK_SZ - have, off);
		char *at = buf, *end;

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = n ? -errno : 0;
			break;
		}
		off += n, have += n;
		while (!err && (end = memchr(at, '\n', buf + have - at))) {
			*end = 0;
			err = fn(ctx, at, end - at);
			at = end + 1;
		}
		have -= at - buf;
		memmove(buf, at, have);
		if (have == BLOCK_SZ)
			err = -EBADMSG; /* a line of 64 KiB */
	}
	free(buf);
	return err;
}

/* ---- one line: "ffffffff81000000 T name\t[module]" */

struct ksym_line {
	uint64_t address;
	char type;
	const char *name, *module; /* module: "" for the kernel proper */
	size_t name_len;
};

static const char *parse_hex(const char *p, uint64_t *v)
{
	const char *start = p;

	for (*v = 0; p - start < 16; p++) {
		unsigned digit = *p >= '0' && *p <= '9'			? *p - '0'
				 : (*p | 32) >= 'a' && (*p | 32) <= 'f' ? (*p | 32) - 'a' + 10
									: 16;

		if (digit == 16)
			break;
		*v = *v << 4 | digit;
	}
	return p > start ? p : NULL;
}

static bool parse_line(char *line, struct ksym_line *l)
{
	const char *p = parse_hex(line, &l->address);
	char *bracket;

	if (!p || p[0] != ' ' || !p[1] || p[2] != ' ' || !p[3])
		return false;
	l->type = p[1];
	l->name = p + 3;
	l->name_len = strcspn(l->name, " \t");
	l->module = "";
	bracket = strchr(l->name + l->name_len, '[');
	((char *)l->name)[l->name_len] = 0;
	if (bracket) {
		l->module = bracket + 1;
		bracket[1 + strcspn(bracket + 1, "]")] = 0;
	}
	return l->name_len != 0;
}

static bool is_text(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* Labels of the linker are none. */
static bool is_variable(const struct ksym_line *l)
{
	return strchr("bBdDrRgGsSvV", l->type) && strncmp(l->name, "__start_", 8) &&
	       strncmp(l->name, "__stop_", 7) && strcmp(l->name, "__init_begin");
}

static bool ends_with(const struct ksym_line *l, const char *tail)
{
	size_t len = strlen(tail);

	return l->name_len >= len && !strcmp(l->name + l->name_len - len, tail);
}

/* Labels of the linker script (vmlinux.lds.h) are not functions: any alias is preferred. */
static bool is_label(const struct ksym_line *l, bool *end)
{
	*end = !strcmp(l->name, "_etext") || !strcmp(l->name, "_einittext") ||
	       ends_with(l, "text_end");
	return *end || !strcmp(l->name, "_text") || !strcmp(l->name, "_stext") ||
	       !strcmp(l->name, "_sinittext") || ends_with(l, "text_start");
}

/* Prefers the plain global name of several at one address: sys_x before __do_sys_x. */
static uint8_t rank_of(const struct ksym_line *l)
{
	unsigned rank = l->type == 'T' ? 0 : l->type == 'W' || l->type == 'w' ? 16 : 32;

	return rank + strspn(l->name, "_") % 16;
}

/* Without __pfx_f, the padding before f: half of all symbols. */
static bool is_function(const struct ksym_line *l)
{
	return is_text(l->type) && strncmp(l->name, "__pfx_", 6);
}

/* ---- filling the table */

static int grow(void **p, size_t *cap, size_t want, size_t entsize, size_t first)
{
	size_t new_cap = *cap ? *cap : first;
	void *bigger;

	if (want <= *cap)
		return 0;
	while (new_cap < want)
		new_cap += new_cap / 2;
	bigger = reallocarray(*p, new_cap, entsize);
	if (!bigger)
		return -ENOMEM;
	*p = bigger, *cap = new_cap;
	return 0;
}

/* Symbols of a module are consecutive, so it is nearly always the last one. */
static int module_index(struct ksym_table *t, const char *name)
{
	struct kmodule *m;

	for (size_t i = t->module_cnt; i-- > 0;)
		if (!strncmp(t->modules[i].name, name, sizeof(m->name) - 1))
			return i;
	if (t->module_cnt >= UINT16_MAX)
		return 0;
	if (grow((void **)&t->modules, &t->module_cap, t->module_cnt + 1, sizeof(*m), 64))
		return -ENOMEM;
	m = &t->modules[t->module_cnt];
	*m = (struct kmodule){0};
	snprintf(m->name, sizeof(m->name), "%s", name);
	return t->module_cnt++;
}

static int add_symbol(void *ctx, char *line, size_t len)
{
	struct ksym_table *t = ctx;
	struct ksym_line l;
	bool label, end;
	int module;

	if (!parse_line(line, &l) || !l.address ||
	    !(t->variables ? is_variable(&l) || is_label(&l, &end) : is_function(&l)))
		return 0;
	module = module_index(t, l.module);
	if (module < 0 ||
	    grow((void **)&t->syms, &t->cap, t->cnt + 1, sizeof(*t->syms), 96 << 10) ||
	    grow((void **)&t->names, &t->names_cap, t->names_sz + l.name_len + 1, 1, 2 << 20))
		return -ENOMEM;
	if (t->cnt >= MAX_SYMBOLS)
		return -E2BIG;
	label = is_label(&l, &end);
	t->syms[t->cnt++] = (struct ksym){.address = l.address,
					  .name = t->names_sz,
					  .module = module,
					  .rank = label ? KSYM_RANK_LABEL : rank_of(&l),
					  .end = label && end};
	memcpy(t->names + t->names_sz, l.name, l.name_len + 1);
	t->names_sz += l.name_len + 1;
	return 0;
}

/* "name size refcount users state 0xaddress" */
static int add_module_end(void *ctx, char *line, size_t len)
{
	struct ksym_table *t = ctx;
	char name[64];
	unsigned long long size, address;

	if (sscanf(line, "%63s %llu %*s %*s %*s %llx", name, &size, &address) != 3 || !address)
		return 0;
	for (size_t i = 1; i < t->module_cnt; i++)
		if (!strcmp(t->modules[i].name, name))
			t->modules[i].end = address + size;
	return 0;
}

static int by_address(const void *pa, const void *pb)
{
	const struct ksym *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->rank != b->rank ? a->rank - b->rank : a->name < b->name ? -1 : 1;
}

/* Sections adjoin on some kernels (7.2): the end of one and the start of the next are at the same
 * address, and both labels are looked for by name. */
static bool is_alias(const struct ksym_table *t, const struct ksym *a, const struct ksym *b)
{
	return a->address == b->address &&
	       !(t->variables && a->rank == KSYM_RANK_LABEL && b->rank == KSYM_RANK_LABEL);
}

static void sort_and_keep_best(struct ksym_table *t)
{
	size_t kept = 0;
	bool sorted = true;

	for (size_t i = 1; sorted && i < t->cnt; i++)
		sorted = by_address(&t->syms[i - 1], &t->syms[i]) < 0;
	if (!sorted)
		qsort(t->syms, t->cnt, sizeof(*t->syms), by_address);
	for (size_t i = 0; i < t->cnt; i++)
		if (!kept || !is_alias(t, &t->syms[kept - 1], &t->syms[i]))
			t->syms[kept++] = t->syms[i];
	t->cnt = kept;
}

static void shrink(struct ksym_table *t)
{
	struct ksym *syms = reallocarray(t->syms, t->cnt, sizeof(*syms));
	char *names = realloc(t->names, t->names_sz);

	if (syms)
		t->syms = syms, t->cap = t->cnt;
	if (names)
		t->names = names, t->names_cap = t->names_sz;
}

static int load(struct ksym_table *t, int symbols_fd, int modules_fd, bool variables)
{
	int err;

	*t = (struct ksym_table){.variables = variables};
	err = module_index(t, ""); /* 0 */
	err = err < 0 ? err : each_line(symbols_fd, add_symbol, t);
	if (!err && !t->cnt)
		err = -EPERM;
	if (!err && t->module_cnt > 1 && modules_fd >= 0)
		each_line(modules_fd, add_module_end, t); /* on failure module ends are estimated */
	if (err) {
		ksym_table__fini(t);
		return err;
	}
	sort_and_keep_best(t);
	shrink(t);
	return 0;
}

int ksym_table__load(struct ksym_table *t, int symbols_fd, int modules_fd)
{
	return load(t, symbols_fd, modules_fd, false);
}

int ksym_table__load_variables(struct ksym_table *t, int symbols_fd)
{
	return load(t, symbols_fd, -1, true);
}

void ksym_table__fini(struct ksym_table *t)
{
	free(t->syms);
	free(t->names);
	free(t->modules);
	*t = (struct ksym_table){0};
}

/* ---- looking up */

static int first_text(void *ctx, char *line, size_t len)
{
	struct ksym_line l;

	if (!parse_line(line, &l) || !is_text(l.type))
		return 0;
	return l.address ? 1 : -EPERM;
}

int ksym_table_visible(int symbols_fd)
{
	int rc = each_line(symbols_fd, first_text, NULL);

	return rc > 0 ? 0 : rc ? rc : -ENODATA;
}

static uint64_t end_of(const struct ksym_table *t, const struct ksym *s)
{
	const struct ksym *next = s + 1;
	uint64_t end = s->address + MAX_OPEN_SZ;
	bool last = next == t->syms + t->cnt;

	/* BPF programs are separate: the next one need not be adjacent */
	if (!last && next->module == s->module && strcmp(ksym_module(t, s), "bpf"))
		return next->address;
	if (t->modules[s->module].end > s->address && t->modules[s->module].end < end)
		end = t->modules[s->module].end;
	return !last && next->address < end ? next->address : end;
}

const struct ksym *ksym_table_find(const struct ksym_table *t, uint64_t address, uint64_t *size)
{
	size_t low = 0, high = t->cnt;
	const struct ksym *s;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->syms[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	s = &t->syms[low - 1];
	if (s->end)
		return NULL;
	*size = end_of(t, s) - s->address;
	return address - s->address < *size ? s : NULL;
}

int ksym_range(const char *func, uint64_t range[2])
{
	int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
	struct ksym_table t = {0};
	uint64_t size = 0;
	int err = fd < 0 ? -errno : ksym_table__load(&t, fd, -1);
	size_t i = 0;

	while (!err && i < t.cnt && (t.syms[i].module || strcmp(ksym_name(&t, &t.syms[i]), func)))
		i++;
	if (!err && (i == t.cnt || !ksym_table_find(&t, t.syms[i].address, &size)))
		err = -ENOENT;
	if (!err) {
		range[0] = t.syms[i].address;
		range[1] = range[0] + size;
	}
	ksym_table__fini(&t);
	if (fd >= 0)
		close(fd);
	return err;
}
