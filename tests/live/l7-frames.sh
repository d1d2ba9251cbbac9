# HTTP/2 whose calls carry more than is kept of them: every frame is seen all the same, so that bytes are what the peers say they are, latencies
# reach to the last byte, and secrets further on in a call are masked.
. tests/live/l7.inc
for c in nghttpd h2load openssl; do command -v $c >/dev/null || skip "needs $c"; done
mkdir "$T/www"; head -c 1000000 /dev/urandom >"$T/www/large.bin"

# What a server says to a connection as such: its SETTINGS and an acknowledgement of the client's.
own=24
# said: what h2load counted of responses, and how much less is in the archive
said() { echo $(($(sed -n 's/^traffic: .* (\([0-9]*\)) total.*/\1/p' "$T/load") - $(q "SELECT sum(response_bytes) FROM message"))); }
messages() { q "SELECT count(*),sum(paired),sum(method = 'GET' AND target = '/large.bin' AND status = '200'),sum(detail LIKE '%at least%') FROM message"; }

free_port
serve nghttpd --no-tls -d "$T/www" $port >/dev/null 2>&1
# Gigabytes a second between two that leave obrec no CPU: the largest rings hold what comes until it has one.
record --ring-size 64M
timeout 120 h2load -n 300 -c 3 -m 100 --log-file="$T/log" http://127.0.0.1:$port/large.bin >"$T/load"
finish "large bodies" http2
is "large bodies" "$(messages)" 300,300,300,0
is "not in responses" "$(said)" $((3 * own))
is "bytes of bodies at least" "$(q "SELECT sum(response_bytes >= 1000000 + 9 * 61) FROM message")" 300
is "not kept" "$(q "SELECT count(*) FROM unkept")" 0
# Of each request its client saw the end a little later than the server; most of the time all wait for the bytes of others.
within "latencies, % of what the client says" "$(q "SELECT sum(latency_ns) / 10.0 / $(awk '{n += $3} END {print n}' "$T/log") FROM message")" 33 100

# The client's reads begin and end anywhere in frames.
"$OBREC" -q -e l4,l7 --ring-size 64M --debuginfo none -o "$a" -- h2load -n 50 -c 2 -m 25 http://127.0.0.1:$port/large.bin >"$T/load"
is "as read" "$(messages)" 50,50,50,0
is "as read: not in responses" "$(said)" $((2 * own))
is "as read: losses" "$(lost "$a")" 0

# Clear text of TLS comes in larger pieces than its records.
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 3650 -subj /CN=localhost 2>/dev/null
free_port
serve nghttpd -d "$T/www" $port "$T/key.pem" "$T/cert.pem" >/dev/null 2>&1
record -e l4,l7,tls --ring-size 64M
timeout 120 h2load -n 100 -c 2 -m 50 https://127.0.0.1:$port/large.bin >"$T/load"
finish "large bodies in TLS" http2
is "TLS" "$(messages)" 100,100,100,0
is "TLS: not in responses" "$(said)" $((2 * own))

# A secret behind 24 KB of body, all in one call: the block is kept, the secret is not. Literals without Huffman coding (RFC 7541 6.2.2).
cat >"$T/client.py" <<'P'
import socket, sys


def frame(kind, flags, stream, body):
    return len(body).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + body


def literal(name, value):
    return b"\0" + bytes([len(name)]) + name + bytes([len(value)]) + value


def block(method, *fields):
    return bytes([method, 0x86, 0x84]) + literal(b"host", b"a") + b"".join(literal(*f) for f in fields)


s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0, b"") + frame(1, 4, 1, block(0x83)) + frame(0, 0, 1, b"b" * 12000) + frame(0, 1, 1, b"b" * 12000) +
          frame(1, 5, 3, block(0x82, (b"user-agent", b"visible-behind-bodies"), (b"authorization", b"Bearer secret-behind-bodies"), (b"cookie", b"c" * 60 + b"secret-cookie"))))
f, ended = s.makefile("rb"), 0
while ended < 2:
    head = f.read(9)
    f.read(int.from_bytes(head[:3], "big"))
    ended += head[3] < 2 and head[4] & 1
P
free_port
serve nghttpd --no-tls -d "$T/www" $port >/dev/null 2>&1
for how in "" --no-redact; do
	"$OBREC" -q -e l4,l7 $how --debuginfo none -o "$a" -- python3 "$T/client.py" $port
	raw "$a" >"$T/all"
	is "kept ${how:-masked}" "$(grep -ac visible-behind-bodies "$T/all")" 1
	is "secrets ${how:-masked}" "$(grep -aoE 'secret-(behind-bodies|cookie)' "$T/all" | wc -l)" $([ -n "$how" ] && echo 2 || echo 0)
	is "requests ${how:-masked}" "$(rows "SELECT method,request_bytes > 24000,json_extract(detail, '\$.user_agent') FROM message ORDER BY request_bytes DESC")" "POST,1, GET,0,visible-behind-bodies "
done

# gRPC
python=/usr/bin/python3
$python -c 'import grpc' 2>/dev/null || skip "the rest needs python3-grpcio"
free_port
serve $python tests/live/grpc_peer.py server $port >"$T/grpc.out"
record
is "gRPC: bytes that its client got" "$(timeout 120 $python tests/live/grpc_peer.py load $port 100 1000000)" 100000000
finish gRPC grpc
is "gRPC" "$(q "SELECT method,status,count(*),sum(paired),sum(detail LIKE '%at least%') FROM message GROUP BY 1,2")" Load,OK,100,100,0
# With five bytes before each message, nine before each frame of 16 KiB, and two header blocks.
within "gRPC: bytes of the smallest response" "$(q "SELECT min(response_bytes) FROM message")" 1000005 1001000
within "gRPC: and of the largest" "$(q "SELECT max(response_bytes) FROM message")" 1000005 1001000
