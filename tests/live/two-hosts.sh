# Two hosts (namespaces with a network of 15 ms each way between them), an archive each: one edge for a connection, network and
# server told apart, the clocks' offset found, also when a clock is 3.5 s off; DNS and v4-mapped addresses as well. Then the same of TLS.
. tests/live/lib.inc
for c in ip unshare python3; do command -v $c >/dev/null || skip "needs $c"; done
[ -c /dev/net/tun ] || skip "needs /dev/net/tun"
a=obrec-a-$$ b=obrec-b-$$
ip netns add $a 2>/dev/null || skip "no network namespaces here"
ip netns add $b
trap 'cleanup; ip netns del $a; ip netns del $b' EXIT
start python3 tests/tools/delaynet.py 15 $a/10.99.0.1 $b/10.99.0.2 >"$T/up"; net=$!
up() { written "$T/up" || ! kill -0 $net; }
eventually "the network" up
written "$T/up" || skip "no TUN device here"

cat >"$T/server.py" <<'P'
# HTTP that takes 25 ms, on a v6 socket (peers are v4-mapped); DNS that takes 10 ms
import socket, struct, sys, threading, time
def http(s):
    f = s.makefile("rb")
    while f.readline():
        while f.readline() not in (b"\r\n", b""): pass
        time.sleep(0.025)
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
def dns(u):
    while True:
        q, peer = u.recvfrom(512)
        time.sleep(0.010)
        u.sendto(q[:2] + b"\x81\x80" + q[4:], peer)
l = socket.create_server(("::", 8000), family=socket.AF_INET6, dualstack_ipv6=True)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.bind(("10.99.0.2", 53))
threading.Thread(target=dns, args=(u,), daemon=True).start()
print("ready", flush=True)
while True:
    threading.Thread(target=http, args=(l.accept()[0],), daemon=True).start()
P
cat >"$T/client.py" <<'P'
import socket, struct, sys, time
s = socket.create_connection(("10.99.0.2", 8000))
f = s.makefile("rb")
for i in range(20):
    s.sendall(b"GET /item/%d HTTP/1.1\r\nHost: b\r\n\r\n" % i)
    for line in iter(f.readline, b"\r\n"): pass
    f.read(2)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(("10.99.0.2", 53))
for i in range(10):
    u.send(struct.pack(">HHHHHH", i, 256, 1, 0, 0, 0) + b"\x04host\x04test\0\0\1\0\1")
    u.recv(512)
P
on() { local ns=$1 name=$2; shift 2; exec ip netns exec $ns unshare -u sh -c 'hostname "$0"; exec "$@"' "$name" "$@"; }

on $b host-b python3 "$T/server.py" >"$T/ready-server" & server=$!
pids+=($server)
eventually "the server" written "$T/ready-server"
on $b host-b "$OBREC" -q -p $server -e l4,l7 -o "$T/b.obz" --ready-fd 9 9>"$T/ready-b" & recorder=$!
pids+=($recorder)
eventually "obrec at the server is ready" [ -s "$T/ready-b" ]
(on $a host-a "$OBREC" -q -e l4,l7 -o "$T/a.obz" -- python3 "$T/client.py")
kill -INT $recorder; wait $recorder

# view ARCHIVE-OF-HOST-A: what both tell together
view() { "$OBANA" query "$1" "$2" "$T/b.obz" --csv | tail -n +2; }
is "hosts" "$(view "SELECT group_concat(host) FROM (SELECT host FROM capture ORDER BY 1)" "$T/a.obz" | tr -d '"')" host-a,host-b
edges="SELECT protocol, calls, errors FROM edge WHERE client NOT LIKE '%[unknown]%' ORDER BY 1"
check() {
	is "one edge a service, $1" "$(view "$edges" "$2" | paste -sd' ')" "dns,10,0 http,20,0"
	is "both ends of the connection found, $1" "$(view "SELECT count(*), sum(counted) FROM connection WHERE protocol = 'http' AND other_id" "$2")" 2,1
	is "every call's sides, $1" "$(view "SELECT count(*) FROM flow WHERE client_ns IS NOT NULL AND server_ns IS NOT NULL" "$2")" 2
	# A wait is never shorter than it was asked to be; how much longer it is, a busy machine decides: both ends in the same way.
	within "server's HTTP, ms, $1" "$(view "SELECT server_ns / 1e6 FROM flow WHERE protocol = 'http'" "$2")" 25 200
	within "network's HTTP, ms, $1" "$(view "SELECT (client_ns - server_ns) / 1e6 FROM flow WHERE protocol = 'http'" "$2")" 30 200
	within "server's DNS, ms, $1" "$(view "SELECT server_ns / 1e6 FROM flow WHERE protocol = 'dns'" "$2")" 10 200
	within "network's DNS, ms, $1" "$(view "SELECT (client_ns - server_ns) / 1e6 FROM flow WHERE protocol = 'dns'" "$2")" 30 200
	within "one way, ms, $1" "$(view "SELECT delay_ns / 1e6 FROM clock_offset" "$2")" 15 100
}
check "one clock" "$T/a.obz"
is "v4-mapped is v4" "$(sql "$T/b.obz" "SELECT DISTINCT local_addr, remote_addr FROM connection WHERE protocol = 'http'" | tr -d '"')" 10.99.0.2,10.99.0.1
plain=$(view "SELECT offset_ns FROM clock_offset" "$T/a.obz")
within "offset of one clock, ms" "$(awk -v n="$plain" 'BEGIN { print n / 1e6 }')" -50 50

# The same archive as a host would have written it whose clock is 3.5 s ahead.
python3 - "$T/a.obz" "$T/ahead.obz" <<'P'
import re, sys, zlib
data = open(sys.argv[1], "rb").read()
size = int(data[124:135], 8)
head = data[512:512 + size]
moved = re.sub(rb'("(?:started_at_ns|realtime_ns)": *)(\d+)', lambda m: m[1] + b"%d" % (int(m[2]) + 3500000000), head)
seal = moved.rindex(b',"crc32":')
moved = moved[:seal] + b',"crc32":"%08x"}\n' % zlib.crc32(moved[:seal])
assert moved != head and len(moved) == len(head)
open(sys.argv[2], "wb").write(data[:512] + moved + data[512 + size:])
P
check "3.5 s apart" "$T/ahead.obz"
shifted=$(view "SELECT offset_ns FROM clock_offset" "$T/ahead.obz")
is "offset found, as host-b's clock minus host-a's" $((shifted - plain)) -3500000000
"$OBANA" topology "$T/ahead.obz" "$T/b.obz" | tail -n 3

# TLS alone: its clear text tells where it stands in the stream, so it joins and tells the clocks' offset as well.
command -v openssl >/dev/null || { echo "TLS left out: needs openssl"; exit 0; }
grep -q '^tls .*yes.*yes' "$T/list" || { echo "TLS left out: no uprobes here"; exit 0; }
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=b 2>/dev/null
start ip netns exec $b /usr/bin/python3 tests/live/tls_peer.py serve 8443 "$T/cert.pem" "$T/key.pem" 10.99.0.2; server=$!
eventually "the TLS server" ip netns exec $b bash -c 'exec 3<>/dev/tcp/10.99.0.2/8443'
on $b host-b "$OBREC" -q -p $server -e l4,l7,tls -o "$T/b.obz" --ready-fd 9 9>"$T/ready-tls" & recorder=$!
pids+=($recorder)
eventually "obrec at the TLS server is ready" [ -s "$T/ready-tls" ]
(on $a host-a "$OBREC" -q -e l4,l7,tls -o "$T/tls.obz" -- /usr/bin/python3 tests/live/tls_peer.py get 8443 20 item 10.99.0.2)
kill -INT $recorder; wait $recorder
is "one edge over TLS" "$(view "SELECT protocol, calls, errors FROM edge" "$T/tls.obz" | paste -sd' ')" http,20,0
is "both ends of the TLS connection found" "$(view "SELECT count(*), sum(counted), min(tls) FROM connection WHERE protocol = 'http' AND other_id" "$T/tls.obz")" 2,1,1
is "every TLS call's sides" "$(view "SELECT count(*) FROM flow WHERE client_ns IS NOT NULL AND server_ns IS NOT NULL" "$T/tls.obz")" 1
within "TLS: one way, ms" "$(view "SELECT delay_ns / 1e6 FROM clock_offset" "$T/tls.obz")" 15 100
within "TLS: offset of one clock, ms" "$(view "SELECT offset_ns / 1e6 FROM clock_offset" "$T/tls.obz")" -50 50
