# Uploads of 100 MB amid small requests on the same connection: in chunks through haproxy, and by HTTP/2. As many bytes as both ends count,
# and every request paired.
. tests/live/l7.inc
for c in haproxy nghttpd node; do command -v $c >/dev/null || skip "needs $c"; done
free_port 3
start python3 -B tests/live/chunks_peer.py server $((port + 1)) >"$T/server"; server=$!
await_port $((port + 1)) $server
cat >"$T/haproxy.cfg" <<C
defaults
	mode http
	timeout connect 60s
	timeout client 60s
	timeout server 60s
listen one
	bind 127.0.0.1:$port
	server only 127.0.0.1:$((port + 1))
C
start haproxy -db -f "$T/haproxy.cfg" >"$T/log" 2>&1; proxy=$!
await_port $port $proxy
mkfifo "$T/go"
start bash -c "read -r <'$T/go'; exec python3 -B tests/live/chunks_peer.py client $port 3 5000 >'$T/client'"; client=$!
a=$T/a.obz
obrec_start -q -p $server,$proxy,$client -e l4,l7 --debuginfo none -o "$a"
echo >"$T/go"
wait $client || fail "client"
finish chunks http
# told FILE: what an end printed, as rows of the archive
told() { sort "$1" | uniq -c | awk '{print $2 "," $3 "," $4 "," $1}' | tr '\n' ' '; }
# seen ROLE PORT
seen() { rows "SELECT target, request_bytes, response_bytes, count(*) FROM message m JOIN connection c ON c.id = connection_id WHERE paired AND role = '$1' AND (local_port = $2 OR remote_port = $2) GROUP BY 1, 2, 3 ORDER BY 1"; }
is "sent in a request, MB" "$(awk '$1 == "/up" {print int($2 / 1e6)}' "$T/client" | sort -u)" 100
for role in client server; do
	is "$role, of haproxy: target, request's bytes, response's, count" "$(seen $role $port)" "$(told "$T/client")"
	is "$role, behind haproxy" "$(seen $role $((port + 1)))" "$(told "$T/server")"
done
is "not paired" "$(q "SELECT count(*) FROM message WHERE NOT paired")" 0

mkdir "$T/www"; echo small >"$T/www/small"
port=$((port + 2))
serve nghttpd --no-tls --echo-upload -d "$T/www" $port >"$T/log" 2>&1
record
cat >"$T/h2.js" <<'J'
const http2 = require("http2"), [port, size] = process.argv.slice(2).map(Number), session = http2.connect("http://127.0.0.1:" + port);
const ask = (method, path, body) => new Promise((done, fail) => {
	const stream = session.request({":method": method, ":path": path});
	let status, got = 0;
	stream.on("response", (h) => { status = h[":status"]; });
	stream.on("data", (d) => { got += d.length; });
	stream.on("end", () => { console.log(method, path, status, got); done(); });
	stream.on("error", fail);
	stream.end(body);
});
session.on("error", (e) => { console.log(e); process.exit(1); });
ask("GET", "/small").then(() => ask("POST", "/upload", Buffer.alloc(size, "x"))).then(() => ask("GET", "/small")).then(() => session.close());
J
timeout 120 node "$T/h2.js" $port 100000000 >"$T/said" || fail "node: $(cat "$T/said")"
finish http2
is "node says: status and bytes" "$(tr '\n' ' ' <"$T/said")" "GET /small 200 6 POST /upload 200 100000000 GET /small 200 6 "
is "requests" "$(q "SELECT method, target, status, count(*), sum(paired) FROM message GROUP BY 1, 2, 3 ORDER BY 1" | tr '\n' ' ')" "GET,/small,200,2,2 POST,/upload,200,1,1 "
for way in request response; do # with a frame's head of 9 bytes before each 16 KiB
	within "bytes of the upload's $way" "$(q "SELECT ${way}_bytes FROM message WHERE method = 'POST'")" 100000000 100200000
done
