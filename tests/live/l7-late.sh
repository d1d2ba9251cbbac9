# Connections older than the recording, under way when it begins: named by what they speak, their messages paired and whole.
# HTTP/2 is joined late in l7-http2.sh.
. tests/live/l7.inc
connected=64 # who asks is there before, with fewer

# joined PROTOCOL METHODS OPEN CLIENT...: records the server of $port while CLIENT asks it; requests under way when it ends may be without answer
joined() {
	local protocol=$1 methods=$2 open=$3 client
	shift 3
	start "$@" >"$T/client" 2>&1
	client=$!
	worked 10 $server
	record
	worked 20 $server
	obrec_stop "$protocol"
	kill $client $server 2>/dev/null || true
	is "$protocol: losses" "$(lost "$a")" 0
	is "$protocol: named" "$(q "SELECT group_concat(DISTINCT protocol) FROM connection WHERE local_port = $port AND receives > 0")" $protocol
	is "$protocol: opened before" "$(q "SELECT count(*) FROM connection WHERE local_port = $port AND receives > 0 AND opened_ns > (SELECT started_at_ns FROM capture)")" 0
	is "$protocol: methods" "$(rows "SELECT DISTINCT method FROM message WHERE paired ORDER BY 1")" "$methods "
	within "$protocol: messages" "$(q "SELECT count(*) FROM message")" 20 100000000
	within "$protocol: not paired" "$(q "SELECT count(*) FROM message WHERE NOT paired AND NOT oneway")" 0 $open
}

if command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null; then
	free_port; serve_redis
	joined redis GET 8 redis-benchmark -p $port -c 4 -n 1000000000 -t get -q
fi
if command -v nginx >/dev/null && command -v wrk >/dev/null; then
	free_port; serve_nginx "access_log off; server { listen 127.0.0.1:$port; location / { return 200 'hello'; } }"
	joined http GET 8 wrk -t1 -c4 -d 600s http://127.0.0.1:$port/some/page
fi
free_port; serve python3 -B tests/live/brpc_peer.py server $port
joined brpc Echo 32 python3 -B tests/live/brpc_peer.py client $port 100000000 16
command -v thrift >/dev/null && debian_python thrift || skip "the rest needs thrift-compiler and python3-thrift"
thrift --gen py -out "$T" tests/live/thrift_peer.thrift
export PYTHONPATH=$T
for way in framed:old buffered:binary buffered:compact header:header; do
	free_port; serve $py -W ignore tests/live/thrift_peer.py server ${way%:*} ${way#*:} $port
	joined thrift "get put" 2 $py -W ignore tests/live/thrift_peer.py client ${way%:*} ${way#*:} $port 100000000
done
