# Dubbo 2 with a peer that speaks it as Dubbo does (it is not in Debian): calls, exceptions, one-way calls, heartbeats and calls back, one
# at a time, and 16 at a time, answered out of order; as many of each as the client counted.
. tests/live/lib.inc
n=1000
for way in 1 16; do
	port=$((20000 + RANDOM % 10000))
	start python3 tests/live/dubbo_peer.py server $port
	server=$!
	for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
	obrec_start -q -p $server -e l4,l7 -o "$T/a.obz"
	python3 tests/live/dubbo_peer.py client $port $n $way >"$T/client" || fail "client"
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$way at a time: exit" $status 0
	is "$way at a time: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$way at a time: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" dubbo
	is "$way at a time: calls" "$(sql "$T/a.obz" "SELECT method, ifnull(nullif(target, ''), '-'), ifnull(nullif(status, ''), '-'), count(*) FROM message GROUP BY 1,2,3 ORDER BY 1,2,3" | tr ',' ' ')" "$(LC_ALL=C sort "$T/client")"
	is "$way at a time: unpaired" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE NOT paired")" $((n / 20 + 1))
	is "$way at a time: errors" "$(sql "$T/a.obz" "SELECT sum(is_error) FROM message")" $((n / 5))
	is "$way at a time: thrown" "$(sql "$T/a.obz" "SELECT json_extract(detail, '$.exception'), count(*) FROM message WHERE detail LIKE '%no luck%' GROUP BY 1")" "org.example.NoLuckException,$((n / 10))"
	kill $server
done
