# Generated code without names: the report says of which processes, how much, and what to do; not of code with names, nor of a little.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
# capture EXE NAMED UNNAMED: samples of a process in code with and without names
capture() {
	cat <<T
header {"host":"web-1","kernel":"6.1.0","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"argv":["obrec"],"probes":["cpu"],"options":{"freq":100}}
process id=1 pid=100 comm=worker exe=$1
thread id=1 process=1 tid=100 comm=worker
binary id=2 path="[jit 100]"
symbol binary=2 address=0x1000 size=0x100 name=Shop.order
stack id=1 frames=2:1010
stack id=2 frames=2:5010 error=10
sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=$2 value=${2}0000000
sample kind=1 ts_ns=6500000000 thread=1 user_stack=2 count=$3 value=${3}0000000
end {"complete":true,"stop_reason":"duration","duration_ns":10000000000,"losses":[],"programs":[]}
T
}
for args in "/usr/lib/jvm/bin/java 10 90" "/usr/bin/node 50 50" "/usr/bin/python3.12 94 6" "/usr/lib/erlang/bin/beam.smp 1 9" "/srv/engine 0 1" \
	"/usr/bin/java 96 4" "/usr/bin/java 9 0"; do
	capture $args | "$TOP/$B/tests/tools/mkobz" a.obz || exit 1
	echo "-- $args"
	$OBANA report a.obz | sed -n /^Names/p
done
