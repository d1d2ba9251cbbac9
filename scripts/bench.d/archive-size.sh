# Archive bytes per sample on the demo workload, 60 s at 99 Hz, against perf record --call-graph dwarf at the same time
. scripts/bench.d/lib.inc
SECS=${BENCH_SECONDS:-60}
start "$WORKLOAD/demo" $((SECS + 60)); p=$!
sleep 1
head_row
"$OBREC" -q -e cpu -d "${SECS}s" -F 99 -p $p --debuginfo none -o "$T/o.obz" &
o=$!
perf record -q -F 99 --call-graph dwarf -p $p -o "$T/perf.data" -- sleep "$SECS" >/dev/null 2>&1
wait $o
s=$(sql "$T/o.obz" "SELECT sum(count) FROM sample")
d=$(sql "$T/o.obz" "SELECT count(*) FROM stack")
ps=$(perf script -i "$T/perf.data" -F tid --no-inline 2>/dev/null | grep -c '^ *[0-9]' || true)
oz=$(stat -c %s "$T/o.obz") pz=$(stat -c %s "$T/perf.data")
row "samples ($d distinct stacks)" "$s" "$ps"
row "bytes a sample" "$(calc "$oz/$s" 1)" "$(calc "$pz/$ps" 0)" "$(calc "$pz/$ps/($oz/$s)" 0)x" "<= 24, >= 300x"
