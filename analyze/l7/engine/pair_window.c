/* SPDX-License-Identifier: BSD-2-Clause */
#include "analyze/l7/engine/pair_window.h"

enum {
	ALIKE = 3,   /* turns needed since the hole to tell what is outstanding */
	ENOUGH = 16, /* equal turns needed before; doubled each time turns differ */
	MOST_TIMES = 5,
};

static bool see_turn(struct pair_window *w, bool known)
{
	int64_t before = known ? (int64_t)w->size : w->level;
	bool same = before == w->turn || (!known && !w->alike);

	/* A client that starts increases its window at first. */
	w->breaks += !same && (w->turn < before || w->agree >= ENOUGH);
	w->agree = same ? w->agree + 1 : 0;
	if (known && !same)
		w->size = w->turn > 0 && w->turn <= PAIR_WINDOW_MOST ? w->turn : 0;
	w->alike = w->alike && w->level == w->turn ? w->alike + 1 : 1;
	w->level = w->turn;
	return same;
}

bool pair_window_turn(struct pair_window *w, int64_t known)
{
	bool same = !w->turned || see_turn(w, known != PAIR_WINDOW_UNKNOWN);

	w->turned = false;
	return same;
}

void pair_window_request(struct pair_window *w, int64_t known)
{
	w->out = (known != PAIR_WINDOW_UNKNOWN ? known : w->out) + 1;
	w->asked = true;
}

void pair_window_response(struct pair_window *w, int64_t known)
{
	if (known != PAIR_WINDOW_UNKNOWN)
		w->out = known;
	if (w->asked) {
		w->turn = w->out;
		w->turned = true;
	}
	w->asked = false;
	w->out--;
}

void pair_window_hole(struct pair_window *w)
{
	w->asked = w->turned = false;
	w->alike = 0;
}

int64_t pair_window_outstanding(const struct pair_window *w)
{
	unsigned times = w->breaks < MOST_TIMES ? w->breaks : MOST_TIMES,
		 enough = (unsigned)ENOUGH << 5 * times;
	int64_t out = (int64_t)w->size - w->level + w->out;

	if (!pair_window_hopeful(w) || w->alike < ALIKE || w->agree < enough || out < 0)
		return -1;
	return out;
}
