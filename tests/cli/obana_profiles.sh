# Profiles for other tools. speedscope: one profile for each kind of sample, each in its unit, samples in the order of time. pprof: who
# was sampled as labels of the sample, mangled names as the system's. Read back by what the formats say, not by obana.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
mkobz=$TOP/$B/tests/tools/mkobz
for t in c++ nm python3; do command -v $t >/dev/null || { echo "$t is missing"; exit 77; }; done

cat >speedscope.py <<'P'
import json, sys
f = json.load(open(sys.argv[1]))
print("exporter", f["exporter"], "active", f["activeProfileIndex"])
for p in f["profiles"]:
    print(p["type"], p["name"], p["unit"], "from", p["startValue"], "to", p["endValue"])
    assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]
    for s, w in zip(p["samples"], p["weights"]):
        print("   ", w, ";".join(f["shared"]["frames"][i]["name"] for i in s))
P
# proto/profile.proto of github.com/google/pprof: Profile.sample 2, .function 5, .string_table 6; Sample.value 2, .label 3; Label.key 1,
# .str 2, .num 3; Function.name 2, .system_name 3.
cat >pprof.py <<'P'
import gzip, sys
def number(b, at):
    n = shift = 0
    while True:
        n |= (b[at] & 127) << shift
        shift += 7
        at += 1
        if b[at - 1] < 128: return n, at
def fields(b):
    at = 0
    while at < len(b):
        key, at = number(b, at)
        v, at = number(b, at)
        if key & 7 == 2: v, at = b[at:at + v], at + v
        else: assert key & 7 == 0
        yield key >> 3, v
def packed(v):
    at = 0
    while at < len(v):
        n, at = number(v, at)
        yield n
f = list(fields(gzip.open(sys.argv[1]).read()))
strings = [v.decode("utf-8", "replace") for k, v in f if k == 6]
for s in sorted(str((
        [n for k, v in fields(s) if k == 2 for n in ([v] if type(v) is int else packed(v))],
        [(strings[l[1]], strings[l[2]] if l.get(2) else l[3]) for l in (dict(fields(v)) for k, v in fields(s) if k == 3)]))
        for k, s in f if k == 2): print(s)
for k, v in f:
    v = dict(fields(v)) if k == 5 else {}
    if v and v.get(3) != v.get(2): print("function", strings[v[2]], "of the system", strings[v[3]])
P
speedscope() { echo "> speedscope $*"; $obana export speedscope -o f.json "$@" 2>/dev/null && python3 speedscope.py f.json; }
pprof() { echo "> pprof $*"; $obana export pprof -o f.pb.gz "$@" 2>/dev/null && python3 pprof.py f.pb.gz; }

# A program goes from one phase to another and back; its thread waits in between. The rows come out of order, as rings do.
cat >phases.obt <<'END'
header {"host":"h","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"probes":["cpu","offcpu"],"options":{"freq":100}}
process id=1 pid=100 comm=server exe=/usr/bin/server cgroup=/docker/abc container_id=abc
thread id=1 process=1 tid=100 comm=server
thread id=2 process=1 tid=101 comm=io-worker
binary id=2 path="[jit 100]"
symbol binary=2 address=0x1000 size=0x100 name=main
symbol binary=2 address=0x2000 size=0x100 name=first
symbol binary=2 address=0x3000 size=0x100 name=second
stack id=1 frames=2:2010,2:1010
stack id=2 frames=2:3010,2:1010
sample kind=1 ts_ns=5300000000 thread=1 user_stack=1 count=1 value=10000000
sample kind=1 ts_ns=5200000000 thread=1 user_stack=2 count=1 value=10000000
sample kind=1 ts_ns=5100000000 thread=1 user_stack=1 count=1 value=10000000
sample kind=2 ts_ns=5250000000 thread=2 user_stack=2 count=1 value=40000000
sample kind=2 ts_ns=5050000000 thread=2 user_stack=1 count=1 value=7000000
sample kind=1 ts_ns=5100000000 thread=1 user_stack=1 count=2 value=20000000
end {"complete":true,"stop_reason":"duration","duration_ns":1000000000}
END
"$mkobz" phases.obz <phases.obt || exit 1
speedscope phases.obz
speedscope phases.obz --kind offcpu
pprof phases.obz
# Two hosts: which of them is a label too.
sed -e 's/"host":"h"/"host":"other"/' phases.obt | "$mkobz" other.obz || exit 1
pprof phases.obz other.obz --kind offcpu

cat >prog.cc <<'END'
__attribute__((noinline)) int outer(int x, char) { return x * 3; }
extern "C" __attribute__((noinline)) int plain(int x) { return x * 5; }
int main(int argc, char **) { return outer(argc, 'c') + plain(argc); }
END
c++ -g -O1 -no-pie -Wl,--build-id=0x0102030405060708 -o prog prog.cc || exit 1
address() { nm -C prog | awk -v name="$1" '$2 == "T" && index($3, name) == 1 { print $1 }'; }
{
	sed -n '/^header/p; /^process/p; /^thread/p' phases.obt
	echo "member .build-id/01/02030405060708.debug.zst prog"
	echo "binary id=1 build_id=0102030405060708 path=/gone/prog"
	echo "debuginfo binary=1 member=.build-id/01/02030405060708.debug.zst symbols=dwarf"
	echo "stack id=1 frames=1:$(address outer)"
	echo "stack id=2 frames=1:$(address plain)"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=1"
	echo "sample kind=1 ts_ns=6000000000 thread=2 user_stack=2 count=1 value=2"
	echo 'end {"complete":true,"losses":[]}'
} | "$mkobz" prog.obz || exit 1
pprof prog.obz
$obana query "SELECT name, linkage_name FROM function ORDER BY 1" prog.obz --csv
