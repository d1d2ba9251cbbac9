/* SPDX-License-Identifier: BSD-2-Clause */
/* Records as the rings may give them; what is handed out, in which order, and when. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/records.h"
#include "record/traffic/payloads.h"

static int failed;
static char out[1 << 16];

static void on_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow)
{
	sprintf(out + strlen(out), "%u%c%llu:%.*s ", p->sock, p->dir ? 'r' : 's',
		(unsigned long long)p->pos, (int)p->kept, (const char *)p->data);
}

static void give(struct payloads *ps, uint32_t sock, uint32_t dir, uint64_t pos, const char *data,
		 uint32_t flags)
{
	size_t n = strlen(data);
	struct wire_payload *p = calloc(1, sizeof(*p) + n);

	p->sock = sock;
	p->dir = dir;
	p->pos = pos;
	p->len = p->kept = n;
	p->flags = flags;
	memcpy(p->data, data, n);
	payloads__put(ps, p);
	free(p);
}

static void expect(const char *name, const char *want)
{
	if (strcmp(out, want)) {
		printf("%s: got '%.200s', wanted '%.200s'\n", name, out, want);
		failed++;
	}
	*out = 0;
}

static struct payloads *fresh(void)
{
	struct payloads *ps;

	if (payloads__new(&ps, on_payload, NULL))
		exit(1);
	*out = 0;
	return ps;
}

static void test_order(void)
{
	struct payloads *ps = fresh();

	give(ps, 1, 0, 0, "ab", 0);
	give(ps, 1, 0, 4, "ef", 0);
	give(ps, 1, 0, 6, "gh", 0);
	give(ps, 1, 1, 0, "other way", 0);
	give(ps, 2, 0, 0, "other one", 0);
	give(ps, 1, 0, 2, "cd", 0);
	expect("early ones wait", "1s0:ab 1r0:other way 2s0:other one 1s2:cd 1s4:ef 1s6:gh ");
	give(ps, 1, 0, 12, "mn", 0);
	give(ps, 1, 0, 10, "kl", 0);
	expect("a hole", "");
	payloads__pass(ps, false);
	payloads__pass(ps, false);
	expect("may still come", "");
	payloads__pass(ps, false);
	expect("was lost", "1s10:kl 1s12:mn ");
	give(ps, 1, 0, 8, "ij", 0);
	expect("came too late", "1s8:ij ");
	give(ps, 1, 0, 14, "op", 0);
	expect("goes on", "1s14:op ");
	payloads__free(ps);
}

static void test_end(void)
{
	struct payloads *ps = fresh();

	give(ps, 1, 0, 5, "b", 0);
	give(ps, 3, 0, 9, "d", PAYLOAD_DATAGRAM);
	expect("datagrams stand for themselves", "3s9:d ");
	payloads__close(ps, 1);
	give(ps, 1, 0, 0, "aaaaa", 0);
	expect("behind the close", "1s0:aaaaa 1s5:b ");
	give(ps, 1, 0, 7, "c", 0);
	payloads__pass(ps, true);
	expect("the end", "1s7:c ");
	for (int i = 0; i < 8; i++)
		payloads__pass(ps, false);
	give(ps, 1, 0, 0, "new", 0);
	expect("was forgotten", "1s0:new ");
	give(ps, 4, 0, 1, "dropped", 0);
	payloads__free(ps);
}

static bool only_2(void *ctx, uint32_t connection)
{
	return connection == 2;
}

/* That a connection began and ended may be lost, and its payload not. */
static void test_orphans(void)
{
	struct payloads *ps = fresh();

	give(ps, 1, 0, 0, "ab", 0);
	give(ps, 1, 0, 0, "AB", PAYLOAD_TLS);
	give(ps, 2, 0, 0, "xy", 0);
	payloads__sweep(ps, only_2);
	give(ps, 1, 0, 2, "cd", 0);
	expect("may still become known", "1s0:ab 1s0:AB 2s0:xy 1s2:cd ");
	payloads__sweep(ps, only_2);
	give(ps, 1, 0, 4, "ef", 0);
	expect("its last records", "1s4:ef ");
	for (int i = 0; i < 8; i++)
		payloads__pass(ps, false);
	give(ps, 1, 0, 6, "gh", 0);
	give(ps, 1, 0, 2, "CD", PAYLOAD_TLS);
	give(ps, 2, 0, 2, "z", 0);
	expect("the first is new again and waits, the second goes on", "2s2:z ");
	payloads__free(ps);
}

static void count_payload(void *ctx, const struct wire_payload *p, struct payload_flow *flow)
{
	++*(unsigned *)ctx;
}

static void test_shuffled(void)
{
	unsigned got = 0, order[2000];
	struct payloads *ps;

	if (payloads__new(&ps, count_payload, &got))
		exit(1);
	srandom(1);
	for (unsigned i = 0; i < 2000; i++) {
		unsigned j = random() % (i + 1);

		order[i] = order[j];
		order[j] = i;
	}
	for (unsigned i = 0; i < 2000; i++) {
		give(ps, 1, 0, order[i], "x", 0);
		if (i % 100 == 99)
			payloads__pass(ps, false);
	}
	payloads__pass(ps, true);
	if (got != 2000) {
		printf("shuffled: %u of 2000\n", got);
		failed++;
	}
	payloads__free(ps);
}

/* More than may be held is handed out early; everything is, and once. */
static void test_bound(void)
{
	static char big[60000];
	unsigned got = 0, held = 0;
	struct payloads *ps;

	if (payloads__new(&ps, count_payload, &got))
		exit(1);
	memset(big, 'x', sizeof(big) - 1);
	for (; held < 1000 && !got; held++)
		give(ps, 1, 0, 1 + held * sizeof(big), big, 0);
	payloads__pass(ps, true);
	if (held < 100 || held >= 1000 || got != held) {
		printf("bound: %u given, %u came\n", held, got);
		failed++;
	}
	payloads__free(ps);
}

int main(void)
{
	test_order();
	test_end();
	test_orphans();
	test_shuffled();
	test_bound();
	printf("%d failed\n", failed);
	return failed != 0;
}
