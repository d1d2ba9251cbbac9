# BPF time per sample at about 36 user frames without frame pointers, and the recorder's CPU against perf --call-graph dwarf
. scripts/bench.d/lib.inc
start "$WORKLOAD/deep36"; a=$!
start "$WORKLOAD/deep36"; b=$!
sleep 0.5
head_row
for f in 99 999; do
	measured "$OBREC" -q -d "${SECS}s" -F $f -p $a,$b --debuginfo none --stats -o "$T/$f.obz"
	ours=$cpu
	read -r runs ns <<<"$("$OBANA" info --json "$T/$f.obz" | python3 -c '
import json,sys
p=[p for p in json.load(sys.stdin)["end"]["programs"] if "cpu" in p["name"]]
print(sum(x["runs"] for x in p), sum(x["run_ns"] for x in p))')"
	depth=$(sql "$T/$f.obz" "SELECT round(sum(d*c)*1.0/sum(c),1) FROM (SELECT stack_id, count(*) d FROM stack_frame GROUP BY 1) JOIN (SELECT stack_id, sum(count) c FROM sample GROUP BY 1) USING(stack_id)")
	row "BPF us per sample, $f Hz, mean depth $depth" "$(calc "$ns/$runs/1000")" - - "<= $([ $f = 99 ] && echo 5 || echo 3.5)"
	bpf=$(calc "$ns/1e9" 4)
	row "recorder + BPF, % of one CPU, $f Hz" "$(calc "100*($ours+$bpf)/$SECS" 3)" - - "$([ $f = 99 ] && echo '<= 0.5')"
	measured perf record -q -F $f --call-graph dwarf -p $a,$b -o "$T/perf.$f" -- sleep "$SECS"
	row "CPU seconds over ${SECS} s, $f Hz" "$(calc "$ours+$bpf" 3)" "$(calc "$cpu" 3)" "$(calc "($ours+$bpf)/$cpu" 3)" "< 1"
	s=$(sql "$T/$f.obz" "SELECT sum(count) FROM sample")
	ps=$(perf report -i "$T/perf.$f" --header-only 2>/dev/null | sed -n 's/.*sample_count.*: //p'); ps=${ps:-$(perf script -i "$T/perf.$f" -F tid --no-inline 2>/dev/null | grep -c . || true)}
	row "archive bytes a sample ($s samples)" "$(calc "$(stat -c %s "$T/$f.obz")/$s" 1)" "$(calc "$(stat -c %s "$T/perf.$f")/$s" 0)" "$(calc "$(stat -c %s "$T/perf.$f")/$(stat -c %s "$T/$f.obz")" 0)x" "<= 24"
	row "obrec peak resident, KiB" "$rss" - - ""
done
