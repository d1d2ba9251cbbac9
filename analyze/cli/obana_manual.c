/* SPDX-License-Identifier: BSD-2-Clause */
/* Sections of obana's manual page after the list of commands. */
#include "analyze/cli/command.h"

const struct man_section obana_manual[] = {
	{"EXAMPLES",
	 "Show what was recorded and what was lost:\n\n"
	 "  obana info cap.obz\n\n"
	 "Print the report and write a flame graph to cap.flamegraph.svg:\n\n"
	 "  obana report cap.obz --flamegraph\n\n"
	 "Show the source lines of a function with their shares:\n\n"
	 "  obana annotate handle_request cap.obz --source ~/src/server\n\n"
	 "Draw off-CPU stacks, one tree per thread:\n\n"
	 "  obana flamegraph cap.obz --kind offcpu --by thread -o waits.svg\n\n"
	 "List requests that took at least 5 ms:\n\n"
	 "  obana messages cap.obz --slower 5ms\n\n"
	 "Find the process behind a surge among callers of one name:\n\n"
	 "  obana traffic cap.obz --by caller,process --interval 1s\n\n"
	 "Find the rarest values of an argument of Thrift calls:\n\n"
	 "  obana traffic cap.obz --rare --thrift-arg get:1.3=user\n\n"
	 "Compare two captures:\n\n"
	 "  obana diff lastweek.obz today.obz\n\n"
	 "Query the tables with SQL:\n\n"
	 "  obana query \"SELECT protocol, count(*) FROM connection GROUP BY 1\" cap.obz\n\n"},
	{"FILES",
	 "~/.cache/obana/symbols\tcache of symbols, by build-id; see --cache-dir\n"
	 "/usr/lib/debug\tseparate debug files, searched after the archive and --debug-dir\n\n"},
	{"ENVIRONMENT",
	 "DEBUGINFOD_URLS\tservers for --debuginfod\n"
	 "NO_COLOR\tdisables colour\n"
	 "COLUMNS\twidth of tables in text: wider ones are cut, and columns left out; "
	 "default: the terminal's, and in a pipe unlimited\n\n"},
	{"NOTES",
	 "Flame graphs: each box is a function; boxes below it are its callers, boxes above it its "
	 "callees. The width is the share of samples (on-CPU) or of blocked time (off-CPU); the "
	 "order from left to right has no meaning. A wide box with nothing above it has high self "
	 "time. Click a box to zoom, reset to zoom out, Ctrl-F to search by regular expression and "
	 "show the share of the matches. Colours distinguish user code, inlined calls, kernel and "
	 "JIT code.\n\n"
	 "A request's latency is measured from its last byte to the last byte of its response, in "
	 "the recorded process.\n\n"},
	{"LIMITATIONS",
	 "If traffic events were lost, calls, errors and bytes are lower bounds. A call with only "
	 "its "
	 "request or only its response captured counts once, as unpaired, without latency; tables "
	 "show the share. In SQL, table message has one row per half of such a call: sum(is_call) "
	 "counts calls.\n\n"
	 "If part of a request or response was not captured (lost, beyond the payload limit, or in "
	 "progress at the end of the capture), it is shown as far as it was captured, and column "
	 "detail says so:\n"
	 "- \"request_bytes\":\"at least\", \"response_bytes\":\"at least\": it has more bytes "
	 "than "
	 "shown\n"
	 "- \"end\":\"not seen\": its last byte came later, and the latency is longer\n"
	 "- \"begin\":\"not seen\": its first byte came earlier\n\n"
	 "This holds for HTTP, gRPC and Redis. If a chunked body or a Redis array was not captured "
	 "to the end of its first call, its bytes and latency are those of that call, without a "
	 "mark.\n\n"},
	{"SEE ALSO", "obrec(1), sqlite3(1)\n\n"},
	{0},
};
