# Names with numbers: of many of one shape one row in reports, few stay; messages keep the names, and a filter takes what a report shows.
# 100,000 keys: folded before the limit of aggregates.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
cat >make.py <<'P'
import sys
keys = eval(sys.argv[1])
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec","-a"],"probes":["l4","l7"],"options":{"payload_max":512},"labels":{}}')
print("process id=1 pid=50 ppid=1 started_ns=1 comm=redis-server exe=/redis-server")
print("connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.9 local_port=6379 remote_addr=10.0.0.1 remote_port=5000 role=2 opened_ns=1100000000 netns=1 sampled=1")
pos = [0, 0]
for n, key in enumerate(keys):
    for dir, data in ((1, "*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n" % (len(key), key)), (0, "$2\r\nok\r\n")):
        print(f'payload connection=1 ts_ns={2000000000 + n * 20000 + (1 - dir) * 10000} direction={dir} position={pos[dir]} len={len(data)} data="{"".join(f"%cx{ord(c):02x}" % 92 for c in data)}"')
        pos[dir] += len(data)
print("flush", 'end {"complete":true,"stop_reason":"duration","duration_ns":9000000000,"losses":[]}', sep="\n")
P
python3 make.py '[f"k{i}" for i in range(40)] + [f"shard{i}" for i in range(8)] + [f"session:a{i}z" for i in range(20)] + ["total"] * 3' |
	"$TOP/$B/tests/tools/mkobz" a.obz || exit 1
python3 make.py '[f"user{i}:{i % 3}" for i in range(100000)]' | "$TOP/$B/tests/tools/mkobz" many.obz || exit 1
run() { echo "> $*"; "$OBANA" "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }
endpoints() { run query "$@" "SELECT calls, target FROM figure WHERE level = 'endpoint' ORDER BY calls DESC, target" --csv; }
endpoints a.obz
endpoints many.obz
for target in 'k{n}' 'session:{id}' 'k1?' 'k{n},total' '{n}' 'K{N}'; do
	echo "> messages --target $target: $("$OBANA" messages a.obz --target "$target" --format target --limit 100 2>/dev/null | grep -c '[a-z]')"
done
:
