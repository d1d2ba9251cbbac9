# Packet captures of HTTP/2, gRPC and Thrift, imported: message by message what tshark finds in them.
#
# What may differ, and why:
# - tshark shows paths as sent, obana without ids; those here have none.
# - Statuses of gRPC are numbers on the wire and there, names in obana.
# - A Thrift reply with a declared exception is a reply (type 2) there; obana shows which exception it was.
# - tshark knows neither Thrift's old encoding nor THeader, and takes compact calls without frames for something else behind the first:
#   left out here; l7-thrift.sh has them.
. "$TOP/tests/cli/tshark.inc" || exit 1
needs tshark tcpdump nghttpd h2load curl thrift python3

# frames FILE PORT: each block of headers as CLIENT-PORT,STREAM,name=value,... in the order of the wire
cat >"$T/frames.py" <<'P'
import sys, xml.etree.ElementTree as tree
port = sys.argv[1]
wanted = (':method', ':path', ':status', 'grpc-status', 'content-type')
for _, packet in tree.iterparse(sys.stdin.buffer):
    if packet.tag != 'packet':
        continue
    show = lambda name: packet.find(".//field[@name='%s']" % name).get('show')
    ports = [show('tcp.srcport'), show('tcp.dstport')] if packet.find("proto[@name='http2']") is not None else []
    for stream in packet.iterfind(".//field[@name='http2.stream']"):
        heads = []
        for h in stream.iterfind(".//field[@name='http2.header']"):
            name, value = (h.find("field[@name='http2.header.%s']" % w) for w in ('name', 'value'))
            if name is not None and value is not None and name.get('show') in wanted:
                heads.append(name.get('show') + '=' + value.get('show'))
        if heads:
            ports.remove(port) if port in ports else None
            print(','.join([ports[0], stream.find("field[@name='http2.streamid']").get('show')] + heads))
    packet.clear()
P
frames() { tshark -r "$1" -d tcp.port==$2,http2 -Y 'http2.headers || http2.header' -T pdml 2>/dev/null | python3 "$T/frames.py" $2; }
# exchanges KEY: CLIENT-PORT,METHOD,PATH,value of KEY in what answered, an exchange a row
exchanges() {
	awk -F, -v key="$1" '{id = $1 "," $2; for (i = 3; i <= NF; i++) {p = index($i, "="); v[id, substr($i, 1, p - 1)] = substr($i, p + 1)}
		if (!(id in seen)) {seen[id] = $1; order[n++] = id}}
		END {for (i = 0; i < n; i++) print seen[order[i]] "," v[order[i], ":method"] "," v[order[i], ":path"] "," v[order[i], key]}' | LC_ALL=C sort
}

# ---- HTTP/2: many streams at once, several statuses
free_port
mkdir "$T/www"; for w in one two three four five; do echo $w >"$T/www/$w.html"; done
start nghttpd --no-tls -d "$T/www" $port
wait_port $port
capture "$T/h2.pcap" $port
url=http://127.0.0.1:$port
h2load -n 500 -c 3 -m 20 $url/one.html $url/two.html $url/three.html $url/none.html >"$T/x"
for w in four.html nope; do curl -s --http2-prior-knowledge -o "$T/x" $url/$w; done
curl -s --http2-prior-knowledge -o "$T/x" -d some=thing $url/five.html
capture_end "$T/h2.pcap"
"$obana" import "$T/h2.pcap" -o "$T/h2.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
is "HTTP/2 exchanges" "$(sql "$T/h2.obz" "SELECT remote_port, method, target, status FROM message m JOIN connection c ON c.id = connection_id
	WHERE m.protocol = 'http2' AND paired" | LC_ALL=C sort)" "$(frames "$T/h2.pcap" $port | exchanges :status)"
is "HTTP/2: how many" "$(sql "$T/h2.obz" "SELECT count(*), sum(paired) FROM message")" 503,503

# ---- gRPC: unary, streams, errors
python=/usr/bin/python3
if $python -c 'import grpc' 2>/dev/null; then
	free_port
	start $python "$TOP/tests/live/grpc_peer.py" server $port
	wait_port $port
	capture "$T/grpc.pcap" $port
	$python "$TOP/tests/live/grpc_peer.py" client $port 20 >"$T/x" || exit 1
	capture_end "$T/grpc.pcap"
	"$obana" import "$T/grpc.pcap" -o "$T/grpc.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
	is "gRPC calls" "$(sql "$T/grpc.obz" "SELECT remote_port, 'POST', '/' || target || '/' || method, CASE status WHEN 'OK' THEN 0 WHEN 'NOT_FOUND' THEN 5 WHEN 'UNIMPLEMENTED' THEN 12 END AS code
		FROM message m JOIN connection c ON c.id = connection_id WHERE m.protocol = 'grpc'" | LC_ALL=C sort)" \
		"$(frames "$T/grpc.pcap" $port | exchanges grpc-status)"
	is "gRPC: how many" "$(sql "$T/grpc.obz" "SELECT count(*), sum(paired) FROM message")" 120,120
else echo "no python3-grpcio: left out"; fi

# ---- Thrift: calls in order, one-way ones, declared exceptions, failures
for p in python3 /usr/bin/python3; do ! $p -c 'import thrift' 2>/dev/null || python=$p; done
$python -c 'import thrift' 2>/dev/null || { echo "no python3-thrift: left out"; exit $bad; }
thrift --gen py -out "$T" "$TOP/tests/live/thrift_peer.thrift"
export PYTHONPATH=$T PYTHONWARNINGS=ignore
for way in framed:binary framed:compact buffered:binary; do
	free_port
	start $python "$TOP/tests/live/thrift_peer.py" server ${way%:*} ${way#*:} $port
	wait_port $port
	capture "$T/thrift.pcap" $port
	$python "$TOP/tests/live/thrift_peer.py" client ${way%:*} ${way#*:} $port 40 || exit 1
	capture_end "$T/thrift.pcap"
	"$obana" import "$T/thrift.pcap" -o "$T/thrift.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
	# Each call with the type of what follows it on the wire: a reply, an exception, or (one-way) the next call.
	tshark -r "$T/thrift.pcap" -d tcp.port==$port,thrift -Y thrift -T fields -E aggregator=' ' -e thrift.method -e thrift.mtype 2>/dev/null |
		awk -F'\t' '{n = split($1, m, " "); split($2, t, " "); for (i = 1; i <= n; i++) print m[i] "," substr(t[i], length(t[i]))}' |
		awk -F, '$2 == 1 || $2 == 4 {order[n++] = $1; type[n - 1] = $2; next} {for (i = 0; i < n; i++) if (order[i] == $1 && type[i] == 1) {type[i] = $2; break}}
			END {for (i = 0; i < n; i++) print order[i] "," type[i]}' >"$T/tshark"
	is "Thrift $way, calls in order" "$(sql "$T/thrift.obz" "SELECT method, CASE WHEN oneway THEN 4 WHEN status = 'OK' OR status LIKE 'EXCEPTION_%' THEN 2 ELSE 3 END AS type
		FROM message ORDER BY request_ns, id")" "$(cat "$T/tshark")"
	is "Thrift $way, how many" "$(sql "$T/thrift.obz" "SELECT count(*), sum(paired), sum(oneway) FROM message WHERE protocol = 'thrift'")" 72,68,4
done
exit $bad
