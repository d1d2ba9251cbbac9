# Kinds of samples: what the archive's schema names is shown by that name, what it does not by its number; "offcpu" is not "cpu".
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
{ echo "rename offcpu lock"; echo "rename waits contentions"; cat; } <<'END' >kinds.obt
header {"host":"h","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"probes":["offcpu"],"options":{"freq":99}}
process id=1 pid=100 comm=server exe=/usr/bin/server
thread id=1 process=1 tid=100 comm=server
binary id=2 path="[jit 100]"
symbol binary=2 address=0x1000 size=0x100 name=f
stack id=1 frames=2:1010
sample kind=2 ts_ns=6000000000 thread=1 user_stack=1 count=3 value=3000
sample kind=99 ts_ns=6000000000 thread=1 user_stack=1 count=5 value=4096
sample kind=4000000000 ts_ns=6000000000 thread=1 user_stack=1 count=7 value=1
end {"complete":true,"stop_reason":"duration","duration_ns":1000000000}
END
"$TOP/$B/tests/tools/mkobz" kinds.obz <kinds.obt || exit 1
$obana report kinds.obz 2>&1
echo "--- the kinds"
$obana query "SELECT kind, sum(count), sum(value) FROM sample GROUP BY kind; SELECT * FROM sample_kind" kinds.obz
echo "--- one of them"
$obana export folded kinds.obz --kind kind-99 -o - 2>&1; $obana export folded kinds.obz --kind offcpu -o - 2>&1; echo "exit $?"
$obana flamegraph kinds.obz --kind lock -o - | grep -o 'data-unit="[a-z]*"\|<title>[^<]*' | head -n 2
$obana show functions kinds.obz; $obana show threads kinds.obz --kind kind-99; $obana show functions kinds.obz --kind kind-99 --csv
$obana show functions kinds.obz --where "(SELECT count(*) FROM sample) = 3" --json # a condition on the rows
echo "--- recovered"
$obana recover kinds.obz -o rec.obz 2>/dev/null; $obana info rec.obz --json | python3 -c 'import json, sys; print(json.load(sys.stdin))' | grep -o "'stacks': {.*'programs'"
