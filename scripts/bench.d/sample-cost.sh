# BPF time per sample at about 36 user frames without frame pointers; recorder's CPU and memory against perf --call-graph dwarf
. scripts/bench.d/lib.inc
start "$WORKLOAD/deep" recurse 600 33; a=$!
start "$WORKLOAD/deep" recurse 600 33; b=$!
sleep 0.5
head_row

# "run_ns samples" of the cpu probe
bpf_of() {
	"$OBANA" info --json "$1" | python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
print(sum(p["run_ns"] for p in end["programs"]), sum(p["run_ns"] for p in end["programs"] if p["name"] == "cpu_sample"),
      end["stacks"]["cpu"]["total"])'
}

for f in 99 999; do
	measured "$OBREC" -q -e cpu -d "${SECS}s" -F $f -p $a,$b --debuginfo none --stats -o "$T/$f.obz"
	ours=$cpu; rss_ours=$rss
	read -r all_ns ns samples <<<"$(bpf_of "$T/$f.obz")"
	depth=$(sql "$T/$f.obz" "SELECT round(1.0*sum(n)/count(*), 1) FROM (SELECT count(*) n FROM stack_frame WHERE stack_id IN (SELECT stack_id FROM sample) GROUP BY stack_id)")
	row "BPF us a sample, $f Hz, mean depth $depth" "$(calc "$ns/$samples/1000")" - - "<= $([ $f = 99 ] && echo 5 || echo 3.5)"
	total=$(calc "$ours+$all_ns/1e9" 4)
	row "obrec + BPF over ${SECS} s, % of one CPU, $f Hz" "$(calc "100*$total/$SECS" 3)" - - "$([ $f = 99 ] && echo '<= 0.5')"
	measured perf record -q -F $f --call-graph dwarf -p $a,$b -o "$T/perf.$f" -- sleep "$SECS"
	row "CPU seconds over ${SECS} s, $f Hz" "$total" "$cpu" "$(calc "$total/$cpu" 3)" "< 1"
	row "peak resident, MiB" "$((rss_ours >> 10))" "$((rss >> 10))" - "<= 60"
done
