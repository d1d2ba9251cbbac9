# The wall clock is set back by years and forward again while traffic is recorded (in a guest, where that harms nobody): latencies and
# durations are those of the monotonic clock, and every message lies within the capture's span.
set -euo pipefail
OBANA=$PWD/${B:-build}/obana
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
skip() { echo "$*"; exit 77; }
is() { [ "$2" = "$3" ] || { echo "FAILED: $1: got '$2', expected '$3'"; exit 1; }; echo "ok: $1 = $2"; }
sql() { "$OBANA" query "$T/out/a.obz" "$1" --csv | tail -n +2; }
for f in static/obrec workload/storm; do [ -x "${B:-build}/$f" ] || skip "needs make static workload"; done
dir=$(scripts/kernels 6.12) || { rc=$?; echo "$dir"; exit $rc; }
cat >"$T/guest" <<'G'
mkfifo /tmp/go
obrec -q -e l4,l7 --debuginfo none -o /out/a.obz -- storm 3 2 1 </tmp/go >/out/truth 2>/out/err &
pid=$!
exec 8>/tmp/go
echo >&8
sleep 1; date -s @1000000000 >/out/set; sleep 1; date -s @2000000000 >>/out/set
wait $pid
echo $? >/out/rc
G
rc=0
scripts/vm -t "${VM_TIMEOUT:-120}" -o "$T/out" -f "${B:-build}/static/obrec" -f "${B:-build}/workload/storm" -f "$T/guest:/w/guest" "$dir" -- sh guest >"$T/vm" 2>&1 || rc=$?
[ $rc != 77 ] || { cat "$T/vm"; exit 77; }
[ $rc = 0 ] || { cat "$T/vm"; echo "FAILED: the guest ended with $rc"; exit 1; }
is "exit" "$(cat "$T/out/rc")" 0
is "steps of the clock" "$(wc -l <"$T/out/set")" 2
read -r requests sent received <"$T/out/truth"
is "losses" "$(sql "SELECT coalesce(sum(count), 0) FROM loss")" 0
is "messages of both ends" "$(sql "SELECT count(*), sum(paired) FROM message")" "$((2 * requests)),$((2 * requests))"
is "negative latencies" "$(sql "SELECT count(*) FROM message WHERE latency_ns < 0 OR response_ns < request_ns")" 0
is "latencies of minutes" "$(sql "SELECT count(*) FROM message WHERE latency_ns > 60e9")" 0
# The span begins with the header; the duration is counted from when all probes were attached, seconds later where everything is emulated.
is "messages years from the capture's start" "$(sql "SELECT count(*) FROM message, capture WHERE request_ns < started_at_ns OR response_ns > started_at_ns + duration_ns + 60e9")" 0
is "a duration of seconds" "$(sql "SELECT duration_ns BETWEEN 2e9 AND 100e9 FROM capture")" 1
is "connections closed before they were opened" "$(sql "SELECT count(*) FROM connection WHERE closed_ns < opened_ns")" 0
