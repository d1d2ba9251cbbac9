# 100,000 short connections within seconds, and 19,000 at once: every one is in the table with its calls and bytes, or counted as lost.
. tests/live/lib.inc
[ -x "$WORKLOAD/crowd" ] || skip "needs make workload"
command -v prlimit >/dev/null || skip "needs prlimit"
mkfifo "$T/go"; exec 8<>"$T/go"
start sleep 600; idle=$! # a target that does not end before obrec's memory was read

# crowd MODE N OBREC-ARG...: records its server (and its client, with -a's or without --no-inherit); pid in $peer, port in $port
crowd() {
	local mode=$1 n=$2; shift 2
	"$WORKLOAD/crowd" $mode $n <&8 >"$T/out" 2>"$T/err" &
	peer=$!; pids+=($peer)
	for _ in $(seq 100); do [ -s "$T/out" ] && break; sleep 0.05; done
	port=$(cut -d' ' -f1 "$T/out")
	obrec_start -p $peer,$idle -e l4,l7 --debuginfo none -o "$T/a.obz" "$@"
	echo >&8
	for _ in $(seq 600); do grep -q done "$T/out" && break; kill -0 $peer 2>/dev/null || break; sleep 0.1; done
	grep -q done "$T/out" || fail "the program: $(cat "$T/err")"
	memory=$(awk '/^VmHWM/ {print $2}' /proc/$obrec/status)
}
stop() { kill -INT $obrec 2>/dev/null || true; obrec_wait; is "exit" $status 0; tail -n 1 "$T/obrec.err"; }
counts() { sql "$T/a.obz" "SELECT count(*), sum(sends), sum(bytes_sent), sum(receives), sum(bytes_received) FROM connection WHERE transport = 'tcp' AND role = '$1' $2"; }
lost() { sql "$T/a.obz" "SELECT coalesce(sum(count), 0) FROM loss WHERE $1"; }

n=100000
crowd churn $n
stop
# The counts come from the table, whatever the rings lost; a socket that found no place there is a loss of the table.
is "table full" "$(lost "source = 'l4'")" 0
is "churn, server" "$(counts server "")" "$n,$n,$((n * 20)),$n,$((n * 10))"
is "churn, client" "$(counts client "")" "$n,$n,$((n * 10)),$n,$((n * 20))"
is "churn, closed" "$(sql "$T/a.obz" "SELECT count(*) FROM connection WHERE closed_ns IS NULL AND transport = 'tcp'")" 0
within "obrec's memory, KiB" "$memory" 1 260000

n=$(($(ulimit -Hn) < 19500 ? $(ulimit -Hn) - 500 : 19000))
crowd hold $n --no-inherit
stop
is "losses" "$(lost 1)" 0
is "held" "$(counts server "AND closed_ns IS NULL")" "$n,$n,$((n * 20)),$n,$((n * 10))"
within "obrec's memory, KiB" "$memory" 1 120000
echo >&8

