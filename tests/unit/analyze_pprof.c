/* SPDX-License-Identifier: BSD-2-Clause */
/* The pprof writer, read back by the tool the format belongs to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/cli/export.h"
#include "analyze_profile.h"

static char dir[] = "/tmp/obana-pprof-XXXXXX";

static void run(const char *options, char *text, size_t sz)
{
	char command[256];
	FILE *p;

	snprintf(command, sizeof(command),
		 "HOME=%s PPROF_TMPDIR=%s go tool pprof %s %s/p.pb.gz 2>&1", dir, dir, options,
		 dir);
	p = popen(command, "r");
	assert(p);
	text[fread(text, 1, sz - 1, p)] = 0;
	if (pclose(p)) {
		fprintf(stderr, "%s:\n%s\n", command, text);
		abort();
	}
}

static void want(const char *text, const char *part)
{
	if (strstr(text, part))
		return;
	fprintf(stderr, "not found: %s\nin:\n%s\n", part, text);
	abort();
}

static void full_disk(void)
{
	for (size_t i = 0; i < EXPORT_CNT; i++) {
		FILE *full = fopen("/dev/full", "w");

		assert(full && (!exporters[i]->sink ||
				feed_profile(exporters[i]->sink, full) == -ENOSPC));
		fclose(full);
		assert(exporter_find(exporters[i]->name) == exporters[i]);
	}
	assert(!exporter_find("nonesuch"));
}

int main(void)
{
	char text[16384], path[64];
	FILE *out;

	full_disk();
	if (system("go tool pprof -help >/dev/null 2>&1")) {
		puts("go tool pprof is not there to read the file back");
		return 77;
	}
	assert(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/p.pb.gz", dir);
	out = fopen(path, "w");
	assert(out && !feed_profile(&profile_pprof, out) && !fclose(out));

	run("-raw", text, sizeof(text));
	want(text, "PeriodType: cpu nanoseconds\nPeriod: 10101010\n");
	want(text, "Duration: 10s\n");
	want(text, "samples/count cpu/nanoseconds[dflt]\n");
	want(text, "          3   30000000: 1 2 \n");
	want(text, "thread:[worker]\n");
	want(text, "tid:[4711]\n");
	want(text, "          1    5000000: 1 2 \n");
	/* One location for an address, its inlined calls innermost first. */
	want(text, "1: 0x2000 M=1 leaf /src/eval.h:9 s=0\n");
	want(text, "step /src/eval.h:5 s=0\n");
	want(text, "eval(int) /src/eval.cc:31 s=0(_Z4evali)\n");
	want(text, "2: 0x1234 M=1 main /src/demo.cc:20 s=0\n");
	want(text, "3: 0xffffffff81234567 M=2 vfs_write :0 s=0\n");
	want(text, "4: 0x7f0000001000 bad \\xff\\x01 \"name\" ; :0 s=0\n");
	want(text, "1: 0x0/0x2001/0x0 /usr/bin/demo abcdef0123 [FN][FL][LN][IN]\n");
	want(text, "2: 0x0/0xffffffff81234568/0x0 [kernel]  [FN][FL][LN][IN]\n");
	run("-top -sample_index=samples", text, sizeof(text));
	want(text, "Showing nodes accounting for 7, 100% of 7 total");
	run("-top", text, sizeof(text));
	want(text, "Type: cpu\n");
	want(text, "      35ms 53.85% 53.85%       35ms 53.85%  leaf");
	want(text, "main");
	unlink(path);
	snprintf(path, sizeof(path), "rm -rf %s", dir);
	return system(path) != 0;
}
