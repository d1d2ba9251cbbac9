# Archive bytes a sample on the demo workload, against perf record --call-graph dwarf of the same seconds
. scripts/bench.d/lib.inc
start "$WORKLOAD/demo" $((SECS * 2 + 60)); p=$!
sleep 1
head_row
"$OBREC" -q -d "${SECS}s" -F 99 -p $p --debuginfo none -o "$T/o.obz" &
o=$!
perf record -q -F 99 --call-graph dwarf -p $p -o "$T/perf.data" -- sleep "$SECS" >/dev/null 2>&1
wait $o
s=$(sql "$T/o.obz" "SELECT sum(count) FROM sample")
d=$(sql "$T/o.obz" "SELECT count(*) FROM stack")
oz=$(stat -c %s "$T/o.obz") pz=$(stat -c %s "$T/perf.data")
row "bytes a sample ($s samples, $d stacks)" "$(calc "$oz/$s" 1)" "$(calc "$pz/$s" 0)" "$(calc "$pz/$oz" 0)x" "<= 24, >= 300x"
