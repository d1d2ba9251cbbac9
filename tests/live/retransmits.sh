# A network that loses packets: what obrec says was sent again is what the kernel counts, at both ends.
. tests/live/lib.inc
for c in ip nft nstat python3; do command -v $c >/dev/null || skip "needs $c"; done
a=obrec-ra-$$ b=obrec-rb-$$
ip netns add $a 2>/dev/null || skip "no network namespaces here"
ip netns add $b
trap 'cleanup; ip netns del $a; ip netns del $b' EXIT
ip link add eth0 netns $a type veth peer name eth0 netns $b 2>/dev/null || skip "no veth devices here"
ip -n $a addr add 10.96.0.1/24 dev eth0; ip -n $b addr add 10.96.0.2/24 dev eth0
for ns in $a $b; do
	ip -n $ns link set lo up; ip -n $ns link set eth0 up
	# One packet in twelve; not of those that open a connection, which wait for a second.
	ip netns exec $ns nft -f - 2>"$T/nft.err" <<'N' || skip "no packet filter here: $(head -n 1 "$T/nft.err")"
table ip lossy {
	chain in {
		type filter hook input priority 0;
		tcp flags & syn == 0 numgen random mod 12 == 0 drop;
	}
}
N
	ip netns exec $ns ip tcp_metrics flush 2>/dev/null || true
done
cat >"$T/server.py" <<'P'
import socket
l = socket.create_server(("10.96.0.2", 8000))
print("ready", flush=True)
while True:
    s = l.accept()[0]
    got = 0
    while got < 300000: got += len(s.recv(65536))
    s.sendall(b"y" * 300000)
    s.recv(1)
    s.close()
P
cat >"$T/client.py" <<'P'
import socket, sys
sys.stdin.read(1)
for i in range(4):
    s = socket.create_connection(("10.96.0.2", 8000))
    s.sendall(b"x" * 300000)
    got = 0
    while got < 300000: got += len(s.recv(65536))
    s.close()
print("done", flush=True)
sys.stdin.read(1)
P
mkfifo "$T/go"; exec 8<>"$T/go"
ip netns exec $b python3 "$T/server.py" >"$T/server" & server=$!; pids+=($server)
ip netns exec $a python3 "$T/client.py" <"$T/go" >"$T/client" & client=$!; pids+=($client)
eventually "the server" written "$T/server" ready
obrec_start -q -p $server,$client -e l4 --debuginfo none -o "$T/a.obz"
counted() { ip netns exec $1 nstat -asz TcpRetransSegs | awk '$1 == "TcpRetransSegs" {print $2}'; }
is "sent again before" "$(counted $a),$(counted $b)" 0,0
echo >&8
eventually "the client is through" written "$T/client" "done"
# The last end may wait for an answer that was lost.
ended() { [ -z "$(for ns in $a $b; do ip netns exec $ns ss -Htan state established state fin-wait-1 state fin-wait-2 state close-wait state last-ack; done)" ]; }
eventually "the last connection's end" ended
obrec_stop
is "losses" "$(sql "$T/a.obz" "SELECT total(count) FROM loss")" 0.0
by() { sql "$T/a.obz" "SELECT role, count(*), sum(bytes_sent), sum(bytes_received), sum(closed_ns IS NOT NULL), sum(retransmits) FROM connection WHERE transport = 'tcp' GROUP BY 1 ORDER BY 1" | tr '\n' ' '; }
is "sent again, and all else" "$(by)" "client,4,1200000,1200000,4,$(counted $a) server,4,1200000,1200000,4,$(counted $b) "
within "sent again" $(($(counted $a) + $(counted $b))) 1 100000
is "by interval" "$(sql "$T/a.obz" "SELECT sum(retransmits) FROM connection_stat")" $(($(counted $a) + $(counted $b)))
