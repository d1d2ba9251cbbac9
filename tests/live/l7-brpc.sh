# baidu_std with a peer that speaks it as bRPC does (bRPC itself is not in Debian): calls, error codes, attachments. One at a
# time, and 16 at a time, answered out of order, where many share a call.
. tests/live/l7.inc
n=1000
for way in 1 16; do
	record_peer brpc $n $way
	is "$way at a time: calls" "$(rows "SELECT protocol, method, target, status, is_error, count(*), sum(paired) FROM message GROUP BY 1,2,3,4 ORDER BY 4")" \
		"brpc,Echo,example.EchoService,1003,1,$((n / 10)),$((n / 10)) brpc,Echo,example.EchoService,OK,0,$((n * 9 / 10)),$((n * 9 / 10)) "
	is "$way at a time: attachments" "$(q "SELECT count(*) FROM message WHERE detail LIKE '%\"attachment\":300%'")" $((n / 7))
	kill $server
done
