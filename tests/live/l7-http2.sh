# HTTP/2 and gRPC against real servers: what is reported is what the clients say they asked.
. tests/live/lib.inc
for c in nghttpd h2load; do command -v $c >/dev/null || skip "needs $c"; done
mkdir "$T/www"; echo hello >"$T/www/index.html"; head -c 3000 /dev/zero >"$T/www/page.html"
port=21080

serve_nghttp() {
	port=$((port + 1))
	start nghttpd --no-tls -d "$T/www" $port >/dev/null 2>&1
	server=$!
	for _ in $(seq 100); do nghttp -n http://127.0.0.1:$port/ >/dev/null 2>&1 && return; sleep 0.05; done
	fail "nghttpd does not answer"
}
lost() { sql "$1" "SELECT coalesce(sum(count),0) FROM loss"; }
# loaded NAME OBREC-ARGS -- H2LOAD-ARGS: records the server under a load, the archive is $T/NAME.obz
loaded() {
	local name=$1 args=(); shift
	while [ "$1" != -- ]; do args+=("$1"); shift; done
	shift
	obrec_start -q -p $server -e l4,l7 --debuginfo none "${args[@]}" -o "$T/$name.obz"
	timeout 60 h2load "$@" >"$T/$name.load"
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$name: exit" $status 0
	wanted=$(sed -n 's/.*requests: .* \([0-9]*\) succeeded.*/\1/p' "$T/$name.load")
}
counts() { sql "$1" "SELECT protocol,method,target,status,count(*),sum(paired) FROM message GROUP BY 1,2,3,4 ORDER BY 1,2,3,4"; }

# One call, one request: heads are enough, whatever the body.
serve_nghttp
loaded single -- -n 4000 -c 4 -m 1 http://127.0.0.1:$port/page.html
is "one stream at a time: events lost" "$(lost "$T/single.obz")" 0
is "one stream at a time" "$(counts "$T/single.obz")" "http2,GET,/page.html,200,$wanted,$wanted"
is "h2load" "$wanted" 4000

# Many streams share a call: more than its head is kept.
loaded many -- -n 20000 -c 4 -m 100 http://127.0.0.1:$port/index.html
is "100 streams at once: events lost" "$(lost "$T/many.obz")" 0
is "100 streams at once" "$(counts "$T/many.obz")" "http2,GET,/index.html,200,$wanted,$wanted"
is "h2load" "$wanted" 20000
is "connections" "$(sql "$T/many.obz" "SELECT count(*),min(protocol),max(role) FROM connection WHERE protocol IS NOT NULL")" "4,http2,server"
loaded missing -- -n 1000 -c 2 -m 10 http://127.0.0.1:$port/no/such/17
is "errors" "$(sql "$T/missing.obz" "SELECT method,target,status,count(*),sum(is_error) FROM message GROUP BY 1,2,3")" "GET,/no/such/{n},404,1000,1000"

# Joined in its middle: paired, though names are not known any more.
timeout 60 h2load -D 3 -c 1 -m 1 http://127.0.0.1:$port/index.html >"$T/late.load" &
load=$!; sleep 0.7
"$OBREC" -q -d 1s -p $server -e l4,l7 --debuginfo none -o "$T/late.obz"
wait $load
within "joined late: messages" "$(sql "$T/late.obz" "SELECT count(*) FROM message WHERE protocol='http2'")" 200 10000000
within "joined late: not paired" "$(sql "$T/late.obz" "SELECT count(*) FROM message WHERE NOT paired")" 0 2
is "joined late: statuses" "$(sql "$T/late.obz" "SELECT DISTINCT protocol,method,status FROM message WHERE paired")" "http2,GET,200"

# gRPC
python=/usr/bin/python3
$python -c 'import grpc' 2>/dev/null || skip "the rest needs python3-grpcio"
port=$((port + 1))
start $python tests/live/grpc_peer.py server $port >"$T/grpc.out"
server=$!
for _ in $(seq 200); do grep -q ready "$T/grpc.out" && break; sleep 0.05; done
obrec_start -q -p $server -e l4,l7 --debuginfo none -o "$T/grpc.obz"
timeout 60 $python tests/live/grpc_peer.py client $port 100 >"$T/grpc.client"
sleep 0.3; kill -INT $obrec; obrec_wait
is "gRPC: events lost" "$(lost "$T/grpc.obz")" 0
is "gRPC: calls by method and status" "$(sql "$T/grpc.obz" "SELECT method,status,count(*) FROM message WHERE protocol='grpc' AND paired GROUP BY 1,2 ORDER BY 1,2")" "$(cat "$T/grpc.client")"
is "gRPC: calls" "$(sql "$T/grpc.obz" "SELECT count(*),sum(paired),sum(is_error),min(target),max(target) FROM message")" "600,600,200,test.Things,test.Things"
is "gRPC: messages of streams" "$(sql "$T/grpc.obz" "SELECT method,min(json_extract(detail,'\$.request_messages')),max(json_extract(detail,'\$.request_messages')),min(json_extract(detail,'\$.response_messages')),max(json_extract(detail,'\$.response_messages')) FROM message WHERE method IN ('Put','List','Talk') GROUP BY 1 ORDER BY 1")" \
	"List,1,1,4,4
Put,3,3,1,1
Talk,5,5,5,5"
