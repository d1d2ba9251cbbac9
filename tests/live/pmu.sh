# Software events by process and thread: as many as the kernel and `perf stat` count in the same seconds, of a program with two threads
# and a child; its page faults, sampled one by one, in a flame graph. Without a PMU one line says so.
# alone: what it compares with counts the whole host
. tests/live/lib.inc
. tests/live/pmu.inc
grep -q '^pmu .* yes' "$T/list" || skip "no probe 'pmu': $(grep '^pmu ' "$T/list")"
out=$T tmp=$T PATH=$(dirname "$OBREC"):$WORKLOAD:$PATH

# perf stat beside it, enabled and answering before the work begins
perf=
command -v perf >/dev/null && perf stat -e page-faults true 2>/dev/null && perf=yes
pmu_before() {
	[ -n "$perf" ] || return 0
	rm -f "$T/ctl" "$T/ack"; mkfifo "$T/ctl" "$T/ack"
	exec 6<>"$T/ctl" 7<>"$T/ack"
	perf stat -x, -D -1 --control fifo:"$T/ctl","$T/ack" -e $PMU_EVENTS -p $pmu_load -o "$T/perf-$1" 5>&- 2>"$T/perf.err" & perf_pid=$!
	pids+=($perf_pid)
	echo enable >&6
	read -r -t 60 answer <&7 || { cat "$T/perf.err"; fail "perf stat did not answer"; }
}
pmu_after() {
	[ -n "$perf" ] || return 0
	kill -INT $perf_pid
	wait $perf_pid || true
	exec 6>&- 7>&-
}
pmu_run
is "exit" $status 0
pmu_told

if [ -n "$perf" ]; then
	for name in process host classic; do
		a=$T/pmu-$name.obz pid=$(cat "$T/pmu-$name.pid")
		read -r _ child _ <"$T/pmu-$name.did"
		theirs() { awk -F, -v e=$1 '$3 == e {print $1}' "$T/perf-$name"; } # EVENT
		for event in page-faults minor-faults major-faults; do
			pmu_same "$name: $event, as perf stat" "$a" $(($(pmu_of "$a" $event pid $pid) + $(pmu_of "$a" $event pid $child))) "$(theirs $event)"
		done
		# perf stops counting a child before its end.
		missing=$([ "$(pmu_lost "$a")" = 0 ] && echo 0 || echo 1000000)
		for event in context-switches cpu-migrations; do
			own=$(pmu_of "$a" $event pid $pid)
			within "$name: $event of perf stat" "$(theirs $event)" $own $((own + $(pmu_of "$a" $event pid $child) + missing))
		done
	done
else echo "no perf stat here"; fi

a=$T/pmu-process.obz faults=$(pmu_of "$T/pmu-process.obz" page-faults pid "$(cat "$T/pmu-process.pid")")
"$OBANA" export folded "$a" --kind page-faults -o "$T/folded" 2>"$T/err" || fail "folded stacks: $(cat "$T/err")"
is "folded: faults" "$(awk '{n += $NF} END {print n}' "$T/folded")" "$(sql "$a" "SELECT sum(value) FROM sample WHERE kind = 'page-faults'")"
within "folded: those in touch, of all" "$(awk '/;touch/ {n += $NF} END {print n}' "$T/folded")" $((3 * PMU_PAGES)) $((3 * PMU_PAGES + 30))
"$OBANA" flamegraph "$a" --kind page-faults -o "$T/f.svg" 2>"$T/err" || fail "flame graph: $(cat "$T/err")"
is "flame graph: unit" "$(grep -o 'data-unit="[a-z]*"' "$T/f.svg")" 'data-unit="faults"'
is "flame graph: those who touch: two threads, a child" "$(grep -o '<title>touch (' "$T/f.svg" | wc -l)" 3
is "its kind" "$(sql "$a" "SELECT title, unit, count_name FROM sample_kind WHERE name = 'page-faults'")" "Samples of page-faults,faults,sampled"
"$OBANA" show pmu-processes "$a" --where "event = 'page-faults'" --csv >"$T/csv"
is "section" "$(grep -c "page-faults,$(cat "$T/pmu-process.pid"),counted" "$T/csv")" 1

# At a frequency the kernel chooses the periods, which are the weights.
for _ in 1 2 3 4 5 6 7 8 9 10; do
	"$OBREC" -q -e pmu:page-faults,cpu:event=page-faults,freq=5000 -o "$T/freq.obz" -- sh -c 'echo . | counted 20000 1' >"$T/freq.did" 2>"$T/err" || fail "obrec: $(cat "$T/err")"
	[ "$(lost "$T/freq.obz" "source = 'pmu'")" != 0 ] || break
done
of=$(sql "$T/freq.obz" "SELECT sum(count) FROM counter WHERE probe = 'pmu'")
within "faults" $of 60000 100000
within "samples of them at 5000 Hz" "$(sql "$T/freq.obz" "SELECT sum(count) FROM sample WHERE kind = 'page-faults'")" 1 $((of - 1))
within "their weights, with faults of others in between" "$(sql "$T/freq.obz" "SELECT sum(value) FROM sample WHERE kind = 'page-faults'")" $((of / 2)) $((of * 3))

# A thread that stays on its CPU is counted each second.
start sh -c 'while :; do :; done'; busy=$!
obrec_start -q -e pmu:task-clock -p $busy -o "$T/busy.obz"
worked 300 $busy
obrec_stop
within "seconds with counts" "$(sql "$T/busy.obz" "SELECT count(DISTINCT start_ns) FROM counter WHERE probe = 'pmu' AND sum > 0")" 2 100000
is "its process, for the cgroup" "$(sql "$T/busy.obz" "SELECT count(*) FROM process WHERE pid = $busy")" 1
"$OBREC" -q -e cpu:event=cache-misses -o "$T/none.obz" -- true 2>"$T/err" && echo "ok: cache misses can be sampled here" ||
	is "no cache misses: exit status, line" "$? $(grep -c "'cpu' is not available: no hardware counters for 'cache-misses'" "$T/err")" "4 1"
