# The smallest rings, and obrec stopped for a while under load, so that they overflow: losses are counted by cause, byte counts stay exact,
# and what is paired belongs together.
# alone: needs all of the machine
. tests/live/l7.inc
[ -x "$WORKLOAD/storm" ] || skip "needs make workload"

# stall: obrec does not run for 200 ms, three times
stall() { for _ in 1 2 3; do sleep 0.2; kill -STOP $obrec; sleep 0.2; kill -CONT $obrec; done; }

# HTTP whose answers tell which request they are for. Pipelined, each message in a call of its own.
mkfifo "$T/go"; exec 8<>"$T/go"
a=$T/http.obz
for depth in 1 16; do
	"$WORKLOAD/storm" 1.5 4 $depth <&8 >"$T/out" 2>"$T/err" &
	peer=$!; pids+=($peer)
	obrec_start -p $peer -e l4,l7 --ring-size 64K --debuginfo none -o "$a"
	echo >&8
	stall
	wait $peer || fail "the program: $(cat "$T/err")"
	obrec_stop
	read -r requests sent received <"$T/out"
	tail -n 1 "$T/obrec.err"
	within "depth $depth: payload lost" "$(lost "$a" "source = 'ring' AND cause LIKE 'payload:%'")" 1 $((requests * 8))
	grep -q 'LOST [1-9].*payload: ring buffer full' "$T/obrec.err" || fail "obrec does not say what was lost"
	is "depth $depth: bytes of the client" "$(sql "$a" "SELECT sum(bytes_sent), sum(bytes_received) FROM connection WHERE role = 'client'")" "$sent,$received"
	is "depth $depth: bytes of the server" "$(sql "$a" "SELECT sum(bytes_sent), sum(bytes_received) FROM connection WHERE role = 'server'")" "$received,$sent"
	is "depth $depth: calls of the client" "$(sql "$a" "SELECT sum(sends) FROM connection WHERE role = 'client'")" $requests
	paired=$(sql "$a" "SELECT count(*) FROM message WHERE paired")
	within "depth $depth: pairs found of $((2 * requests))" "$paired" 100 $((2 * requests - 1))
	is "depth $depth: wrong pairs" "$(sql "$a" "SELECT count(*) FROM message WHERE paired AND status <> 200 + CAST(json_extract(detail, '\$.host') AS INTEGER) % 97")" 0
	is "depth $depth: a request twice" "$(sql "$a" "SELECT count(*) FROM (SELECT 1 FROM message JOIN connection c ON c.id = connection_id WHERE paired GROUP BY role, json_extract(detail, '\$.host') HAVING count(*) > 1)")" 0
	is "depth $depth: records written over" "$(lost "$a" "cause = 'record not understood'")" 0
	is "depth $depth: negative latencies" "$(sql "$a" "SELECT count(*) FROM message WHERE latency_ns < 0")" 0
done

# redis counts its bytes itself
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || { echo "no redis: left out"; exit 0; }
free_port
serve_redis
info() { redis-cli -p $port info stats | tr -d '\r' | awk -F: -v n="$1" '$1 == n {print $2}'; }
a=$T/redis.obz
obrec_start -p $server -e l4,l7 --ring-size 64K --debuginfo none -o "$a"
before=$(info total_net_input_bytes)
redis-benchmark -p $port -c 20 -n 60000 -P 4 -t set,get -q >/dev/null &
load=$!; stall; wait $load || fail "redis-benchmark"
obrec_stop
after=$(info total_net_input_bytes)
within "redis: lost" "$(lost "$a" "source = 'ring'")" 1 1000000
# Between the two questions: all of the load, and the questions, which are some 26 bytes each.
within "redis: bytes received, of $((after - before)) or so" "$(sql "$a" "SELECT sum(bytes_received) FROM connection WHERE local_port = $port")" $((after - before - 60)) $((after - before + 60))
within "redis: requests" "$(sql "$a" "SELECT count(*) FROM message WHERE method IN ('SET', 'GET')")" 1 119999
is "redis: neither" "$(sql "$a" "SELECT count(*) FROM message WHERE protocol <> 'redis'")" 0
