/* SPDX-License-Identifier: BSD-2-Clause */
/* Who receives datagrams from anyone, by a /proc made for it: sockets are looked up once a network
 * namespace. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "record/traffic/datagrams.h"

static const char head[] = "   sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n";
static char dir[] = "/tmp/datagrams-XXXXXX";

static void put(const char *name, const char *text)
{
	FILE *f = fopen(name, "we");

	CHECK(f && fprintf(f, "%s%s", head, text) > 0, "%s", name);
	if (f)
		fclose(f);
}

/* A process in the namespace of another one (0: its own), with a descriptor of a socket. */
static void make_process(unsigned pid, unsigned like, const char *udp, const char *socket)
{
	char path[64], other[64];
	static const char *const parts[] = {"", "/ns", "/net", "/fd"};

	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%u%s", pid, parts[i]);
		CHECK(!mkdir(path, 0700), "%s", path);
	}
	snprintf(path, sizeof(path), "%u/ns/net", pid);
	snprintf(other, sizeof(other), "%u/ns/net", like);
	if (like)
		CHECK(!link(other, path), "%s", path);
	else
		put(path, "");
	snprintf(path, sizeof(path), "%u/net/udp", pid);
	put(path, udp);
	snprintf(path, sizeof(path), "%u/fd/3", pid);
	CHECK(!symlink(socket, path), "%s", path);
}

#define BOUND                                                                                      \
	" 1: 00000000:0035 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 501 2\n"
#define CONNECTED                                                                                  \
	" 2: 0100007F:A035 0100007F:0035 01 00000000:00000000 00:00000000 00000000 0 0 502 2\n"
#define OTHER                                                                                      \
	" 1: 00000000:0036 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 503 2\n"

int main(void)
{
	struct datagrams d = {0};
	static const struct {
		const char *cause;
		unsigned like;
		const char *udp, *socket;
		bool receives;
	} rows[] = {
		{"bound", 0, BOUND CONNECTED, "socket:[501]", true},
		{"connected", 1, BOUND CONNECTED, "socket:[502]", false},
		{"of the same namespace", 1, "", "socket:[501]", true},
		{"in no table that is read", 1, OTHER, "socket:[503]", false},
		{"of another namespace", 0, OTHER, "socket:[503]", true},
		{"a namespace without any", 0, CONNECTED, "socket:[501]", false},
		{"that one again", 6, BOUND, "socket:[501]", false},
	};
	char command[64];

	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	d.proc = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make_process(i + 1, rows[i].like, rows[i].udp, rows[i].socket);
		CHECK(datagrams_received(&d, i + 1) == rows[i].receives, "%s", rows[i].cause);
	}
	CHECK(!datagrams_received(&d, 99), "a process that is gone");
	d.looked = DATAGRAMS_LOOKED_MAX - 6;
	CHECK(!datagrams_received(&d, 2) && d.looked < DATAGRAMS_LOOKED_MAX, "%u descriptors read",
	      d.looked);
	CHECK(datagrams_received(&d, 2) && datagrams_received(&d, 2),
	      "too many descriptors to look at");
	datagrams_fini(&d);
	close(d.proc);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK(!system(command), "%s stays", dir);
	return failed;
}
