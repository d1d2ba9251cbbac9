# obrec's place among those it records: before them where a new program's stacks depend on it, behind them where only traffic is taken, until
# there is too much of that. A place it was given on purpose it keeps.
. tests/live/lib.inc
[ -x "$WORKLOAD/storm" ] || skip "needs make workload"

place() { awk '{print $19}' /proc/$obrec/stat; } # its first thread's nice value: the name holds no spaces
takes() { [ "$(place)" = "$1" ]; }

obrec_start -p $$ -e cpu -o "$T/cpu.obz"
is "place with stacks" "$(place)" -10
obrec_stop

mkfifo "$T/go"; exec 8<>"$T/go"
"$WORKLOAD/storm" 3 4 16 <&8 >"$T/out" 2>"$T/err" &
peer=$!; pids+=($peer)
obrec_start -p $peer -e l4,l7 --ring-size 64K --debuginfo none -o "$T/traffic.obz"
eventually "it gives way where only traffic is taken" takes 10
echo >&8
eventually "it does not when a ring runs full" takes -10
wait $peer || fail "the program: $(cat "$T/err")"
OBREC="nice -n 5 $OBREC" obrec_start -p $$ -e l4,l7 -o "$T/given.obz"
sleep 0.3
is "place that was given" "$(place)" 5
obrec_stop
