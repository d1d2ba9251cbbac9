# Who ended a wait: one process reads from a pipe, 200 times asleep when the other writes to it, and then naps 100 times. Each wait
# that offcpu records is one of a waker as well, or counted as not known: with the same time, the writer's stack or the timer's
# interrupt, and in the table of pairs. A waker that is not a target has a name only.
. tests/live/lib.inc
. tests/live/carriers.inc
command -v cc >/dev/null || skip "needs a C compiler"
grep -q '^wakers .* yes' "$T/list" || skip "no probe 'wakers': $(grep '^wakers ' "$T/list")"
cat >"$T/wake.c" <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static int asleep(pid_t pid)
{
	char name[64], line[256] = "";
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	f = fopen(name, "r");
	if (!f || !fgets(line, sizeof(line), f)) exit(1);
	fclose(f);
	return strstr(line, ") S ") != NULL;
}
__attribute__((noipa)) int wake_reader(int fd, char c)
{
	return write(fd, &c, 1);
}
int main(int argc, char **argv)
{
	int n = atoi(argv[1]), naps = atoi(argv[2]), to[2], ready[2];
	struct timespec nap = {0, 2000000};
	char c = 0;
	pid_t pid;

	if (pipe(to) || pipe(ready)) return 1;
	prctl(PR_SET_NAME, "wk-writer");
	if (!(pid = fork())) {
		prctl(PR_SET_NAME, "wk-reader");
		close(to[1]);
		write(ready[1], "", 1);
		while (read(to[0], &c, 1) == 1 && c)
			;
		while (naps--) nanosleep(&nap, NULL);
		return 0;
	}
	read(ready[0], &c, 1);
	printf("%d\n", pid);
	fflush(stdout);
	if (read(0, &c, 1) != 1) return 1;
	for (int i = 0; i < n; i++) {
		while (!asleep(pid)) sched_yield();
		if (wake_reader(to[1], 1) != 1) return 1;
	}
	close(to[1]);
	waitpid(pid, NULL, 0);
	return 0;
}
C
cc -O1 -g -o "$T/wake" "$T/wake.c"
pairs() { shown "$1" "$2" wk-reader | cut -d, -f1; } # ARCHIVE WAKER
shown() { # ARCHIVE WAKER WOKEN: waits, pid, tid and those of the waker, added up
	"$OBANA" show wakers "$1" --csv --limit 1000 --where "woken_by = '$2' AND thread = '$3'" | tail -n +2 | awk -F, '{n += $2; who = "," $3 "," $4 "," $7 "," $8} END {print n + 0 who}'
}

mkfifo "$T/go"; exec 8<>"$T/go"
# recorded ARCHIVE WAITS NAPS [both]: the reader, or both, from before the first write to the end
recorded() {
	local writer reader of
	: >"$T/reader"
	"$T/wake" $2 $3 <"$T/go" >"$T/reader" & writer=$!
	pids+=($writer)
	eventually "the reader" written "$T/reader"
	reader=$(cat "$T/reader")
	of=$reader${4:+,$writer}
	obrec_start -q -p $of -e offcpu,wakers --offcpu-period 0s -o "$1"
	echo >&8
	wait $writer
	obrec_stop
}

recorded "$T/a.obz" 200 100 both
for kind in offcpu wakeup; do
	sql "$T/a.obz" "SELECT sum(count), sum(value) FROM sample WHERE kind = '$kind'" >"$T/$kind"
done
IFS=, read -r waits ns <"$T/offcpu"
IFS=, read -r woken woken_ns <"$T/wakeup"
unknown=$(lost "$T/a.obz" "source = 'wakers'") unseen=$(lost "$T/a.obz" "source <> 'wakers'")
is "waits = those with a waker and those counted without" $((woken + unknown)) "$waits"
[ $unknown -gt 0 ] || is "nanoseconds" "$woken_ns" "$ns"
by_writer=$(pairs "$T/a.obz" wk-writer) by_timer=$(pairs "$T/a.obz" "(interrupt)")
within "waits ended by the writer (unknown $unknown, losses $unseen)" "$by_writer" $((200 - unknown - unseen)) 201 # or by its end
within "waits ended by the timer" "$by_timer" $((100 - unknown - unseen)) 100
is "reader and writer by pid and tid" "$(shown "$T/a.obz" wk-writer wk-reader | awk -F, '{print ($2 && $2 == $3 && $4 && $4 == $5 && $2 != $4)}')" 1
stacks() { # WHERE: wakeups whose stack has such a function
	sql "$T/a.obz" "SELECT total(s.count) FROM sample s WHERE s.kind = 'wakeup' AND EXISTS (SELECT 1 FROM stack_frame sf JOIN frame ON frame.id = sf.frame_id
		JOIN function f ON f.id = frame.function_id WHERE sf.stack_id = s.stack_id AND f.name = '$1')" | sed 's/\..*//'
}
within "with the function that wrote" "$(stacks wake_reader)" $((200 - unknown - unseen)) 200
within "with the timer's" "$(stacks hrtimer_interrupt)" $((100 - unknown - unseen)) 1000000
# at their end: an interrupt can wake a thread amid such a program
is "stacks that end in the program that took them" "$(sql "$T/a.obz" "SELECT total(s.count) FROM sample s WHERE s.kind = 'wakeup' AND EXISTS (SELECT 1 FROM stack_frame sf
	JOIN frame ON frame.id = sf.frame_id JOIN function f ON f.id = frame.function_id WHERE sf.stack_id = s.stack_id AND sf.depth = 0 AND f.name GLOB '*bpf_*')")" 0.0
"$OBANA" show wakers "$T/a.obz" >"$T/shown"
grep -qE ' wk-reader +wk-writer' "$T/shown" && grep -qF '(interrupt)' "$T/shown" || { cat "$T/shown"; fail "show wakers"; }
"$OBANA" flamegraph "$T/a.obz" --kind wakeup -o "$T/wakers.svg" 2>/dev/null
grep -q wake_reader "$T/wakers.svg" || fail "no flame graph of wakers"

# both in one stack: the reader's, then who ended its wait from its leaf to its root
"$OBANA" export folded "$T/a.obz" --wakers --by none -o "$T/both" 2>/dev/null
total() { awk -v of="$1" '$0 ~ of {n += $NF} END {printf "%d", n}' "$T/both"; }
is "programs between waits and wakers" "$(grep -cE 'bpf_prog_|bpf_trace_run' "$T/both" || true)" 0
is "interrupts that woke: from whom they interrupted" "$(sql "$T/a.obz" "SELECT count(*) FROM sample s JOIN thread t ON t.id = s.thread_id JOIN stack_frame sf USING (stack_id) JOIN frame r ON r.id = sf.frame_id
	JOIN function f ON f.id = r.function_id WHERE s.kind = 'wakeup' AND t.comm = '(interrupt)' AND f.name IN ('do_syscall_64', 'do_idle', 'entry_SYSCALL_64_after_hwframe', 'el0_svc')")" 0
is "nanoseconds of waits with their wakers, of all waits" "$(total .)" "$ns"
is "each with its waker, or as one of which it is not known" "$(total 'woken by')" "$ns"
[ $unknown -gt 0 ] || is "of a waker not known" "$(total 'woken by: not known')" 0
within "those by the writer" "$(total 'read;.*;woken by wk-writer;.*;wake_reader;.*main')" 1 "$ns"
is "stacks that end with the writer's function first" "$(grep -c 'wake_reader;.*woken by' "$T/both")" 0
"$OBANA" flamegraph "$T/a.obz" --wakers -o "$T/both.svg" 2>/dev/null
grep -q "woken by wk-writer" "$T/both.svg" || fail "no flame graph of waits with their wakers"

recorded "$T/b.obz" 50 1
unknown=$(lost "$T/b.obz")
within "a waker that is not a target: waits it ended (not known or lost: $unknown)" "$(pairs "$T/b.obz" wk-writer)" $((50 - unknown)) 51
is "its stack" "$(sql "$T/b.obz" "SELECT DISTINCT coalesce(st.error, 'complete') FROM sample s JOIN thread t ON t.id = s.thread_id JOIN process p ON p.id = t.process_id
	JOIN stack st ON st.id = s.stack_id WHERE s.kind = 'wakeup' AND p.comm = 'wk-writer'")" "stack not taken"
is "which is not recorded for it" "$(sql "$T/b.obz" "SELECT group_concat(DISTINCT t.comm) FROM sample s JOIN thread t ON t.id = s.thread_id WHERE kind = 'offcpu'")" wk-reader
