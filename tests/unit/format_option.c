/* SPDX-License-Identifier: BSD-2-Clause */
/* The parser takes what getopt_long takes; the texts come out of the same table; values keep their
 * bounds. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format/option.h"
#include "format/text.h"
#include "check.h"

static int set(void *ctx, const struct option_def *def, const char *arg)
{
	struct strbuf *log = ctx;

	if (arg && !strcmp(arg, "bad"))
		return option_error(def, "'%s' is not good", arg);
	strbuf_addf(log, "%s=%s;", def->name, arg ? arg : "-");
	return 0;
}

static const struct option_def options[] = {
	{.help = "What"},
	{"duration", 'd', ARG_REQUIRED, "DURATION", "how long (10s, 5m); a unit is required", set,
	 0},
	{"direction", 0, ARG_REQUIRED, "in|out|both", "one's direction", set, 0},
	{"kind", 'k', ARG_REQUIRED, "KIND[,KIND]", "of these kinds", set, 0,
	 .values = "cpu, off,block,block:min=,block:max=5,@all, @all", .list = true},
	{"quiet", 'q', ARG_NONE, NULL, "say nothing", set, 0},
	{"verbose", 'v', ARG_NONE, NULL, "say more", set, 0},
	{"html", 0, ARG_OPTIONAL, "FILE",
	 "a text that is long enough to have to be wrapped somewhere, because the help is only "
	 "ninety columns wide",
	 set, 0},
	{"no-inherit", 0, ARG_NONE, NULL, ".leading dot", set, 0},
	{0},
};
static const struct man_section sections[] = {
	{"FILES", "A list:\n\n- .one\n- two\n\nfile\tits use\n\nAfter it.\n\n  prog --quiet\n"},
	{0},
};
static const struct cli cli = {
	.program = "prog",
	.synopsis = "[-d DURATION] [options]\n--other FORM",
	.summary = "does things",
	.details = "First paragraph.\n\nExample:\n\n  prog -d 10s\n",
	.options = options,
	.exit_status = cli_exit_status,
	.sections = sections,
};

/* Parses a command line of words parted by spaces; the log is what was set, then the operands. */
static int parse(const char *line, bool permute, struct strbuf *log)
{
	char copy[256], *argv[32] = {"prog"}, *save = NULL;
	int argc = 1, rest = 0, err;
	bool dashes = false;

	snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	log->len = 0;
	err = cli_parse(&cli, log, argc, argv, permute, &rest, &dashes);
	strbuf_addf(log, "%s", dashes ? "--" : "|");
	for (int i = rest; i < argc; i++)
		strbuf_addf(log, "%s,", argv[i]);
	return err;
}

static void test_parse(void)
{
	static const struct {
		const char *line;
		bool permute;
		int err;
		const char *log;
	} cases[] = {
		{"", true, 0, "|"},
		{"-d 10s x", true, 0, "duration=10s;|x,"},
		{"-d10s", true, 0, "duration=10s;|"},
		{"-qvd 10s", true, 0, "quiet=-;verbose=-;duration=10s;|"},
		{"--duration=10s", true, 0, "duration=10s;|"},
		{"--duration= x", true, 0, "duration=;|x,"},
		{"--dur 10s", true, 0, "duration=10s;|"},
		{"--d 10s", true, -EINVAL, NULL},
		{"--html x", true, 0, "html=-;|x,"},
		{"--html=a x", true, 0, "html=a;|x,"},
		{"a -q b -v c", true, 0, "quiet=-;verbose=-;|a,b,c,"},
		{"a -q", false, 0, "|a,-q,"},
		{"-q -- a -v", false, 0, "quiet=-;--a,-v,"},
		{"a -- -v", true, 0, "--a,-v,"},
		{"- -q", true, 0, "quiet=-;|-,"},
		{"-d bad", true, -EINVAL, NULL},
		{"-d", true, -EINVAL, NULL},
		{"--duration", true, -EINVAL, NULL},
		{"-x", true, -EINVAL, NULL},
		{"--", true, 0, "--"},
		{"--nothing", true, -EINVAL, NULL},
		{"--quiet=1", true, -EINVAL, NULL},
		{"--=1", true, -EINVAL, NULL},
		{"--completion=csh", true, -EINVAL, NULL},
		{"--completion", true, -EINVAL, NULL},
		{"--version", true, 1, NULL},
	};
	struct strbuf log = {0};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int err = parse(cases[i].line, cases[i].permute, &log);

		CHECK(err == cases[i].err, "'%s' gives %d", cases[i].line, err);
		CHECK(!cases[i].log || !strcmp(log.p, cases[i].log), "'%s' gives %s", cases[i].line,
		      log.p);
	}
	strbuf_fini(&log);
}

static char *text_of(void (*write)(FILE *))
{
	char *p = NULL;
	size_t len;
	FILE *f = open_memstream(&p, &len);

	write(f);
	fclose(f);
	return p;
}

static const struct cli sub = {
	.program = "prog sub",
	.summary = "a command",
	.options = options,
	.operands = "svg, sql",
};
static const struct cli *const both[] = {&cli, &sub};
static void write_help(FILE *f)
{
	cli_help(&cli, f);
}
static void write_man(FILE *f)
{
	cli_man(both, 2, f);
}
static void write_bash(FILE *f)
{
	cli_completion(both, 2, "bash", f);
}
static void write_zsh(FILE *f)
{
	cli_completion(both, 2, "zsh", f);
}
static void write_fish(FILE *f)
{
	cli_completion(both, 2, "fish", f);
}

static void test_texts(void)
{
	char *help = text_of(write_help), *man = text_of(write_man), *bash = text_of(write_bash);
	char *zsh = text_of(write_zsh), *fish = text_of(write_fish);

	CHECK(strstr(help, "usage: prog [-d DURATION] [options]\n       prog --other FORM\n\ndoes "
			   "things\n") == help);
	CHECK(strstr(help,
		     "\n    -d, --duration DURATION   how long (10s, 5m); a unit is required\n"));
	CHECK(strstr(help, "\n        --html[=FILE]         a text that is long"));
	CHECK(strstr(help, "\n    -h, --help "));
	CHECK(!strstr(help, "--man") && !strstr(help, "--completion"));
	for (char *line = help; *line; line += strcspn(line, "\n") + 1)
		CHECK(strcspn(line, "\n") <= 90, "%.*s", (int)strcspn(line, "\n"), line);
	CHECK(strstr(man, ".TH PROG 1"));
	CHECK(strstr(man, "\n\\fB\\-d\\fR, \\fB\\-\\-duration\\fR \\fIDURATION\\fR\nhow long"));
	CHECK(strstr(man, "\n\\&.leading dot\n"));
	CHECK(strstr(man, "\n.SS sub\n"));
	CHECK(strstr(man, "\n.SH EXIT STATUS\n.TP\n\\fB0\\fR\nsuccess\n.TP\n"));
	CHECK(strstr(man, "\n.SH FILES\nA list:\n.PP\n.IP \\(bu 2\n\\&.one\n.IP \\(bu 2\ntwo\n.TP\n"
			  "\\fBfile\\fR\nits use\n.PP\nAfter it.\n.PP\n.PP\n.EX\n  prog "));
	CHECK(strstr(help, "\nFirst paragraph.\n\nExample:\n\n  prog -d 10s\n"));
	CHECK(!strstr(help, "A list"));
	CHECK(strstr(bash, "complete -F _prog prog"));
	CHECK(strstr(zsh, "#compdef prog"));
	CHECK(strstr(fish, "complete -c prog -n __fish_use_subcommand -f -a sub -d 'a command'"));
	free(help);
	free(man);
	free(bash);
	free(zsh);
	free(fish);
}

/* What is written must be good shell, and complete as it should. */
static void test_bash(void)
{
	char path[] = "/tmp/format_option.XXXXXX", cmd[512], line[256] = "";
	FILE *f = fdopen(mkstemp(path), "w");
	static const char *const words[][2] = {
		{"prog --dur", "--duration "},
		{"prog s", "sub "},
		{"prog sub --direction o", "out "},
		{"prog sub --direction=o", "out "},
		{"prog sub --qu", "--quiet "},
		{"prog sub s", "svg sql "},
		{"prog sub svg s", ""},
		{"prog sub -k ", "cpu off block @all "},
		{"prog sub -k cpu,o", "cpu,off "},
		{"prog sub --kind=cpu,-o", "cpu,-off "},
		{"prog sub --kind +", "+cpu +off +block +@all "},
		{"prog sub -k cpu,@", "all "}, /* readline completes what is behind the @ */
		{"prog sub -k n", ""},
		{"prog sub -k cpu,block:", "min= max=5 "}, /* likewise behind the colon */
		{"prog sub -k cpu,block:m,block", "m,block "},
	};

	write_bash(f);
	fclose(f);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		line[0] = 0;
		snprintf(cmd, sizeof(cmd),
			 "bash -c '. %s; COMP_LINE=\"%s\"; COMP_POINT=${#COMP_LINE}; "
			 "COMP_WORDBREAKS=\"@=:\"; compopt() { :; }; _prog; "
			 "[ -z \"$COMPREPLY\" ] || printf \"%%s \" ${COMPREPLY[@]}' 2>&1",
			 path, words[i][0]);
		f = popen(cmd, "r");
		if (!fgets(line, sizeof(line), f))
			line[0] = 0;
		CHECK(pclose(f) == 0 && !strcmp(line, words[i][1]), "'%s' completes to '%s'",
		      words[i][0], line);
	}
	unlink(path);
}

static void test_choice(void)
{
	const struct option_def *kind = &options[3];

	CHECK(!strcmp(kind->name, "kind"));
	CHECK(option_choice(kind, "cpu", 3) == 0 && option_choice(kind, "block,x", 5) == 2);
	CHECK(option_choice(kind, "bloc", 4) == -EINVAL && option_choice(kind, "", 0) == -EINVAL);
}

static void test_values(void)
{
	uint64_t v;
	double d;

	CHECK(!parse_duration_ns("500ms", &v) && v == 500000000);
	CHECK(!parse_duration_ns("1.5h", &v) && v == 5400000000000);
	CHECK(!parse_duration_ns("0s", &v) && v == 0);
	CHECK(!parse_duration_ns("18446744073709551615ns", &v) && v == UINT64_MAX);
	CHECK(parse_duration_ns("18446744073709551616ns", &v));
	CHECK(parse_duration_ns("18446744073710s", &v));
	CHECK(parse_duration_ns("10", &v) && parse_duration_ns("", &v) &&
	      parse_duration_ns("s", &v));
	CHECK(parse_duration_ns("-1s", &v) && parse_duration_ns("1 s", &v) &&
	      parse_duration_ns("1s ", &v));
	CHECK(parse_duration_ns("1.s", &v) && parse_duration_ns(".5s", &v) &&
	      parse_duration_ns("1..5s", &v));
	CHECK(parse_duration_ns("1e3s", &v) && parse_duration_ns("0x1s", &v) &&
	      parse_duration_ns(NULL, &v));
	CHECK(!parse_size("10", &v) && v == 10);
	CHECK(!parse_size("1.5K", &v) && v == 1536);
	CHECK(!parse_size("2GiB", &v) && v == 2ULL << 30);
	CHECK(!parse_size("16777215T", &v) && v == 16777215ULL << 40);
	CHECK(parse_size("16777216T", &v) && parse_size("1X", &v) && parse_size("K", &v));
	CHECK(!parse_u64("18446744073709551615", &v) && v == UINT64_MAX);
	CHECK(parse_u64("18446744073709551616", &v) && parse_u64("1.0", &v) &&
	      parse_u64("1x", &v) && parse_u64("+1", &v));
	CHECK(!parse_percent("10%", &d) && d > 0.0999 && d < 0.1001);
	CHECK(!parse_percent("0.1", &d) && d > 0.0999 && d < 0.1001);
	CHECK(!parse_percent("100%", &d) && d == 1);
	CHECK(parse_percent("101%", &d) && parse_percent("10", &d) && parse_percent("%", &d) &&
	      parse_percent("nan", &d));
}

int main(void)
{
	message_init("prog", 0);
	test_parse();
	test_texts();
	test_bash();
	test_choice();
	test_values();
	return failed;
}
