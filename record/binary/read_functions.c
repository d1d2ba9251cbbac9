/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "record/binary/read_functions.h"
#include "record/reader/reader_process.h"

enum { LAST, ONE };

static bool put_site(void *ctx, const struct func_site *s)
{
	struct parcel *answer = ctx;

	parcel_put_u64(answer, ONE);
	parcel_put_span(answer, (struct span){s->name, strlen(s->name) + 1});
	parcel_put_u64(answer, s->pattern);
	parcel_put_u64(answer, s->matches);
	parcel_put_u64(answer, s->entry);
	parcel_put_u64(answer, s->below);
	parcel_put_u64(answer, s->step);
	parcel_put_u64(answer, s->go);
	parcel_put_u64(answer, s->by_return);
	parcel_put_u64(answer, s->pinned);
	parcel_put_u64(answer, s->loops);
	parcel_put(answer, &s->place, sizeof(s->place));
	parcel_put_u64(answer, s->exits.returns);
	parcel_put_u64(answer, s->exits.jumps);
	parcel_put(answer, s->exits.at, (s->exits.returns + s->exits.jumps) * sizeof(*s->exits.at));
	parcel_put_u64(answer, s->exits.ifs);
	parcel_put(answer, s->exits.if_at, s->exits.ifs * sizeof(*s->exits.if_at));
	parcel_put(answer, s->exits.if_opcode, s->exits.ifs);
	return !answer->bad;
}

static bool put_usdt(void *ctx, const struct usdt_site *s)
{
	struct parcel *answer = ctx;

	parcel_put_u64(answer, ONE);
	parcel_put_span(answer, (struct span){s->name, strlen(s->name) + 1});
	parcel_put_u64(answer, s->pattern);
	parcel_put_u64(answer, s->offset);
	parcel_put_u64(answer, s->counter);
	parcel_put_u64(answer, s->arg_cnt);
	parcel_put(answer, s->arg, s->arg_cnt * sizeof(*s->arg));
	parcel_put(answer, &s->place, sizeof(s->place));
	return !answer->bad;
}

int read_functions_serve(int proc, struct parcel *request, struct parcel *answer)
{
	const char *patterns[FUNC_PATTERNS_MAX];
	const char *usdt[FUNC_PATTERNS_MAX];
	uint64_t how = parcel_get_u64(request);
	uint64_t cnt = parcel_get_u64(request), left_out;
	uint32_t indirect;
	int fd;

	if (cnt > FUNC_PATTERNS_MAX)
		return -EBADMSG;
	for (uint64_t i = 0; i < cnt; i++)
		patterns[i] = parcel_get_span(request).p; /* with its NUL */
	for (uint64_t i = 0; i < cnt; i++)
		usdt[i] = how & FUNC_FIND_USDT(i) ? patterns[i] : NULL;
	if (request->bad)
		return -EBADMSG;
	fd = reader_reopen(request->fd[0], O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fd;
	left_out = func_find(fd, patterns, cnt, how, put_site, answer, &indirect);
	parcel_put_u64(answer, LAST);
	parcel_put_u64(answer, left_out);
	parcel_put_u64(answer, indirect);
	left_out = how >= FUNC_FIND_USDT(0) ? usdt_find(fd, usdt, cnt, put_usdt, answer) : 0;
	close(fd);
	parcel_put_u64(answer, LAST);
	parcel_put_u64(answer, left_out);
	return 0;
}

void read_functions_ask(struct parcel *m, int fd, const char *const *patterns, size_t cnt,
			uint64_t how)
{
	parcel_init(m, READING_functions);
	parcel_put_u64(m, how);
	parcel_put_u64(m, cnt);
	for (size_t i = 0; i < cnt; i++)
		parcel_put_span(m, (struct span){patterns[i], strlen(patterns[i]) + 1});
	parcel_put_fd(m, 0, fcntl(fd, F_DUPFD_CLOEXEC, 3));
}

/* What every site starts with. False: there are no more. */
static bool next_name(struct parcel *answer, const char **name, uint32_t *pattern)
{
	struct span text;

	if (parcel_get_u64(answer) != ONE)
		return false;
	text = parcel_get_span(answer);
	*name = text.p;
	*pattern = parcel_get_u64(answer);
	if (!text.len || text.p[text.len - 1] || *pattern >= FUNC_PATTERNS_MAX)
		answer->bad = true;
	return true;
}

bool read_functions_next(struct parcel *answer, struct func_site *s)
{
	memset(s, 0, sizeof(*s));
	if (!next_name(answer, &s->name, &s->pattern))
		return false;
	s->matches = parcel_get_u64(answer);
	s->entry = parcel_get_u64(answer);
	s->below = parcel_get_u64(answer);
	s->step = parcel_get_u64(answer);
	s->go = parcel_get_u64(answer);
	s->by_return = parcel_get_u64(answer);
	s->pinned = parcel_get_u64(answer);
	s->loops = parcel_get_u64(answer);
	parcel_get(answer, &s->place, sizeof(s->place));
	s->exits.returns = parcel_get_u64(answer);
	s->exits.jumps = parcel_get_u64(answer);
	if (s->below >= FUNC_BELOW_MAX || s->exits.returns > FUNC_EXITS_MAX ||
	    s->exits.jumps > FUNC_EXITS_MAX - s->exits.returns)
		answer->bad = true;
	if (!answer->bad)
		parcel_get(answer, s->exits.at,
			   (s->exits.returns + s->exits.jumps) * sizeof(*s->exits.at));
	s->exits.ifs = parcel_get_u64(answer);
	if (s->exits.ifs > FUNC_IFS_MAX)
		answer->bad = true;
	if (!answer->bad)
		parcel_get(answer, s->exits.if_at, s->exits.ifs * sizeof(*s->exits.if_at));
	if (!answer->bad)
		parcel_get(answer, s->exits.if_opcode, s->exits.ifs);
	return !answer->bad;
}

uint64_t read_functions_left_out(struct parcel *answer, uint32_t *indirect)
{
	uint64_t left_out = parcel_get_u64(answer);

	*indirect = parcel_get_u64(answer);
	return left_out;
}

static bool is_readable(const struct usdt_arg *a)
{
	return a->kind <= USDT_MEM && a->shift <= 3 &&
	       (a->kind == USDT_UNKNOWN || a->sz == 1 || a->sz == 2 || a->sz == 4 || a->sz == 8);
}

bool read_functions_next_usdt(struct parcel *answer, struct usdt_site *s)
{
	memset(s, 0, sizeof(*s));
	if (!next_name(answer, &s->name, &s->pattern))
		return false;
	s->offset = parcel_get_u64(answer);
	s->counter = parcel_get_u64(answer);
	s->arg_cnt = parcel_get_u64(answer);
	if (s->arg_cnt > USDT_ARGS)
		answer->bad = true;
	if (!answer->bad)
		parcel_get(answer, s->arg, s->arg_cnt * sizeof(*s->arg));
	parcel_get(answer, &s->place, sizeof(s->place));
	for (uint32_t i = 0; !answer->bad && i < s->arg_cnt; i++)
		answer->bad = !is_readable(&s->arg[i]);
	return !answer->bad;
}

uint64_t read_functions_left_out_usdt(struct parcel *answer)
{
	return parcel_get_u64(answer);
}
