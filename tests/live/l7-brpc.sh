# baidu_std with a peer that speaks it as bRPC does (bRPC itself is not in Debian): calls, error codes, attachments. One at a time, where the
# heads of calls are enough; and 16 at a time, answered out of order, where many share a call and more of it must be kept.
. tests/live/lib.inc
n=1000
for way in head:1 16384:16; do
	port=$((20000 + RANDOM % 10000))
	start python3 tests/live/brpc_peer.py server $port
	server=$!
	for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
	obrec_start -q -p $server -e l4,l7 --payload ${way%:*} -o "$T/a.obz"
	python3 tests/live/brpc_peer.py client $port $n ${way#*:} || fail "client"
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$way: exit" $status 0
	is "$way: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$way: calls" "$(sql "$T/a.obz" "SELECT protocol, method, target, status, is_error, count(*), sum(paired) FROM message GROUP BY 1,2,3,4 ORDER BY 4" | tr '\n' ' ')" \
		"brpc,Echo,example.EchoService,1003,1,$((n / 10)),$((n / 10)) brpc,Echo,example.EchoService,OK,0,$((n * 9 / 10)),$((n * 9 / 10)) "
	is "$way: attachments" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE detail LIKE '%\"attachment\":300%'")" $((n / 7))
	kill $server
done
