# --cpu-budget is held under a fork storm, 2,000 threads, hundreds of thousands of switches a second and 1,000 mappings: the bench's
# topic, cut short. What is over the budget is at most what one interval in several costs (the hooks are tried again now and then). It
# takes steps of half a second to get there, more on a busy machine: one of three windows has to be within, after 4 s.
# alone: is about time on CPUs
. tests/live/lib.inc
most=7.5
BUDGET_SECONDS=12 BUDGET_WINDOWS=3 BUDGET_WITHIN=$most BUDGET=5% timeout 300 bash scripts/bench.d/budget.sh >"$T/out" 2>&1 ||
	{ cat "$T/out"; fail "the bench"; }
cat "$T/out"
for load in threads switches mappings; do
	within "$load: % of a CPU at 5%" "$(sed -n "s/^$load: % of a CPU at 5%; thinned to *\([0-9.]*\).*/\1/p" "$T/out")" 0.01 $most
done
# with -a whatever else runs is recorded too, and what a fork costs cannot be thinned: the levers are pulled
forks=$(sed -n "s/^forks: % of a CPU at 5%; thinned to *//p" "$T/out")
share=${forks%%;*}
case $forks in *nothing*) within "forks: % of a CPU at 5%" $share 0.01 $most ;; *%*) echo "ok: forks: $forks" ;; *) fail "forks: '$forks'" ;; esac

# hooks that cost more than the budget by themselves: off-CPU waits are left out for a time, which is recorded, and come back with a light load
start "$WORKLOAD/burden" switches 3600 >/dev/null; busy=$!
off() { grep "'offcpu' from" "$T/obrec.err" | tail -n 1 | grep -q ' to 0%$'; }
on() { ! off; }
obrec_start -v --cpu-budget 1% -p $busy -e cpu,offcpu --debuginfo none -o "$T/off.obz"
eventually "off-CPU waits are turned off" off
sleep 2; kill -STOP $busy # there are many in the gap
eventually "they are back" on
kill -INT $obrec; obrec_wait; kill -KILL $busy
is "exit" $status 0
within "times it was turned off" "$(sql "$T/off.obz" "SELECT count(*) FROM thinning WHERE what='offcpu' AND kept=0")" 1 20
within "times it came back" "$(sql "$T/off.obz" "SELECT count(*) FROM thinning WHERE what='offcpu' AND was=0")" 1 20
is "waits recorded within the gaps" "$(sql "$T/off.obz" "WITH step AS (SELECT ts_ns, kept, lead(ts_ns) OVER (ORDER BY ts_ns) AS until FROM thinning WHERE what='offcpu')
	SELECT count(*) FROM sample JOIN step ON sample.ts_ns > step.ts_ns + 50000000 AND sample.ts_ns < step.until WHERE kind='offcpu' AND step.kept=0")" 0
within "stacks without a user part, %" "$(sql "$T/off.obz" "SELECT 100.0 * total((ifnull(error,'') <> '') * count) / total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='offcpu'")" 0 5
"$OBANA" report "$T/off.obz" >"$T/report"
grep -q 'none were recorded' "$T/report" || fail "the report does not say that there are gaps"
