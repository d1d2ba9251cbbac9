# The ends of very many connections that look alike: Unix sockets between the same two processes, connections that came one after the
# other from the same port, peers of which only a pid is known. Found in seconds, whatever their number.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
cat >make.py <<'P'
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4"],"options":{"freq":99},"labels":{}}')
print("process id=1 pid=10 ppid=1 started_ns=1 comm=app exe=/app")
print("process id=2 pid=20 ppid=1 started_ns=1 comm=cache exe=/cache")
for i in range(5000): print(f"process id={i + 3} pid={1000 + i} ppid=1 started_ns=1 comm=peer{i} exe=/peer")
stats, number = [], 0
def pair(text, client, server, opened, sent, received, closed=0, accepted=None):
    global number
    for id, role, rest in ((number + 1, 1, client), (number + 2, 2, server)):
        when = f" opened_ns={(accepted if accepted and role == 2 else opened) + role * 300}" if opened else ""
        print(f"connection id={id} process={role} cookie={id} {text} role={role}{when} {rest} sampled=1")
        a, b = (sent, received) if role == 1 else (received, sent)
        stats.append(f"connection_stat connection={id} ts_ns=9000000000 bytes_sent={a} bytes_received={b} sends=1 receives=1")
        if closed: stats.append(f"connection_close connection={id} closed_ns={closed + role * 300}")
    number += 2
unix = ("transport=257", "remote_addr=/run/c.sock peer_pid=20", "local_addr=/run/c.sock peer_pid=10")
tcp = ("transport=6", "local_addr=127.0.0.1 local_port=5000 remote_addr=127.0.0.1 remote_port=80", "local_addr=127.0.0.1 local_port=80 remote_addr=127.0.0.1 remote_port=5000")
for i in range(30000): pair(*unix, 2000000000 + i * 1000, i + 1, 7, accepted=2000000000 + i * 7919 % 30000 * 1000) # bytes tell
for i in range(30000): pair(*unix, 3000000000 + i * 1000, 9, 9) # times tell
for i in range(2000): pair(*unix, 0, i + 1, 5) # older than the capture
for i in range(30000): pair(*tcp, 4000000000 + i * 100000, 11, 12, 4000000000 + i * 100000 + 90000)
for i in range(60000):
    number += 1
    print(f"connection id={number} process=1 cookie={number} transport=257 remote_addr=/run/p.sock role=1 opened_ns=2000000000 peer_pid={1000 + i % 5000} sampled=1")
print("flush", *stats, 'end {"complete":true,"stop_reason":"duration","duration_ns":9000000000,"losses":[]}', sep="\n")
P
python3 make.py | "$TOP/$B/tests/tools/mkobz" ends.obz || exit 1
timeout 30 "$OBANA" query "SELECT transport, peer LIKE 'peer%' AS named, count(*) AS ends, count(other_id) AS found,
	sum(abs(other_id - id) = 1 AND (other_id - 1) >> 1 = (id - 1) >> 1) AS matched, sum(counted) AS counted, min(peer), count(DISTINCT peer) AS peers
	FROM connection GROUP BY 1, 2 ORDER BY 1, 2" ends.obz --csv || echo "exit $?"

# A call recorded at both ends is one row of the report: the server's, or the client's where that has more complete calls
for n in server client; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
grep -v '^payload connection=1 .*direction=0' "$TOP/tests/cli/traffic-server.obt" | "$TOP/$B/tests/tools/mkobz" deaf.obz || exit 1
grep -v '^payload connection=1 ' "$TOP/tests/cli/traffic-server.obt" | "$TOP/$B/tests/tools/mkobz" mute.obz || exit 1
for what in server.obz client.obz "server.obz client.obz" "deaf.obz client.obz"; do
	echo "report of $what:"
	for s in protocols endpoints endpoints-called peers failing; do
		"$OBANA" show $s $what --json | python3 -c '
import json, sys
for r in json.load(sys.stdin):
    if r["protocol" if "protocol" in r else "transport"] in ("http", "tcp"):
        print(sys.argv[1] + ":", *[ascii(r[k]) for k in ("role", "service", "called", "peer", "target", "calls", "errors", "connections") if k in r])' $s
	done
done
for what in "server.obz client.obz" "deaf.obz client.obz" "mute.obz client.obz"; do
	"$OBANA" query "SELECT sum(calls), sum(errors) FROM rate WHERE protocol = 'http' AND server LIKE '%nginx' AND client LIKE 'app%'" $what --csv | tail -n 1
done
