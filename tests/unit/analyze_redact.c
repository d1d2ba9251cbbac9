/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every conversation of the protocols' tests through the redactor: what one protocol's part takes
 * for a secret must not be another's bytes. Cases that hold secrets are listed.
 */
#include <dirent.h>
#include <stdbool.h>

#include "format/redact/redact.h"
#include "check.h"
#include "l7_case.h"

#define ROOT "tests/l7"

/* PROTOCOL/CASE, or all cases of a PROTOCOL whose conversations begin with a login. */
static const char *const secrets[] = {
	"amqp",
	"cassandra",
	"kafka/sasl",
	"kafka/sasl-raw",
	"mongodb/auth",
	"mongodb/hole",
	"mqtt",
	"mysql",
	"nats",
	"postgresql",
	"foreign/mysql-text-5432",
	"foreign/postgresql-extended-3306",
	"foreign/postgresql-extended-3306-late",
	"foreign/postgresql-simple-9090",
	"foreign/postgresql-simple-9090-late",
	/* names and values that came behind bytes which were not seen */
	"http2/cut-many",
	"http2/heads-alone", /* the request that was cut where the recording began */
	"http2/heads-only",
	"http2/joined-in-body",
	"http2/late-join-grpc",
	"foreign/preface-refused",
};

static bool has_secrets(const char *protocol, const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%.*s", protocol, (int)strcspn(name, "."), name);
	for (size_t i = 0; i < sizeof(secrets) / sizeof(*secrets); i++)
		if (!strcmp(secrets[i], path) || !strcmp(secrets[i], protocol))
			return true;
	return false;
}

/* How many of a case's calls are changed. */
static unsigned masked(const struct l7_case *c)
{
	struct redact_conn *conn = NULL;
	unsigned cnt = 0;

	for (size_t i = 0; i < c->cnt; i++) {
		const struct l7_piece *p = &c->v[i].piece;
		struct redact_payload r = {.dir = p->dir == L7_SENT ? 0 : 1,
					   .pos = p->pos,
					   .len = p->len,
					   .kept = p->data.len,
					   .data = (uint8_t *)p->data.p,
					   .masked = (uint8_t *)p->data.p};

		if (!c->v[i].lost)
			cnt += redact__apply(&conn, false, &r);
	}
	redact_conn__free(conn);
	return cnt;
}

static unsigned check_protocol(const char *protocol)
{
	struct dirent *e;
	char path[1200];
	unsigned cases = 0;
	struct l7_case c;
	DIR *d;

	snprintf(path, sizeof(path), ROOT "/%s", protocol);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		const char *dot = strrchr(e->d_name, '.');
		unsigned cnt;

		snprintf(path, sizeof(path), ROOT "/%s/%s", protocol, e->d_name);
		if (!dot || strcmp(dot, ".in") || !l7_case_read(&c, path))
			continue;
		cases++;
		cnt = masked(&c);
		CHECK(!cnt || has_secrets(protocol, e->d_name), "%s: %u calls masked", path, cnt);
		l7_case_fini(&c);
	}
	if (d)
		closedir(d);
	return cases;
}

int main(void)
{
	unsigned cases = 0;
	struct dirent *e;
	DIR *d = opendir(ROOT);

	while (d && (e = readdir(d)))
		if (*e->d_name != '.')
			cases += check_protocol(e->d_name);
	if (d)
		closedir(d);
	CHECK(cases > 50, "%u cases", cases);
	return failed;
}
