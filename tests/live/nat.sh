# Two hosts (namespaces) with a third between them that translates addresses, of the client and of the service: each end sees another
# tuple, and yet their archives tell of one connection. Of one older than the captures as well.
. tests/live/lib.inc
for c in ip nft python3; do command -v $c >/dev/null || skip "needs $c"; done
a=obrec-na-$$ b=obrec-nb-$$ r=obrec-nr-$$
ip netns add $a 2>/dev/null || skip "no network namespaces here"
ip netns add $b; ip netns add $r
trap 'cleanup; ip netns del $a; ip netns del $b; ip netns del $r' EXIT
link() { # NAMESPACE ITS-ADDRESS THE-ROUTER'S
	ip link add eth0 netns $1 type veth peer name to-${1:6:2} netns $r 2>/dev/null || skip "no veth devices here"
	ip -n $1 addr add $2/24 dev eth0; ip -n $1 link set lo up; ip -n $1 link set eth0 up
	ip -n $r addr add $3/24 dev to-${1:6:2}; ip -n $r link set to-${1:6:2} up
	ip -n $1 route add default via $3
}
link $a 10.98.0.2 10.98.0.1
link $b 10.97.0.2 10.97.0.1
ip netns exec $r sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec $r nft -f - 2>"$T/nft.err" <<'N' || skip "no translation of addresses here: $(head -n 1 "$T/nft.err")"
table ip nat {
	chain pre { type nat hook prerouting priority -100; ip daddr 10.98.0.1 tcp dport 80 dnat to 10.97.0.2:8000; }
	chain post { type nat hook postrouting priority 100; ip daddr 10.97.0.2 masquerade; }
}
N
cat >"$T/server.py" <<'P'
import socket, threading
def serve(s):
    f = s.makefile("rb")
    while f.readline():
        while f.readline() not in (b"\r\n", b""): pass
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
l = socket.create_server(("10.97.0.2", 8000))
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(l.accept()[0],), daemon=True).start()
P
cat >"$T/client.py" <<'P'
# Ten requests on an old connection before a byte comes on stdin; then five on it, and ten on each of three new ones
import socket, sys
def ask(s, cnt, path):
    f = s.makefile("rb")
    for i in range(cnt):
        s.sendall(b"GET /%s HTTP/1.1\r\nHost: b\r\n\r\n" % path)
        for line in iter(f.readline, b"\r\n"): pass
        f.read(2)
connect = lambda: socket.create_connection(("10.98.0.1", 80))
old = connect()
ask(old, 10, b"before")
print("ready", flush=True)
sys.stdin.read(1)
ask(old, 5, b"old")
new = [connect() for _ in range(3)]
for s in new: ask(s, 10, b"new")
print("done", flush=True)
sys.stdin.read(1)
P
on() { local ns=$1 name=$2; shift 2; exec ip netns exec $ns unshare -u sh -c 'hostname "$0"; exec "$@"' "$name" "$@"; }
mkfifo "$T/go"; exec 8<>"$T/go"
on $b host-b python3 "$T/server.py" >"$T/server" & server=$!; pids+=($server)
eventually "the server" written "$T/server" ready
on $a host-a python3 "$T/client.py" <"$T/go" >"$T/client" & client=$!; pids+=($client)
eventually "the client" written "$T/client" ready
on $b host-b "$OBREC" -q -p $server -e l4,l7 --debuginfo none -o "$T/b.obz" --ready-fd 9 9>"$T/ready-b" & at_b=$!; pids+=($at_b)
on $a host-a "$OBREC" -q -p $client -e l4,l7 --debuginfo none -o "$T/a.obz" --ready-fd 9 9>"$T/ready-a" & at_a=$!; pids+=($at_a)
for f in a b; do eventually "obrec at host-$f is ready" [ -s "$T/ready-$f" ]; done
echo >&8
eventually "the client is through" written "$T/client" "done"
kill -INT $at_a $at_b; wait $at_a; wait $at_b

view() { "$OBANA" query "$T/a.obz" "$1" "$T/b.obz" --csv | tail -n +2; }
is "losses" "$(view "SELECT total(count) FROM loss")" 0.0
is "the client's view" "$(sql "$T/a.obz" "SELECT DISTINCT local_addr, remote_addr, remote_port FROM connection WHERE transport = 'tcp'" | tr -d '"')" 10.98.0.2,10.98.0.1,80
is "the server's view" "$(sql "$T/b.obz" "SELECT DISTINCT remote_addr, local_addr, local_port FROM connection WHERE transport = 'tcp'" | tr -d '"')" 10.97.0.1,10.97.0.2,8000
is "both ends found" "$(view "SELECT count(*), sum(counted) FROM connection WHERE transport = 'tcp' AND other_id")" 8,4
is "each the right one" "$(view "SELECT count(*) FROM connection c JOIN connection d ON d.id = c.other_id WHERE c.sent_seq = d.received_seq AND c.received_seq = d.sent_seq AND c.bytes_sent = d.bytes_received")" 8
is "one edge" "$(view "SELECT protocol, calls, errors FROM edge")" http,35,0
is "calls' both sides" "$(view "SELECT count(*) FROM flow WHERE client_ns IS NOT NULL AND server_ns IS NOT NULL")" 1
"$OBANA" topology "$T/a.obz" "$T/b.obz"
