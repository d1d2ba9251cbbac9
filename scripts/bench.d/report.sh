# obana report --flamegraph: time against perf script and perf report for the same period and for 100,000 samples, and memory
. scripts/bench.d/lib.inc
make -s build/tests/bench/synthetic
head_row

start "$WORKLOAD/demo" $((SECS * 2 + 60)); p=$!
sleep 1
"$OBREC" -q -d "${SECS}s" -F 999 -p $p -o "$T/o.obz" &
o=$!
perf record -q -F 999 --call-graph dwarf -p $p -o "$T/perf.data" -- sleep "$SECS" >/dev/null 2>&1
wait $o
kill $p
measured "$OBANA" report "$T/o.obz" --flamegraph="$T/cold.svg"; cold=$wall
measured "$OBANA" report "$T/o.obz" --flamegraph="$T/warm.svg"; warm=$wall
measured timeout 600 perf script -i "$T/perf.data"; script=$wall
measured timeout 600 perf report --stdio -i "$T/perf.data"; report=$wall
s=$(sql "SELECT sum(count) FROM sample" "$T/o.obz")
row "report --flamegraph, $s samples, first time, s" "$cold" "$script" "$(calc "$script/$cold" 0)x" ">= 10x perf script"
row "the same against perf report --stdio, s" "$cold" "$report" "$(calc "$report/$cold" 0)x" ">= 10x"
row "the same again, symbols cached, s" "$warm" "$script" "$(calc "$script/$warm" 0)x"

# 100,000 samples over 10,000 distinct stacks of 36 frames in a program with DWARF
addresses() { nm "$1" | awk 'NF == 3 && $2 ~ /^[TtWw]$/ { print $1 }'; }
synthetic() { addresses "$OBREC" | build/tests/bench/synthetic "$T/s.obz" "$@" 36 0123456789abcdef0123456789abcdef01234567 "$OBREC"; }
synthetic 100000 10000
measured "$OBANA" report "$T/s.obz" --flamegraph="$T/s.svg"
measured "$OBANA" report "$T/s.obz" --flamegraph="$T/s.svg"
row "100,000 samples, 10,000 stacks, cached, s" "$wall" - - "<= 1 s"
measured "$OBANA" export sqlite "$T/s.obz" -o "$T/s.sqlite"
row "the same into SQLite, all tables, s" "$wall"

# growth with the size of the archive
synthetic 10000000 1000000
size=$(stat -c %s "$T/s.obz")
measured "$OBANA" report "$T/s.obz" --flamegraph="$T/s.svg"
row "10 M samples, 1 M stacks, $((size >> 20)) MiB: report, s" "$wall"
row "its memory, MiB" "$((rss >> 10))" - - "< 512"
measured "$OBANA" query "SELECT kind, sum(count) FROM sample GROUP BY kind" "$T/s.obz"
row "all its rows in a query, s" "$wall"
row "its memory, MiB" "$((rss >> 10))" - - "< 512"
