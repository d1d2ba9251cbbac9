# --cpu-budget: under load samples are thinned out in recorded steps, what they stand for stays right, and when the load goes
# everything is taken again.
# alone: is about time on CPUs
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
# Pairs of threads that hand a byte to each other for SECONDS, then all sleep.
cat >"$T/switches.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct hand { int from, to; };
static void *pass(void *arg)
{
	struct hand *h = arg;
	char c;

	while (read(h->from, &c, 1) == 1 && write(h->to, &c, 1) == 1)
		;
	return NULL;
}
int main(int argc, char **argv)
{
	int pairs = atoi(argv[1]), first[64];
	pthread_t t;

	for (int i = 0; i < pairs && i < 64; i++) {
		int there[2], back[2];
		struct hand *h = malloc(2 * sizeof(*h));

		if (argc < 3 || pipe(there) || pipe(back)) return 1;
		h[0] = (struct hand){there[0], back[1]}, h[1] = (struct hand){back[0], there[1]};
		first[i] = there[1];
		pthread_create(&t, NULL, pass, &h[0]);
		pthread_create(&t, NULL, pass, &h[1]);
		if (write(first[i], "", 1) != 1) return 1;
	}
	sleep(atoi(argv[2]));
	return 0;
}
C
cc -O2 -pthread -o "$T/switches" "$T/switches.c"
for arg in 0% 5 101%; do
	status=0; "$OBREC" --cpu-budget $arg -d 1s -o "$T/x.obz" 2>"$T/err" || status=$?
	is "--cpu-budget $arg: exit" $status 2
done

# busy, then at rest: thread time in the pipes adds up, however few of the waits were looked at
start "$T/switches" 4 30; busy=$!
obrec_start -v --cpu-budget 3% --offcpu-period 1ms -F 999 -p $busy -e cpu,offcpu --stats -o "$T/b.obz"
sleep 6; kill -STOP $busy; sleep 7
kill -INT $obrec; obrec_wait; kill -CONT $busy
is "exit" $status 0
grep -q 'throttled in .* steps' "$T/obrec.err" || fail "the last line does not say so"
within "steps" "$(sql "$T/b.obz" "SELECT count(*) FROM thinning")" 2 60
within "least share kept" "$(sql "$T/b.obz" "SELECT min(kept) FROM thinning")" 0 0.5
is "steps that do not follow from the one before" "$(sql "$T/b.obz" "SELECT count(*) FROM (SELECT was, lag(kept, 1, 1.0) OVER (PARTITION BY what ORDER BY ts_ns) AS before FROM thinning) WHERE was <> before")" 0
within "steps back" "$(sql "$T/b.obz" "SELECT count(*) FROM thinning WHERE kept > was")" 1 60
"$OBANA" report "$T/b.obz" >"$T/out"
grep -q 'throttled .*for --cpu-budget' "$T/out" || fail "the report does not say so"

# the threads' time in read() and on a CPU: 8 threads at a budget that the hooks alone do not exceed (a busy machine lets them switch less often:
# then a lower one), against what a recording beside it makes of the same time that is not thinned out.
for budget in 10% 5% 2.5%; do
	start "$T/switches" 4 3600; busy=$!
	obrec_start --offcpu-period 1ms -p $busy -e cpu,offcpu --ring-size 64M --debuginfo none -o "$T/whole.obz"; whole=$obrec
	obrec_start --cpu-budget $budget -d 12s --offcpu-period 1ms -p $busy -e cpu,offcpu -o "$T/s.obz"; obrec_wait
	is "thinned: exit" $status 0
	obrec=$whole; obrec_stop "whole"
	kill $busy
	steps=$(sql "$T/s.obz" "SELECT count(*) FROM thinning")
	[ "$steps" = 0 ] || break
done
within "steps at $budget" "$steps" 1 60
# Beside switches away from threads of this machine's PID 1, over which the kernel runs no BPF program.
is "lost of the whole" "$(lost "$T/whole.obz" "source <> 'offcpu'")" 0
threads="FROM sample JOIN thread ON thread.id = thread_id WHERE tid <> $busy"
span=$(sql "$T/s.obz" "SELECT min(ts_ns) || ' AND ' || max(ts_ns) FROM sample" | tr -d '"')
thinned=$(sql "$T/s.obz" "SELECT total(value) / 1e9 $threads") all=$(sql "$T/whole.obz" "SELECT total(value) / 1e9 $threads AND ts_ns BETWEEN $span")
within "thread seconds, of the whole" "$all" 1 100
within "thread seconds, thinned" "$thinned" "$(awk -v n="$all" 'BEGIN {print n * 0.7}')" "$(awk -v n="$all" 'BEGIN {print n * 1.17}')"
