# BPF time per sample at about 36 user frames without frame pointers; recorder's CPU and memory against perf --call-graph dwarf
. scripts/bench.d/lib.inc
start "$WORKLOAD/deep" recurse 600 33; a=$!
start "$WORKLOAD/deep" recurse 600 33; b=$!
start sleep 600; idle=$!
sleep 0.5
head_row

# "run_ns of all programs, run_ns, runs, samples of the cpu probe's"
bpf_of() {
	"$OBANA" info --json "$1" | python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
cpu = [p for p in end["programs"] if p["name"] == "cpu_sample"][0]
print(sum(p["run_ns"] for p in end["programs"]), cpu["run_ns"], cpu["runs"], end["stacks"].get("cpu", {}).get("total", 0))'
}

# The program also runs, and returns at once, when another process is on the CPU: on a busy machine
# mostly so. What such a run costs is known from a capture of a process that sleeps.
for f in 99 999; do
	"$OBREC" -q -e cpu -d "${SECS}s" -F $f -p $idle --debuginfo none --stats -o "$T/idle.obz"
	read -r _ ns runs _ <<<"$(bpf_of "$T/idle.obz")"
	other=$(calc "$ns/$runs" 0)
	measured "$OBREC" -q -e cpu -d "${SECS}s" -F $f -p $a,$b --debuginfo none --stats -o "$T/$f.obz"
	ours=$cpu; rss_ours=$rss
	read -r all_ns ns runs samples <<<"$(bpf_of "$T/$f.obz")"
	depth=$(sql "$T/$f.obz" "SELECT round(1.0*sum(n)/count(*), 1) FROM (SELECT count(*) n FROM stack_frame WHERE stack_id IN (SELECT stack_id FROM sample) GROUP BY stack_id)")
	row "BPF us a sample, $f Hz, mean depth $depth" "$(calc "($ns-$other*($runs-$samples))/$samples/1000")" - - "<= $([ $f = 99 ] && echo 6 || echo 3.5)"
	row "ns a run for another process, $f Hz" "$other"
	total=$(calc "$ours+$all_ns/1e9" 4)
	row "obrec + BPF over ${SECS} s, % of one CPU, $f Hz" "$(calc "100*$total/$SECS" 3)" - - "$([ $f = 99 ] && echo '<= 0.5')"
	measured perf record -q -F $f --call-graph dwarf -p $a,$b -o "$T/perf.$f" -- sleep "$SECS"
	row "CPU seconds over ${SECS} s, $f Hz" "$total" "$cpu" "$(calc "$total/$cpu" 3)" "< 1"
	row "peak resident, MiB" "$((rss_ours >> 10))" "$((rss >> 10))" - "<= 60"
done
