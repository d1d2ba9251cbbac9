# A profile of the demo workload agrees with the program's own account of its time, on CPU and blocked, on another "machine":
# the binary is gone when the report is made.
# alone: is about time on CPUs
. tests/live/lib.inc
cp "$WORKLOAD/demo" "$T/demo"
"$OBREC" -q -F 499 -e cpu,offcpu -o "$T/d.obz" -- "$T/demo" 5 >"$T/account"
rm "$T/demo"
query() { "$OBANA" query "$T/d.obz" "$1" --csv | tail -n +2; }

# share of each stage's function in run_stage's time, percent; four standard deviations of so many samples are allowed
n=$(query "SELECT sum(count) FROM sample WHERE kind='cpu'")
within "samples" "$n" 500 100000
while read -r _ stage _ share _ planned _ _ _ function; do
	got=$(query "SELECT 100.0 * max(total_share) / (SELECT max(total_share) FROM hot_function WHERE kind='cpu' AND (function = 'run_stage' OR function LIKE '%::run_stage%'))
		FROM hot_function WHERE kind='cpu' AND function LIKE '%$function(%'")
	read -r low high < <(awk -v p=$share -v n=$n 'BEGIN {d = 4 * sqrt(p * (100 - p) / n); print p - d, p + d}')
	within "stage $stage: percent (its own account: $share)" "$got" "$low" "$high"
done < <(grep '^stage' "$T/account")

cpu_ms=$(sed -n 's/.* cpu_ms \([0-9]*\).*/\1/p' "$T/account")
got=$(query "SELECT sum(value)/1e6 FROM sample WHERE kind='cpu'")
within "CPU ms (its own account: $cpu_ms, of the stages alone)" "$got" "$(awk "BEGIN{print $cpu_ms*0.9}")" "$(awk "BEGIN{print $cpu_ms*1.25+150}")"

slept=$(sed -n 's/^auditor .* slept_ms \([0-9]*\).*/\1/p' "$T/account")
# Where it sleeps, and not where it waits for the disk or the ledger.
got=$(query "SELECT total(value)/1e6 FROM sample s JOIN thread ON thread.id=thread_id WHERE kind='offcpu' AND comm='auditor' AND EXISTS (SELECT 1 FROM stack_frame sf
	JOIN frame ON frame.id=frame_id JOIN function f ON f.id=function_id WHERE sf.stack_id=s.stack_id AND f.name LIKE '%Auditor::rest%')")
within "ms the auditor is blocked in rest() (its own account of sleeping: $slept)" "$got" "$(awk "BEGIN{print $slept*0.85-50}")" "$(awk "BEGIN{print $slept*1.15+50}")"

within "complete stacks, percent" "$(query "SELECT 100.0*sum(CASE WHEN error IS NULL THEN count ELSE 0 END)/sum(count) FROM error_weight WHERE kind='cpu'")" 97 100
is "inlined frames are there" "$(query "SELECT count(*) > 20 FROM frame WHERE inlined")" 1
is "lines are there" "$(query "SELECT count(*) > 50 FROM frame WHERE file LIKE '%book.h' OR file LIKE '%packer.h' OR file LIKE '%order.h' OR file LIKE '%risk.h'")" 1
"$OBANA" report "$T/d.obz" --flamegraph --folded --pprof --html >"$T/report"
for f in flamegraph.svg folded pb.gz html; do ls "$T"/d.* | grep -q "$f" || { ls "$T"; fail "no $f beside the archive"; }; done
