/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of probes: given to the probe or by an alias they are the same; which probes go with
 * others. */
#include <errno.h>
#include <string.h>

#include "check.h"
#include "format/text.h"
#include "record/cli/obrec_options.h"
#include "record/probe/probe.h"

static struct options parsed;

/* A line of words separated by spaces; its strings are the caller's. */
static int parse(char *line)
{
	char *argv[32] = {"obrec"}, *save = NULL;
	int argc = 1;

	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	return options_parse(&parsed, argc, argv);
}

static const struct probe *probe_named(const char *name)
{
	size_t i = 0;

	while (strcmp(probes[i]->name, name))
		i++;
	return probes[i];
}

static void test_values(void)
{
	static const struct {
		const char *line, *probe, *option;
		uint64_t value;
	} cases[] = {
		{"-q", "cpu", "freq", 99},
		{"-F 50", "cpu", "freq", 50},
		{"-e cpu:freq=50", "cpu", "freq", 50},
		{"-e cpu:freq=50 --freq 60", "cpu", "freq", 60},
		{"-q", "offcpu", "period", 10000000},
		{"--offcpu-period 0s", "offcpu", "period", 0},
		{"-e offcpu:period=1ms,min=2ms,max=3ms", "offcpu", "max", 3000000},
		{"--offcpu-min 2ms", "offcpu", "min", 2000000},
		{"-q", "l7", "payload", 16384ULL << 32 | 512},
		{"--payload head", "l7", "payload", 16384ULL << 32 | 512},
		{"--payload 2K", "l7", "payload", 2048},
		{"-e l7:payload=none", "l7", "payload", 0},
		{"-q", "l7", "sample", 65536},
		{"--sample 50%", "l7", "sample", 32768},
		{"-e l7:sample=0.0001%", "l7", "sample", 1},
		{"-q", "l7", "direction", 3},
		{"--direction in", "l7", "direction", 2},
		{"-e l7:direction=out", "l7", "direction", 1},
		{"-q", "l7", "redact", 1},
		{"--redact", "l7", "redact", 1},
		{"--redact=sql", "l7", "redact", 3},
		{"--redact=sql --redact", "l7", "redact", 3},
		{"--redact=sql --no-redact", "l7", "redact", 2},
		{"--no-redact --redact", "l7", "redact", 1},
		{"-e l7:redact=none", "l7", "redact", 0},
		{"-q", "l7", "unknown", 0},
		{"--payload-unknown", "l7", "unknown", 1},
		{"-e l7:unknown", "l7", "unknown", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[128];
		uint64_t value;
		int err;

		snprintf(line, sizeof(line), "%s", cases[i].line);
		err = parse(line);
		value = probe_option(&parsed.record, probe_named(cases[i].probe), cases[i].option);
		CHECK(!err && value == cases[i].value, "'%s': %llu", cases[i].line,
		      (unsigned long long)value);
	}
}

static uint64_t protocols(char *line)
{
	CHECK(!parse(line), "%s", line);
	return probe_option(&parsed.record, probe_named("l7"), "protocols");
}

static void test_lists(void)
{
	char all[] = "-q", one[] = "--l7 redis", both[] = "--l7 redis,grpc",
	     twice[] = "--l7 redis --l7 grpc", within[] = "-e l7:protocols=redis+grpc,l4",
	     http[] = "--l7 http", http1[] = "--l7 http1";
	uint64_t two = protocols(both), redis = protocols(one);

	CHECK(!protocols(all) && redis && two != redis);
	CHECK(protocols(twice) == two && protocols(within) == two);
	CHECK((two & protocols(http)) && !(two & protocols(http1)), "gRPC is HTTP/2");
}

static void test_refused(void)
{
	static const char *const cases[] = {
		"-F 0",
		"-F 20001",
		"-e cpu:freq=20001",
		"-e cpu:freq",
		"-e cpu:min=1ms",
		"--offcpu-min 1",
		"--offcpu-min 2ms --offcpu-max 1ms",
		"-e offcpu:min=2ms,max=1ms",
		"--payload 65536",
		"-e l7:payload=all",
		"--l7 redis,",
		"-e l7:protocols=redis+",
		"--sample 0%",
		"--sample 101%",
		"--direction up",
		"--redact=all",
		"-e l7:unknown=1",
		"--no-redact=1",
		"-e -cpu,-l4,-host",
		"-e func",
		"-e func:malloc",
		"-e func:libc:",
		"-e func::malloc",
		"-e func:libc:malloc,arg7:int",
		"-e func:libc:malloc,ret:float",
		"-e func:libc:malloc:ret,arg1:int",
		"-e usdt",
		"-e usdt:libc:setjmp",
		"-e usdt:libc:libc:setjmp,arg13:int",
		"-e usdt:libc:libc:setjmp,ret:int",
		"-e syscall:libc:malloc",
		"-e libc:malloc",
		"-e -cpu,-l4,-l7,-tls,-host",
		"-e pmu:cycle",
		"-e pmu:cycles,instruction",
		"-e pmu:r1,r2,r3,r4,r5,r6,r7,r8,r9,ra,rb,rc,rd,re,rf,r10,r11",
		"-e cycles",
		"-e cpu:cycles",
		"-e cpu:event=cycle",
		"-e cpu:event",
		"-e cpu:period=5",
		"-e cpu:event=cs --attach cpu=clock",
		"--attach cpu=event",
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[128];

		snprintf(line, sizeof(line), "%s", cases[i]);
		CHECK(parse(line) == -EINVAL, "'%s' is taken", cases[i]);
	}
}

static void test_sets(void)
{
	static char all[] =
#define PROBE(name, ...) "," #name
#include "format/probes.def"
		;
	static const char costly[] = ",alloc";
	char *at = strstr(all, costly);
	const struct {
		const char *line, *probes;
	} cases[] = {
		{"-q", "cpu,l4,l7,tls,host"},
		{"-e -l4", "cpu,host"},
		{"-e -l7", "cpu,l4,host"},
		{"-e -tls", "cpu,l4,l7,host"},
		{"--no-tls", "cpu,l4,l7,host"},
		{"-e tls", "l4,l7,tls"},
		{"-e l7,-l4", "l4,l7"},
		{"-e +tls,-l7", "cpu,l4,l7,tls,host"},
		{"-e @sched", "offcpu,runq,irq,wakers"},
		{"-e func:libc:malloc,@all", all + 1},
		{"-e func:a:b,min=1s,/bin/c:d*,file", "file,func"},
		{"-e func:a:b,arg1:str,ret:int,file", "file,func"},
		{"-e usdt:a:b:c,arg12:str,d:e:f,file", "file,func"},
		{"-e @disk,alloc", "block,file,reclaim,alloc"},
		{"-e pmu", "pmu"},
		{"-e llcstat,cpu", "cpu,pmu"},
		{"-e pmu:cycles,cs,LLC-loads:u,r1c2,cpu", "cpu,pmu"},
		{"-e cpu:event=cs --attach cpu=event", "cpu"},
	};

	memmove(at, at + strlen(costly), strlen(at + strlen(costly)) + 1); /* not of @all */
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[64], set[512] = "";
		int err;

		snprintf(line, sizeof(line), "%s", cases[i].line);
		err = parse(line);
		for (size_t n = 0; probes[n]; n++)
			if (parsed.record.probes >> n & 1)
				snprintf(set + strlen(set), sizeof(set) - strlen(set), "%s%s",
					 *set ? "," : "", probes[n]->name);
		CHECK(!err && !strcmp(set, cases[i].probes), "'%s': %s", cases[i].line, set);
	}
}

static void test_events(void)
{
	char line[] = "-e func:libc:malloc,pmu:cycles,cs,cycles,cpu:event=cache-misses,period=1000";

	CHECK(!parse(line));
	CHECK(parsed.record.operand_cnt == 1 && !strcmp(parsed.record.operand[0], "libc:malloc"));
	CHECK(parsed.record.event_cnt == 2, "%u", parsed.record.event_cnt);
	CHECK(probe_option(&parsed.record, probe_named("cpu"), "event") &&
	      probe_option(&parsed.record, probe_named("cpu"), "period") == 1000);
	CHECK(!strcmp(probe_named("cpu")->variants[parsed.record.attach[0] - 1].name, "event"));
}

int main(void)
{
	message_init("obrec", -1);
	test_events();
	test_values();
	test_lists();
	test_refused();
	test_sets();
	return failed;
}
