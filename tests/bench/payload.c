/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cost of a payload record in obrec's reading thread, from the ring buffer to the compressed chunk:
 * ns of CPU time, the median of several runs, and bytes in the archive. The calls are those of
 * `wrk` with nginx and of `redis-benchmark -c 50`, and calls that never repeat: ids in requests and
 * responses, random keys. `payload KIND` does one run of one kind, for valgrind --tool=callgrind.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/archive.h"
#include "record/base/loss.h"
#include "record/process/process.h"
#include "record/traffic/traffic_intake.h"
#include "median.h"

enum { CONNECTIONS = 50, ROUNDS = 2000, RUNS = 7, HEAD = 512 };

#define REQUEST "GET /index.html HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
#define RESPONSE                                                                                   \
	"HTTP/1.1 200 OK\r\nServer: nginx/1.22.1\r\nDate: Sat, 22 Nov 2025 03:58:19 GMT\r\n"       \
	"Content-Type: text/html\r\nContent-Length: 612\r\nLast-Modified: Sat, 22 Nov 2025 "       \
	"03:57:00 GMT\r\nConnection: keep-alive\r\nETag: \"69213b5c-264\"\r\n"                     \
	"Accept-Ranges: bytes\r\n\r\n"
#define SET "*3\r\n$3\r\nSET\r\n$16\r\nkey:000000000042\r\n$3\r\nVXK\r\n"
/* A placeholder for a different number each time. */
#define NUMBER "############"
#define FRESH_REQUEST "GET /item/" NUMBER " HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"
#define FRESH_RESPONSE                                                                             \
	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: " NUMBER "\r\n"        \
	"Content-Length: 612\r\nDate: Sat, 22 Nov 2025 03:58:19 GMT\r\n\r\n{\"id\":\""
#define RANDOM_SET "*3\r\n$3\r\nSET\r\n$16\r\nkey:" NUMBER "\r\n$3\r\nVXK\r\n"
#define TEN(text) text text text text text text text text text text

/* A request and its response, with `body` additional bytes. */
static const struct kind {
	const char *name, *call, *answer;
	size_t body;
} kinds[] = {
	{"http", REQUEST, RESPONSE, 612},	   {"redis", SET, "+OK\r\n", 0},
	{"pipeline", TEN(SET), TEN("+OK\r\n"), 0}, {"fresh", FRESH_REQUEST, FRESH_RESPONSE, 612},
	{"keys", RANDOM_SET, "+OK\r\n", 0},
};

/* A record as in the kernel's ring buffer. */
static void *record(const char *text, size_t body, unsigned dir)
{
	size_t sz = strlen(text), kept = sz + body < HEAD ? sz + body : HEAD;
	struct wire_payload *p = calloc(1, sizeof(*p) + kept + 1);

	if (!p)
		abort();
	p->hdr = (struct wire_hdr){.kind = WIRE_PAYLOAD, .size = sizeof(*p) + kept};
	p->tgid = p->tid = 1;
	p->dir = dir;
	p->len = sz + body;
	p->kept = kept;
	memcpy(p->comm, "server", 7);
	memset(p->data, 'x', kept);
	memcpy(p->data, text, sz < kept ? sz : kept);
	return p;
}

static void renew(char *number)
{
	static uint64_t seed = 88172645463325252;

	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	for (unsigned i = 0; i < sizeof(NUMBER) - 1; i++)
		number[i] = '0' + (seed >> 5 * i) % 10;
}

static void replay(struct traffic *t, const struct kind *k)
{
	struct wire_payload *call[2] = {record(k->answer, k->body, 0), record(k->call, 0, 1)};
	char *number[2] = {strstr((char *)call[0]->data, NUMBER),
			   strstr((char *)call[1]->data, NUMBER)};
	uint64_t now = 1000000000;

	for (uint64_t round = 0; round < ROUNDS; round++) {
		for (uint32_t sock = 1; sock <= CONNECTIONS; sock++)
			for (int dir = 1; dir >= 0; dir--) {
				struct wire_payload *p = call[dir];

				p->sock = sock;
				p->ts_ns = now += 4000 + (round * 31 + sock * 7) % 1000;
				p->pos = round * p->len;
				p->tcp_seq = p->pos + 12345 * sock;
				if (number[dir])
					renew(number[dir]);
				traffic__payload(t, p);
			}
		if (round % 4 == 0)
			traffic__drained(t);
	}
	free(call[0]);
	free(call[1]);
}

static double run(const struct kind *k, double *bytes)
{
	struct obz_writer *w;
	struct tracker *tracker;
	struct traffic *t;
	struct loss *loss;
	const double records = 2.0 * ROUNDS * CONNECTIONS;
	uint64_t begin;
	double ns;

	if (obz_writer__new(&w, open("/dev/null", O_WRONLY),
			    &(struct obz_writer_opts){.header_json = "{}"}) ||
	    loss__new(&loss) ||
	    tracker__new(&tracker, &(struct tracker_opts){.writer = w, .proc_root = "/dev"}) ||
	    traffic__new(&t,
			 &(struct traffic_opts){.writer = w,
						.tracker = tracker,
						.loss = loss,
						.socks_fd = -1,
						.others_fd = -1,
						.gone_fd = -1}) ||
	    traffic__redact(t, false, false))
		abort();
	*bytes = -(double)obz_writer__bytes(w);
	begin = cpu_ns();
	replay(t, k);
	obz_writer__flush(w);
	ns = (cpu_ns() - begin) / records;
	*bytes = (*bytes + obz_writer__bytes(w)) / records;
	traffic__free(t);
	tracker__free(tracker);
	loss__free(loss);
	obz_writer__close(w, NULL);
	return ns;
}

int main(int argc, char **argv)
{
	const int runs = argc > 1 ? 1 : RUNS;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		double ns[RUNS], bytes;

		if (argc > 1 && strcmp(argv[1], kinds[i].name))
			continue;
		for (int r = 0; r < runs; r++)
			ns[r] = run(&kinds[i], &bytes);
		printf("%-9s %7.1f ns a record  %6.2f bytes\n", kinds[i].name, median(ns, runs),
		       bytes);
	}
	return 0;
}
