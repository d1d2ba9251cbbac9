# Two obrecs at once: each records as if it were alone, leaves itself out and sees the other like any process.
# alone: records the whole host
. tests/live/lib.inc
. tests/live/talk.inc
command -v python3 >/dev/null || skip "needs python3"
start "$WORKLOAD/demo" 3600 >/dev/null; demo=$!
start "$WORKLOAD/demo-fp" 3600 >/dev/null; other=$!
both() { # ARGS OF ONE -- ARGS OF THE OTHER
	local one=()
	while [ "$1" != -- ]; do one+=("$1"); shift; done
	shift
	obrec_start "${one[@]}" -o "$T/1.obz"; first=$obrec
	obrec_start "$@" -o "$T/2.obz"; second=$obrec
	worked 150 $demo; worked 50 $other
	obrec=$first; obrec_stop first
	worked 50 $demo; worked 50 $other; obrec=$second; obrec_stop second
}
cpu() { sql "$1" "SELECT total(value) * 100 / (SELECT duration_ns FROM capture) FROM sample JOIN thread ON thread.id=thread_id JOIN process ON process.id=process_id WHERE kind='cpu' AND pid=$2"; }
complete() { sql "$1" "SELECT 100.0*total((error='' OR error IS NULL)*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='cpu'"; }

both -p $demo -e cpu,offcpu,l4,l7 -- -p $demo -e cpu,offcpu,l4,l7
a=$(cpu "$T/1.obz" $demo) b=$(cpu "$T/2.obz" $demo)
within "same target: CPU seen by the second, of what the first saw" "$(awk -v a="$a" -v b="$b" 'BEGIN {print b / a}')" 0.5 2
for f in 1 2; do within "same target, $f: complete stacks, %" "$(complete "$T/$f.obz")" 98 100; done

both -p $demo -e cpu -- -p $other -e cpu
is "other target: processes in the first" "$(sql "$T/1.obz" "SELECT count(*) FROM process WHERE pid = $other")" 0
within "other target: samples of the second" "$(sql "$T/2.obz" "SELECT count(*) FROM sample")" 30 100000

both -a -e cpu,l4 -- -a -e cpu,l4
is "-a: the first in its own archive" "$(sql "$T/1.obz" "SELECT count(*) FROM process JOIN thread ON process_id=process.id JOIN sample ON thread_id=thread.id WHERE pid=$first")" 0
is "-a: the second in its own archive" "$(sql "$T/2.obz" "SELECT count(*) FROM process JOIN thread ON process_id=process.id JOIN sample ON thread_id=thread.id WHERE pid=$second")" 0
for f in 1 2; do within "-a, $f: demo's complete stacks, %" "$(complete "$T/$f.obz")" 50 100; done

# traffic: both count what was sent, to the call and the byte, and read every message
command -v redis-server >/dev/null || skip "needs redis"
port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
start redis-server --port $port --save '' --appendonly no --dir "$T" >/dev/null; redis=$!
eventually "redis answers" redis-cli -p $port ping
obrec_start -q -p $redis,$$ -e l4,l7 -o "$T/1.obz"; first=$obrec
obrec_start -q -p $redis -e cpu,l4,l7 -o "$T/2.obz"; second=$obrec
timeout 100 redis-benchmark -p $port -c 5 -n 3000 -t get,set -q >/dev/null
"$WORKLOAD/talk" 40 >"$T/account"
for obrec in $first $second; do kill -INT $obrec; obrec_wait; is "exit" $status 0; done
served="FROM connection JOIN process ON process.id = process_id WHERE pid = $redis"
for f in 1 2; do
	is "$f: lost, but for who sent the first datagrams" "$(sql "$T/$f.obz" "SELECT total(count) FROM loss WHERE source IN ('ring', 'l4', 'l7', 'probe') AND cause NOT LIKE 'datagram: sender%'")" 0.0
	is "$f: requests" "$(sql "$T/$f.obz" "SELECT count(*) FROM message WHERE method IN ('GET', 'SET') AND paired AND connection_id IN (SELECT connection.id $served)")" 6000
done
is "the server's connections, calls and bytes in both" "$(sql "$T/1.obz" "SELECT count(*), sum(sends), sum(receives), sum(bytes_sent), sum(bytes_received) $served")" \
	"$(sql "$T/2.obz" "SELECT count(*), sum(sends), sum(receives), sum(bytes_sent), sum(bytes_received) $served")"
talk_ends "$T/1.obz" "$T/account" is

# others come and go, with every probe, while one counts
obrec_start -q -p $redis -e l4,l7 -o "$T/1.obz"
first=$obrec
for _ in 1 2 3; do "$OBREC" -q -a -d 300ms -e cpu,offcpu,l4,l7,tls --debuginfo none -o "$T/2.obz" || echo "failed: $?"; done >"$T/others" & others=$!
until ! kill -0 $others 2>/dev/null; do
	timeout 100 redis-benchmark -p $port -c 5 -n 2000 -t get,set -q >/dev/null
	echo $((2 * 2000))
done >"$T/sent"
wait $others
is "others that failed" "$(cat "$T/others")" ""
obrec=$first; obrec_stop
is "beside others: lost" "$(sql "$T/1.obz" "SELECT total(count) FROM loss WHERE source IN ('ring', 'l4', 'l7', 'probe')")" 0.0
is "beside others: requests" "$(sql "$T/1.obz" "SELECT count(*) FROM message WHERE method IN ('GET', 'SET') AND paired")" "$(awk '{n += $1} END {print n}' "$T/sent")"
