# HTTP/2 and gRPC against real servers: what is reported is what the clients say they asked.
. tests/live/l7.inc
for c in nghttpd h2load; do command -v $c >/dev/null || skip "needs $c"; done
mkdir "$T/www"; echo hello >"$T/www/index.html"; head -c 3000 /dev/zero >"$T/www/page.html"

serve_nghttp() {
	free_port
	serve nghttpd --no-tls -d "$T/www" $port >/dev/null 2>&1
}
# loaded NAME OBREC-ARGS -- H2LOAD-ARGS: records the server under a load
loaded() {
	local name=$1 args=(); shift
	while [ "$1" != -- ]; do args+=("$1"); shift; done
	shift
	record "${args[@]}"
	timeout 60 h2load "$@" >"$T/$name.load"
	finish "$name"
	wanted=$(sed -n 's/.*requests: .* \([0-9]*\) succeeded.*/\1/p' "$T/$name.load")
}
counts() { q "SELECT protocol,method,target,status,count(*),sum(paired) FROM message GROUP BY 1,2,3,4 ORDER BY 1,2,3,4"; }

# One call, one request: heads are enough, whatever the body.
serve_nghttp
loaded single -- -n 4000 -c 4 -m 1 http://127.0.0.1:$port/page.html
is "one stream at a time" "$(counts)" "http2,GET,/page.html,200,$wanted,$wanted"
is "h2load" "$wanted" 4000

# Many streams share a call: more than its head is kept.
loaded many -- -n 20000 -c 4 -m 100 http://127.0.0.1:$port/index.html
is "100 streams at once" "$(counts)" "http2,GET,/index.html,200,$wanted,$wanted"
is "h2load" "$wanted" 20000
is "connections" "$(q "SELECT count(*),min(protocol),max(role) FROM connection WHERE protocol IS NOT NULL")" "4,http2,server"
loaded missing -- -n 1000 -c 2 -m 10 http://127.0.0.1:$port/no/such/17
is "errors" "$(q "SELECT method,target,status,count(*),sum(is_error) FROM message GROUP BY 1,2,3")" "GET,/no/such/{n},404,1000,1000"

# Joined in its middle: paired, though names are not known any more.
start timeout 100 h2load -D 90 -c 1 -m 1 http://127.0.0.1:$port/index.html >"$T/late.load"
load=$!
worked 5 $server
obrec_start -q -p $server -e l4,l7 --debuginfo none -o "$T/late.obz"
worked 20 $server
obrec_stop "joined late"; kill $load
within "joined late: messages" "$(sql "$T/late.obz" "SELECT count(*) FROM message WHERE protocol='http2'")" 200 10000000
within "joined late: not paired" "$(sql "$T/late.obz" "SELECT count(*) FROM message WHERE NOT paired")" 0 2
is "joined late: statuses" "$(sql "$T/late.obz" "SELECT DISTINCT protocol,method,status FROM message WHERE paired")" "http2,GET,200"

# gRPC
python=/usr/bin/python3
$python -c 'import grpc' 2>/dev/null || skip "the rest needs python3-grpcio"
free_port
serve $python tests/live/grpc_peer.py server $port >"$T/grpc.out"
record
timeout 60 $python tests/live/grpc_peer.py client $port 100 >"$T/grpc.client"
finish gRPC grpc
is "gRPC: calls by method and status" "$(q "SELECT method,status,count(*) FROM message WHERE protocol='grpc' AND paired GROUP BY 1,2 ORDER BY 1,2")" "$(cat "$T/grpc.client")"
is "gRPC: calls" "$(q "SELECT count(*),sum(paired),sum(is_error),min(target),max(target) FROM message")" "600,600,200,test.Things,test.Things"
is "gRPC: messages of streams" "$(q "SELECT method,min(json_extract(detail,'\$.request_messages')),max(json_extract(detail,'\$.request_messages')),min(json_extract(detail,'\$.response_messages')),max(json_extract(detail,'\$.response_messages')) FROM message WHERE method IN ('Put','List','Talk') GROUP BY 1 ORDER BY 1")" \
	"List,1,1,4,4
Put,3,3,1,1
Talk,5,5,5,5"
