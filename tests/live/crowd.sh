# 100,000 short connections within seconds, and 100,000 at once: every one is in the table with its calls, bytes and messages, in bounded
# memory; of more sockets than the table has room for, the others are counted.
# alone: needs all of the machine
. tests/live/lib.inc
[ -x "$WORKLOAD/crowd" ] || skip "needs make workload"
mkfifo "$T/go"; exec 8<>"$T/go"
start sleep 600; idle=$! # a target that does not end before obrec's memory was read
a=$T/a.obz
n=100000

through() { grep -q "done" "$T/out" || ! kill -0 $peer; }
# crowd MODE SIDES OBREC-ARG...: records its `servers`, or `both` sides, until all were answered; obrec's KiB in $memory
crowd() {
	local mode=$1 sides=$2 servers; shift 2
	rm -f "$T/out"
	"$WORKLOAD/crowd" $mode $n <&8 >"$T/out" 2>"$T/err" &
	peer=$!; pids+=($peer)
	eventually "its servers" grep -q . "$T/out"
	servers=$(head -n 1 "$T/out")
	[ $sides = servers ] || servers+=,$peer # those who ask are its children to come
	obrec_start -p $servers,$idle -e l4,l7 --debuginfo none -o "$a" "$@"
	echo >&8
	eventually "all answered" through
	grep -q "done" "$T/out" || fail "the program: $(cat "$T/err")"
}
memory() { awk '/^VmHWM/ {print $2}' /proc/$obrec/status; }
connections() { sql "$a" "SELECT count(*), sum(closed_ns IS NULL), sum(sends), sum(bytes_sent), sum(receives), sum(bytes_received) FROM connection WHERE transport = 'tcp' AND role = '$1'"; }
messages() { sql "$a" "SELECT role, method, count(*), sum(paired), count(DISTINCT connection_id) FROM message JOIN connection c ON c.id = connection_id GROUP BY 1, 2"; }

# The counts come from the table, whatever the rings lost; a socket that found no place there is a loss of the table.
crowd churn both
wait $peer || fail "the program"
obrec_stop "churn"
is "churn: table full" "$(lost "$a" "source = 'l4'")" 0
is "churn: server" "$(connections server)" "$n,0,$n,$((n * 7)),$n,$((n * 14))"
is "churn: client" "$(connections client)" "$n,0,$n,$((n * 14)),$n,$((n * 7))"

crowd hold servers --max-mem 192M
within "hold: obrec's memory, KiB" "$(memory)" 1 102400
echo >&8
wait $peer || fail "the program"
obrec_stop "hold"
is "hold: stopped by" "$(sql "$a" "SELECT stop_reason FROM capture")" interrupt
is "hold: losses" "$(lost "$a")" 0
is "hold: connections" "$(connections server)" "$n,0,$((3 * n)),$((n * 21)),$((3 * n)),$((n * 42))"
is "hold: messages" "$(messages)" "server,PING,$((3 * n)),$((3 * n)),$n"

# Twice as many sockets as connections, which is more than 131,072. Of each that found no room, every call is counted, and that it was opened.
crowd hold both
obrec_stop "too many"
room=131072
is "too many: in the table, each with all of its calls" "$(sql "$a" "SELECT count(*) FROM connection WHERE transport = 'tcp' AND (sends, bytes_sent, receives, bytes_received)
	IN (VALUES (3, 42, 3, 21), (3, 21, 3, 42)) AND closed_ns IS NULL")" $room
is "too many: and no other" "$(sql "$a" "SELECT count(*) FROM connection WHERE transport = 'tcp'")" $room
within "too many: table full" "$(lost "$a" "source = 'l4'")" $((6 * (2 * n - room))) $((7 * (2 * n - room)))
grep -q 'l4: socket table full' "$T/obrec.err" || fail "obrec does not say that sockets were left out"
echo >&8
wait $peer || fail "the program"

# What two processes move on idle sockets stays told apart, of more than the 4,096 that obrec once remembered. Polls go on.
shared=9000
n=$shared crowd share servers
sleep 3
obrec_stop "share"
sides() { sql "$a" "SELECT count(*), sum(sends), sum(bytes_sent) FROM connection WHERE transport = 'unix' AND sends > 0 AND shares_id $1"; }
is "share: losses" "$(lost "$a")" 0
is "share: the owner's" "$(sides "IS NULL")" $shared,$shared,$((shared * 14))
is "share: the other's" "$(sides "IS NOT NULL")" $shared,$shared,$((shared * 14))
echo >&8
