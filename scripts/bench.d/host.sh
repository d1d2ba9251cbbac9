# Probe host: CPU of its readings, in % of one CPU, beside that of vmstat 1; bytes archived a second
. scripts/bench.d/lib.inc

# cost ARG...: CPU of the readings in $share, archive bytes a second in $rate
cost() {
	rm -f "$T/h.obz"
	: >"$T/err"
	recording -v -o "$T/h.obz" "$@"
	sleep "$SECS"
	stopped
	share=$(sed -n 's/.*host: [0-9]* readings, \([0-9.]*\) ms.*/\1/p' "$T/err" | awk -v s="$SECS" '{printf "%.3f", $1 / s / 10}')
	rate=$(calc "$(stat -c %s "$T/h.obz") / $SECS" 0)
}

start sleep 1000
asleep=$!
start vmstat 1
peer=$!
from=$(per_thread_ns $peer)
sleep "$SECS"
peer_share=$(calc "($(per_thread_ns $peer) - $from) / 1e7 / $SECS" 3)
head_row
for target in "-p $asleep" -a; do
	cost $target -e signal
	bare=$rate
	cost $target -e signal,host
	row "host ${target%% *}, % of a CPU" "$share" "$peer_share" - "<= 0.1"
	row "host ${target%% *}, bytes a second" "$(calc "$rate - $bare" 0)"
done
