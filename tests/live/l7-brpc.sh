# baidu_std with a peer that speaks it as bRPC does (bRPC itself is not in Debian): calls, error codes, attachments. One at a
# time, and 16 at a time, answered out of order, where many share a call.
. tests/live/lib.inc
n=1000
for way in 1 16; do
	port=$((20000 + RANDOM % 10000))
	start python3 tests/live/brpc_peer.py server $port
	server=$!
	for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
	obrec_start -q -p $server -e l4,l7 -o "$T/a.obz"
	python3 tests/live/brpc_peer.py client $port $n $way || fail "client"
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$way at a time: exit" $status 0
	is "$way at a time: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$way at a time: calls" "$(sql "$T/a.obz" "SELECT protocol, method, target, status, is_error, count(*), sum(paired) FROM message GROUP BY 1,2,3,4 ORDER BY 4" | tr '\n' ' ')" \
		"brpc,Echo,example.EchoService,1003,1,$((n / 10)),$((n / 10)) brpc,Echo,example.EchoService,OK,0,$((n * 9 / 10)),$((n * 9 / 10)) "
	is "$way at a time: attachments" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE detail LIKE '%\"attachment\":300%'")" $((n / 7))
	kill $server
done
