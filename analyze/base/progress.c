/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/base/progress.h"
#include "format/clock.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define FIRST_NS 700000000ull
#define EVERY_NS 150000000ull

void progress_init(struct progress *p, const char *what)
{
	*p = (struct progress){.what = what, .terminal = isatty(STDERR_FILENO)};
	p->next_ns = clock_now_ns() + FIRST_NS;
}

void progress_step(struct progress *p, uint64_t more)
{
	uint64_t now;

	p->done += more;
	if (!p->terminal || (now = clock_now_ns()) < p->next_ns)
		return;
	p->next_ns = now + EVERY_NS;
	p->shown = true;
	fprintf(stderr, "\r%s %3.0f %%", p->what, p->total ? 100.0 * p->done / p->total : 0.0);
	fflush(stderr);
}

void progress_done(struct progress *p)
{
	if (p->shown)
		fprintf(stderr, "\r\033[K");
	p->shown = false;
}
