# Callers of one name: nine processes, of which one calls once and one surges; told apart by process, unit, address and an argument of
# their calls, in every table and drawing; filters reach the detail of messages.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
cat >make.py <<'P'
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec","-a"],"probes":["l4","l7"],"options":{"payload_max":512},"labels":{}}')
print("process id=1 pid=50 ppid=1 started_ns=1 comm=shop exe=/shop cgroup=/system.slice/shop.service")
for i in range(1, 10): print(f"process id={i + 1} pid={100 + i} ppid=1 started_ns=1 comm=python3 exe=/usr/bin/python3 cgroup=/system.slice/{'batch' if i > 6 else 'web'}.service/app")
rows = []
def call(i, at, dir, data, pos): # both ends
    for connection, d in ((i, 1 - dir), (100 + i, dir)):
        rows.append((at + d * 1000, f'payload connection={connection} ts_ns={at + d * 1000} direction={d} position={pos} len={len(data)} data="{"".join(f"%cx{c:02x}" % 92 for c in data)}"'))
def text(s): return len(s).to_bytes(4, "big") + s
for i in range(1, 10):
    print(f"connection id={i} process={i + 1} cookie={i} transport=6 local_addr=10.0.0.{i % 3 + 1} local_port={40000 + i} remote_addr=10.0.0.9 remote_port=9090 role=1 opened_ns=1100000000 netns=1 sampled=1")
    print(f"connection id={100 + i} process=1 cookie={100 + i} transport=6 local_addr=10.0.0.9 local_port=9090 remote_addr=10.0.0.{i % 3 + 1} remote_port={40000 + i} role=2 opened_ns=1100000000 netns=1 sampled=1")
    pos = [0, 0]
    for n in range(1 if i == 9 else 200 if i == 4 else 20):
        at = 2000000000 + n * 10000000 + i * 100000 if i == 4 else 2000000000 + n * 100000000 + i * 100000
        user = b"eve" if i == 3 and n == 7 else b"ann" if n % 2 else b"bob"
        for dir, kind, body in ((1, 1, b"\x0b\x00\x01" + text(user) + b"\x00"), (0, 2, b"\x08\x00\x00\x00\x00\x00\x01\x00")):
            data = bytes([0x80, 1, 0, kind]) + text(b"get") + (n + 1).to_bytes(4, "big") + body
            data = text(data)
            call(i, at + (1 - dir) * 1000000, dir, data, pos[dir])
            pos[dir] += len(data)
print("flush", *(r for _, r in sorted(rows)), 'end {"complete":true,"stop_reason":"duration","duration_ns":9000000000,"losses":[]}', sep="\n")
P
python3 make.py | "$TOP/$B/tests/tools/mkobz" callers.obz || exit 1
arg=--thrift-arg=get:1=user
run() { echo "> $*"; "$OBANA" "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }
sums() { python3 -c '
import json, sys
for name, rows in sorted(json.load(sys.stdin).items()):
    for r in rows: print(name + ":", *(r[k] for k in ("start_ns", "role", "service", "peer", "calls") if r.get(k) is not None))' | sort -V; }
traffic() { echo "> traffic $*"; "$OBANA" traffic callers.obz --json --role server "$@" 2>/dev/null | sums; }
traffic --by caller
traffic --by caller,process
traffic --by caller,unit
traffic --by caller,client
traffic --by caller,process,thrift:user $arg --peer 'python3(10?)' --method get
traffic --by caller,process --interval 1s --service shop*
"$OBANA" traffic callers.obz --rare --json --by process 2>/dev/null | python3 -c 'import json, sys; print("rarest:", *[(r["peer"], r["calls"]) for r in json.load(sys.stdin)["caller"] if r["role"] == "server"][:2])'
"$OBANA" traffic callers.obz --rare --json --role server $arg 2>/dev/null | sums | grep eve
traffic --by caller --detail user=eve $arg
for by in process unit client thrift:user; do
	echo "> topology --by $by"; "$OBANA" topology callers.obz --by $by $arg --json | python3 -c '
import json, sys
for e in json.load(sys.stdin)["edges"]: print(e["client"], "->", e["server"], e["calls"])' | sort
done
run messages callers.obz --limit 4 --role server
run messages callers.obz --limit 2 --role client --by process --format time,service,peer,who,pid
run messages callers.obz --detail 'user=EV*' $arg --format who,service,detail
run messages callers.obz --detail 'user=nobody' $arg --format who
echo "> show"; "$OBANA" show peers callers.obz --by process --json | python3 -c 'import json, sys; print(*sorted(r["peer"] for r in json.load(sys.stdin)))'
run topology callers.obz --by thrift:name $arg
run topology callers.obz --by process,unit
run topology callers.obz --by nothing
"$OBANA" --completion bash 2>/dev/null | grep -c 'process unit client thrift:'
:
