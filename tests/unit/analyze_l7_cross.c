/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which protocol is it? Every conversation of tests/l7 on every protocol's well-known ports, whole,
 * joined late, with its first bytes missing, and one direction alone. What it is stands in the last
 * line of CASE.out ("unknown" for TLS, SSH, random bytes and other foreign things). A wrong name is
 * a failure always. No name is one unless it is among the shares allowed below, or in
 * tests/l7/PROTOCOL/unnamed (lines: VARIANT PERCENT # reason), which a new protocol may bring
 * along.
 */
#include <glob.h>

#include "l7_case.h"

enum variant {
	WHOLE,	 /* on every port */
	JOINED,	 /* from each call on, with two calls left at least in each direction */
	SHORT,	 /* joined with less left than that: one call may say nothing */
	MISSING, /* the first 100 bytes of one direction, or of both */
	MIDDLE,	 /* from a byte within a call on */
	ALONE,	 /* one direction */
	VARIANTS,
};
static const char *const variant_names[] = {"whole",	   "joined", "short",
					    "missing-100", "middle", "one-direction"};
/* Percent without a name that any protocol may have; the bytes cannot tell there. */
static const unsigned allowed[VARIANTS] = {
	[WHOLE] = 0, [JOINED] = 1, [SHORT] = 100, [MISSING] = 1, [MIDDLE] = 1, [ALONE] = 50};

struct row {
	char name[32], dir[64];
	unsigned runs[VARIANTS], unnamed[VARIANTS], wrong[VARIANTS], allowed[VARIANTS];
};

static struct row rows[64];
static size_t row_cnt;
static unsigned wrong;

/* What is left of a conversation. */
struct cut {
	size_t from;	  /* first call */
	uint64_t skip[2]; /* first bytes of a direction, lost */
	int only;	  /* direction; -1: both */
};

static void sink(void *ctx, struct l7_conn *c, const struct l7_exchange *x)
{
}

static void feed(struct l7_conn *c, const struct l7_piece *whole, uint64_t skip)
{
	struct l7_piece p = *whole;
	uint64_t off = skip > p.pos ? skip - p.pos : 0;

	if (off >= p.len)
		return;
	p.pos += off;
	p.len -= off;
	p.data.p += off < p.data.len ? off : p.data.len;
	p.data.len -= off < p.data.len ? off : p.data.len;
	l7_conn__feed(c, &p);
}

/* The name, "unknown" for none. */
static const char *name_of(const struct l7_case *k, const struct cut *cut, uint16_t port,
			   enum l7_role role)
{
	const struct l7_conn_opts opts = {.sink = sink, .role = role, .server_port = port};
	const struct l7_protocol *p;
	struct l7_conn *c;

	if (l7_conn__new(&c, &opts))
		exit(1);
	for (size_t i = cut->from; i < k->cnt; i++) {
		const struct l7_piece *piece = &k->v[i].piece;

		if (!k->v[i].lost && (cut->only < 0 || cut->only == (int)piece->dir))
			feed(c, piece, cut->skip[piece->dir]);
	}
	l7_conn__finish(c);
	p = l7_conn__protocol(c);
	l7_conn__free(c);
	return p ? p->name : "unknown";
}

static void one(struct row *r, const struct l7_case *k, const char *path, const char *want,
		enum variant v, const struct cut *cut, uint16_t port, enum l7_role role)
{
	const char *got = name_of(k, cut, port, role);

	r->runs[v]++;
	if (!strcmp(got, want) || (v != WHOLE && !strcmp(got, k->also)))
		return;
	if (!strcmp(got, "unknown")) {
		r->unnamed[v]++;
		if (getenv("VERBOSE"))
			printf("%s port %u %s from call %zu, byte %llu/%llu, direction %d: "
			       "unnamed\n",
			       path, port, variant_names[v], cut->from,
			       (unsigned long long)cut->skip[0], (unsigned long long)cut->skip[1],
			       cut->only);
		return;
	}
	r->wrong[v]++;
	if (wrong++ < 50)
		printf("%s port %u %s from call %zu, without %llu bytes sent, %llu received, "
		       "direction %d, role "
		       "%d: %s, is %s\n",
		       path, port, variant_names[v], cut->from, (unsigned long long)cut->skip[0],
		       (unsigned long long)cut->skip[1], cut->only, role, got, want);
}

/* The first of each protocol's ports, TLS's, and none that is known; `all`: each port. */
static size_t ports_of(uint16_t *ports, bool all)
{
	size_t n = 0;

	for (const struct l7_protocol *const *p = l7_protocols; *p; p++)
		for (size_t i = 0; i < (all ? sizeof((*p)->ports) / sizeof((*p)->ports[0]) : 1);
		     i++)
			if ((*p)->ports[i])
				ports[n++] = (*p)->ports[i];
	ports[n++] = 443;
	ports[n++] = 0;
	return n;
}

/* Two whole calls in each direction. */
static bool enough_left(const struct l7_case *k, const struct cut *cut)
{
	size_t n[2] = {0, 0};

	for (size_t i = cut->from; i < k->cnt; i++) {
		const struct l7_piece *p = &k->v[i].piece;

		n[p->dir] += !k->v[i].lost && p->pos >= cut->skip[p->dir];
	}
	return n[0] > 1 && n[1] > 1;
}

static void try_joined(struct row *r, const struct l7_case *k, const char *path, const char *want,
		       const uint16_t *ports, size_t port_cnt)
{
	for (size_t from = 1; from < k->cnt; from++) {
		struct cut cut = {.from = from, .only = -1};

		for (size_t i = 0; i < port_cnt; i++)
			one(r, k, path, want, enough_left(k, &cut) ? JOINED : SHORT, &cut, ports[i],
			    L7_ROLE_UNKNOWN);
	}
}

/* From bytes within calls on: the direction's first so many are lost. */
static void try_middle(struct row *r, const struct l7_case *k, const char *path, const char *want,
		       const uint16_t *ports, size_t port_cnt)
{
	for (size_t from = 0; from < k->cnt; from++) {
		const struct l7_piece *p = &k->v[from].piece;
		struct cut cut = {.from = from, .only = -1};

		for (uint64_t at = 1; !p->datagram && at < p->len; at += 1 + p->len / 16) {
			cut.skip[p->dir] = p->pos + at;
			for (size_t i = 0; i < port_cnt; i += 3)
				one(r, k, path, want, enough_left(k, &cut) ? MIDDLE : SHORT, &cut,
				    ports[i], L7_ROLE_UNKNOWN);
		}
	}
}

static void try_all(struct row *r, const struct l7_case *k, const char *path, const char *want)
{
	uint16_t all[256], few[64];
	size_t all_cnt = ports_of(all, true), few_cnt = ports_of(few, false);

	for (size_t i = 0; i < all_cnt; i++) {
		struct cut cut = {.only = -1};

		one(r, k, path, want, WHOLE, &cut, all[i], L7_ROLE_UNKNOWN);
		if (k->role)
			one(r, k, path, want, WHOLE, &cut, all[i], k->role);
	}
	for (size_t i = 0; i < few_cnt; i++) {
		for (int dir = 0; dir < 3 && k->cnt && !k->v[0].piece.datagram; dir++) {
			struct cut cut = {.only = -1, .skip = {dir != 1 ? 100 : 0, dir ? 100 : 0}};

			one(r, k, path, want, enough_left(k, &cut) ? MISSING : SHORT, &cut, few[i],
			    L7_ROLE_UNKNOWN);
		}
		for (int dir = 0; dir < 2; dir++) {
			struct cut cut = {.only = dir};

			one(r, k, path, want, ALONE, &cut, few[i], L7_ROLE_UNKNOWN);
		}
	}
	try_joined(r, k, path, want, few, few_cnt);
	try_middle(r, k, path, want, few, few_cnt);
}

/* The first word of the last line of CASE.out. */
static bool expected(const char *in_path, char *want, size_t want_sz)
{
	char path[4096], line[1024], last[1024] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%.*s.out", (int)strlen(in_path) - 3, in_path);
	f = fopen(path, "r");
	if (!f)
		return false;
	while (fgets(line, sizeof(line), f))
		strcpy(last, line);
	fclose(f);
	if (!strchr(last, ','))
		return false;
	snprintf(want, want_sz, "%.*s", (int)strcspn(last, ","), last);
	return true;
}

/* ---- bytes of nobody ---- */

static uint64_t seed;

static uint64_t random_u64(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

enum noise {
	NOISE_RANDOM, /* no structure: ciphers of SSH, obfuscation */
	NOISE_SMALL,  /* small numbers and zeros, as lengths and ids of binary protocols are */
	NOISE_TEXT,   /* words and lines */
	NOISE_TLS,    /* application data; read in records, or header and body apart */
	NOISES,
};
static const char *const noise_names[] = {"random", "small numbers", "text", "TLS records"};

static void fill(char *p, size_t sz, enum noise noise)
{
	static const char text[] =
		"eariotnslcudpmhgbfywkvxzjqEARIOTNSLC0123456789     :*+-$/.,\r\n\n";
	size_t i = 0;

	if (noise == NOISE_TLS && sz >= 5)
		for (; i < 5; i++)
			p[i] = ((const char[]){0x17, 3, 3, (sz - 5) >> 8, (sz - 5) & 255})[i];
	for (; i < sz; i++) {
		uint64_t r = random_u64() >> 20;

		p[i] = noise == NOISE_TEXT    ? text[r % (sizeof(text) - 1)]
		       : noise != NOISE_SMALL ? (char)r
		       : r % 3		      ? 0
					      : (char)(r >> 8 & 31);
	}
}

static void add_noise(struct l7_case *k, enum noise noise, uint64_t pos[2])
{
	struct l7_call *call = &k->v[k->cnt++];
	unsigned long long sz = 1 + random_u64() % (random_u64() % 4 ? 64 : 700), head = 0;
	char *p;

	/* A record's header in a call of its own, the body in the next one. */
	if (noise == NOISE_TLS)
		head = random_u64() % 2 ? 5 : 0, sz += 5;
	p = malloc(sz);
	fill(p, sz, noise);
	*call = (struct l7_call){.piece = {.dir = random_u64() % 2,
					   .ts_ns = 1000000 * (uint64_t)k->cnt,
					   .len = head ? head : sz,
					   .datagram = k->datagrams}};
	call->piece.data = (struct span){p, call->piece.len};
	call->piece.pos = pos[call->piece.dir];
	pos[call->piece.dir] += sz;
	if (!head)
		return;
	k->v[k->cnt] = *call;
	call = &k->v[k->cnt++];
	call->piece.pos += head;
	call->piece.len = call->piece.data.len = sz - head;
	call->piece.data.p = memcpy(malloc(sz - head), p + head, sz - head);
}

/* Fixed seeds: what passes today passes tomorrow. */
static void try_noise(struct row *r, const uint16_t *ports, size_t port_cnt)
{
#ifdef __SANITIZE_ADDRESS__
	const uint64_t seeds = 150;
#else
	const uint64_t seeds = 1000;
#endif

	for (seed = 1; seed < NOISES * seeds; seed += 2) {
		uint64_t id = seed, pos[2] = {0, 0};
		enum noise noise = id / 2 % NOISES;
		struct l7_call calls[64];
		struct l7_case k = {.v = calls, .datagrams = id % 5 == 0 && noise != NOISE_TLS};
		struct cut cut = {.only = -1};

		seed *= 0x9e3779b97f4a7c15;
		for (unsigned cnt = 4 + random_u64() % 24; cnt; cnt--)
			add_noise(&k, noise, pos);
		for (size_t i = 0; i < port_cnt; i++)
			one(r, &k, noise_names[noise], "unknown", WHOLE, &cut, ports[i],
			    L7_ROLE_UNKNOWN);
		for (size_t i = 0; i < k.cnt; i++)
			free((void *)calls[i].piece.data.p);
		seed = id;
	}
}

/* ---- the table ---- */

static void read_allowed(struct row *r)
{
	char path[256], line[256], variant[32];
	unsigned percent;
	FILE *f;

	memcpy(r->allowed, allowed, sizeof(allowed));
	snprintf(path, sizeof(path), "%s/unnamed", r->dir);
	f = fopen(path, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%31s %u", variant, &percent) == 2)
			for (int v = 0; v < VARIANTS; v++)
				if (!strcmp(variant, variant_names[v]))
					r->allowed[v] = percent;
	fclose(f);
}

/* Rows by folder and name: what lies in tests/l7/foreign stands apart. */
static struct row *row_of(const char *path, const char *want)
{
	size_t dir_sz = strrchr(path, '/') - path;

	for (size_t i = 0; i < row_cnt; i++)
		if (!strcmp(rows[i].name, want) && !strncmp(rows[i].dir, path, dir_sz) &&
		    !rows[i].dir[dir_sz])
			return &rows[i];
	if (row_cnt == sizeof(rows) / sizeof(rows[0]) || dir_sz >= sizeof(rows[0].dir))
		exit(1);
	snprintf(rows[row_cnt].name, sizeof(rows[0].name), "%s", want);
	snprintf(rows[row_cnt].dir, sizeof(rows[0].dir), "%.*s", (int)dir_sz, path);
	read_allowed(&rows[row_cnt]);
	return &rows[row_cnt++];
}

static bool too_many_unnamed(const struct row *r, enum variant v)
{
	return strcmp(r->name, "unknown") && r->unnamed[v] * 100 > r->runs[v] * r->allowed[v];
}

static int print_matrix(void)
{
	int bad = 0;

	printf("%-28s", "runs, share without name");
	for (int v = 0; v < VARIANTS; v++)
		printf("%22s", variant_names[v]);
	putchar('\n');
	for (size_t i = 0; i < row_cnt; i++) {
		const struct row *r = &rows[i];

		printf("%-14s %-13s", r->dir + strlen("tests/l7/"), r->name);
		for (int v = 0; v < VARIANTS; v++) {
			bool over = too_many_unnamed(r, v);
			double share = r->runs[v] ? 100.0 * r->unnamed[v] / r->runs[v] : 0;

			printf("  %6u %5.1f%%%s", r->runs[v], share, over ? " above" : "      ");
			if (r->wrong[v])
				printf(" WRONG %u", r->wrong[v]);
			bad += over || r->wrong[v];
		}
		putchar('\n');
	}
	return bad;
}

int main(int argc, char **argv)
{
	glob_t g;
	int bad = 0;

	if (glob(argc > 1 ? argv[1] : "tests/l7/*/*.in", 0, NULL, &g))
		return printf("no cases\n"), 1;
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *path = g.gl_pathv[i];
		struct l7_case k;
		char want[32];

		if (!expected(path, want, sizeof(want)) || !l7_case_read(&k, path)) {
			printf("%s: no CASE.out beside it\n", path);
			bad = 1;
			continue;
		}
		try_all(row_of(path, want), &k, path, want);
		l7_case_fini(&k);
	}
	globfree(&g);
	if (argc == 1) {
		uint16_t ports[256];

		try_noise(row_of("tests/l7/noise/", "unknown"), ports, ports_of(ports, true));
	}
	return print_matrix() || bad;
}
