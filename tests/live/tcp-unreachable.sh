# Connects that fail, each error as often as the program got it: from a router by ICMP (no route, unreachable, prohibited, or silence), from a
# neighbour that does not answer, from the own routing table before a SYN is sent, and for want of a free port.
. tests/live/lib.inc
grep -q "^tcp .* yes" "$T/list" || skip "no probe 'tcp': $(grep '^tcp ' "$T/list")"
client=obrec-ua-$$ router=obrec-ub-$$
trap 'cleanup; for ns in $client $router; do ip netns del $ns 2>/dev/null || true; done' EXIT
ip netns add $client 2>/dev/null || skip "no network namespaces here"
ip netns add $router
ip link add eth0 netns $client type veth peer name eth0 netns $router 2>/dev/null || skip "no veth devices here"
ip -n $client addr add 10.98.1.1/24 dev eth0; ip -n $router addr add 10.98.1.2/24 dev eth0
for ns in $client $router; do ip -n $ns link set lo up; ip -n $ns link set eth0 up; done
ip netns exec $router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv4/icmp_ratelimit'
ip netns exec $client sh -c 'echo "40000 40000" >/proc/sys/net/ipv4/ip_local_port_range; echo 1 >/proc/sys/net/ipv4/tcp_syn_retries; f=/proc/sys/net/ipv4/tcp_syn_linear_timeouts; [ ! -e $f ] || echo 0 >$f'
for n in 2 3 4 5; do ip -n $client route add 10.98.$n.0/24 via 10.98.1.2; done
# 10.98.2.0/24: the router has no route
ip -n $router route add unreachable 10.98.3.0/24; ip -n $router route add prohibit 10.98.4.0/24; ip -n $router route add blackhole 10.98.5.0/24
ip -n $client route add unreachable 10.98.6.0/24; ip -n $client route add prohibit 10.98.7.0/24; ip -n $client route add blackhole 10.98.8.0/24
cat >"$T/connect.py" <<'P'
import collections, errno, socket, sys
sys.stdin.readline()
seen = collections.Counter()
def to(address, port=80, s=None, cnt=3):
    for i in range(cnt):
        try:
            with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as s:
                s.connect((address, port))
        except OSError as e:
            seen[address, errno.errorcode[e.errno]] += 1
for n in 2, 3, 4, 6, 7, 8: to("10.98.%d.1" % n)
to("10.98.5.1", cnt=1)
to("10.98.1.77", cnt=1)
to("192.0.2.1")
to("2001:db8::1")
l = socket.create_server(("10.98.1.1", 81))
held = socket.create_connection(("10.98.1.1", 81))
to("10.98.1.1", 81)
# Asked again for what became of it
s = socket.socket()
s.setblocking(False)
for i in range(2):
    try: s.connect(("10.98.6.1", 80))
    except OSError as e: seen["10.98.6.1", errno.errorcode[e.errno]] += 1
for (address, error), cnt in sorted(seen.items()): print("got", address, error, cnt)
print("through", flush=True)
sys.stdin.readline()
P
mkfifo "$T/go"; exec 8<>"$T/go"
ip netns exec $client python3 "$T/connect.py" <"$T/go" >"$T/connects" & connects=$!; pids+=($connects)
eventually "the program" grep -q connect.py /proc/$connects/cmdline
obrec_start -q -p $connects -e tcp:rate=0 --debuginfo none -o "$T/a.obz"
echo >&8
eventually "all connects" written "$T/connects" through
obrec_stop
is "losses" "$(lost "$T/a.obz")" 0
got=$(sed -n 's/^got //p' "$T/connects" | LC_ALL=C sort | xargs)
for error in EHOSTUNREACH ENETUNREACH ETIMEDOUT EACCES EINVAL EADDRNOTAVAIL; do [[ $got = *" $error "* ]] || fail "no $error: $got"; done
is "rows" "$(sql "$T/a.obz" "SELECT remote || ' ' || errno_name(error) || ' ' || count(*) FROM tcp_connect WHERE failed GROUP BY remote, error" | LC_ALL=C sort | xargs)" "$got"
is "counted" "$(sql "$T/a.obz" "SELECT part(key, 'peer' || char(9) || 'port' || char(9) || 'error', 'peer') || ' ' || part(key, 'peer' || char(9) || 'port' || char(9) || 'error', 'error') || ' ' || CAST(sum(count) AS INTEGER) FROM histogram WHERE probe = 'tcp' AND series = 'failed' GROUP BY key" | LC_ALL=C sort | xargs)" "$got"
is "ports, namespace, whose" "$(sql "$T/a.obz" "SELECT DISTINCT remote_port, c.netns = $(stat -Lc %i /proc/$connects/ns/net), p.pid = $connects FROM tcp_connect c JOIN thread t ON t.id = c.thread_id JOIN process p ON p.id = t.process_id WHERE failed ORDER BY 1" | xargs)" "80,1,1 81,1,1"
is "those that took time" "$(sql "$T/a.obz" "SELECT remote, duration_ns > 500000000 FROM tcp_connect WHERE failed AND duration_ns > 500000000 AND remote IN ('10.98.5.1', '10.98.1.77') ORDER BY 1" | xargs)" "10.98.1.77,1 10.98.5.1,1"
"$OBANA" show tcp-failed "$T/a.obz" >"$T/shown" && grep -q 'ENETUNREACH *2001:db8::1' "$T/shown" || { cat "$T/shown"; fail "show tcp-failed"; }
