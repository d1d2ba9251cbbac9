# TLS as programs use it: Python blocking and by asyncio (memory BIOs), a library loaded after the start, node (OpenSSL of its own, memory BIOs),
# haproxy between two TLS connections, GnuTLS, gRPC. Requests are told apart by their names, and counted at both ends.
. tests/live/l7.inc
python=/usr/bin/python3
for c in openssl $python; do command -v $c >/dev/null || skip "needs $c"; done
grep -q '^tls .*yes.*yes' "$T/list" || skip "no uprobes here"
free_port 6; base=$port
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=localhost \
	-addext subjectAltName=DNS:localhost 2>/dev/null
cat "$T/cert.pem" "$T/key.pem" >"$T/both.pem"
peer="$python tests/live/tls_peer.py"
listening() { await_port $1 $!; }
servers=
serve() { start "$@"; servers=$servers,$!; }

serve $peer serve $base "$T/cert.pem" "$T/key.pem"; listening $base
serve $peer aserve $((base + 1)) "$T/cert.pem" "$T/key.pem"; listening $((base + 1))
mkfifo "$T/late"
serve $peer late "$T/late" $base 10 late; late=$!
if command -v node >/dev/null; then
	cat >"$T/server.js" <<N
require('https').createServer({key: require('fs').readFileSync('$T/key.pem'), cert: require('fs').readFileSync('$T/cert.pem')},
	(q, s) => { s.end('ok'); }).listen($((base + 2)), '127.0.0.1');
N
	cat >"$T/client.js" <<N
const https = require('https'), agent = new https.Agent({keepAlive: true, maxSockets: 4});
let left = 40;
for (let i = 0; i < 40; i++)
	https.get({host: '127.0.0.1', port: $((base + 2)), path: '/node/' + i, agent, rejectUnauthorized: false},
		r => { r.resume(); r.on('end', () => { if (!--left) agent.destroy(); }); });
N
	serve node "$T/server.js"; listening $((base + 2))
fi
if command -v haproxy >/dev/null; then
	cat >"$T/haproxy.cfg" <<H
global
	ssl-server-verify none
defaults
	mode http
	timeout connect 5s
	timeout client 5s
	timeout server 5s
frontend f
	bind 127.0.0.1:$((base + 3)) ssl crt $T/both.pem
	default_backend b
backend b
	server s 127.0.0.1:$base ssl verify none
H
	serve haproxy -db -q -f "$T/haproxy.cfg"; listening $((base + 3))
fi
if command -v gnutls-serv >/dev/null; then
	serve gnutls-serv -q --http -p $((base + 4)) --x509certfile "$T/cert.pem" --x509keyfile "$T/key.pem" </dev/null >/dev/null 2>&1; listening $((base + 4))
fi
if $python -c 'import grpc' 2>/dev/null; then
	serve $python tests/live/grpc_peer.py server $((base + 5)) "$T/key.pem" "$T/cert.pem" >"$T/grpc.out"
	eventually "the server of gRPC" written "$T/grpc.out" ready
fi
# clients are children of a target, and start after the recording
mkfifo "$T/go"
cat >"$T/drive" <<D
read -r <"$T/go"
$peer get $base 20 blocking
$peer aget $((base + 1)) 10 aio
[ ! -e "$T/client.js" ] || node "$T/client.js"
[ ! -e "$T/haproxy.cfg" ] || $peer get $((base + 3)) 10 proxied
if command -v gnutls-cli >/dev/null; then
	for i in 1 2 3 4; do printf 'GET /gnutls/%s HTTP/1.0\r\n\r\n' \$i | gnutls-cli --insecure --logfile "$T/gnutls.log" -p $((base + 4)) localhost >/dev/null; done
fi
[ ! -e "$T/grpc.out" ] || $python tests/live/grpc_peer.py client $((base + 5)) 10 "$T/cert.pem" >"$T/grpc.client"
D
serve bash "$T/drive"; drive=$!
obrec_start -q -p "${servers#,}" -e l4,tls --debuginfo none -o "$T/a.obz"
echo >"$T/go"
echo >"$T/late"
wait $drive || fail "the clients failed"
wait $late || fail "the late client failed"
all_closed() { [ "$(served $base,$((base + 1)),$((base + 2)),$((base + 3)),$((base + 4)),$((base + 5)))" = 0 ]; }
eventually "the servers have closed what their clients closed" all_closed
obrec_stop
is "losses" "$(sql "$T/a.obz" "SELECT coalesce(group_concat(source || ': ' || cause || ' ' || count), 'none') FROM loss WHERE source <> 'side-band'")" none
seen() { # TAG: requests of that name by role: all, paired, connections that are not tls
	sql "$T/a.obz" "SELECT role, count(*), sum(paired), sum(NOT tls) FROM message m JOIN connection c ON c.id = connection_id
		WHERE target LIKE '/$1/%' GROUP BY 1 ORDER BY 1" | tr '\n' ' '
}
is "python, blocking" "$(seen blocking)" "client,20,20,0 server,20,20,0 "
is "python, asyncio" "$(seen aio)" "client,50,50,0 server,50,50,0 "
is "python, library loaded after the start" "$(seen late)" "client,10,10,0 server,10,10,0 "
[ ! -e "$T/client.js" ] || is "node" "$(seen node)" "client,40,40,0 server,40,40,0 "
[ ! -e "$T/haproxy.cfg" ] || is "haproxy, both sides" "$(seen proxied)" "client,20,20,0 server,20,20,0 "
! command -v gnutls-serv >/dev/null || is "GnuTLS" "$(seen gnutls)" "client,4,4,0 server,4,4,0 "
if [ -s "$T/grpc.client" ]; then
	for role in client server; do
		is "gRPC, $role: calls by method and status" "$(sql "$T/a.obz" "SELECT method, m.status, count(*) FROM message m JOIN connection c ON c.id = connection_id
			WHERE m.protocol = 'grpc' AND paired AND tls AND role = '$role' GROUP BY 1, 2 ORDER BY 1, 2")" "$(cat "$T/grpc.client")"
	done
fi
is "connections with messages and not tls" "$(sql "$T/a.obz" "SELECT count(*) FROM connection WHERE NOT tls AND id IN (SELECT connection_id FROM message)")" 0
is "protocols" "$(sql "$T/a.obz" "SELECT replace(group_concat(DISTINCT protocol), ',', '+') FROM (SELECT protocol FROM message ORDER BY 1)")" \
	"$([ -s "$T/grpc.client" ] && echo grpc+)http"
