# Filters of samples: every output shows the same samples and the same part of their stacks. Three programs, one of them twice.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
cat >f.obt <<'END'
header {"host":"h","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"probes":["cpu"],"options":{"freq":100}}
process id=1 pid=100 comm=redis exe=/usr/bin/redis-server cgroup=/system.slice/redis.service
process id=2 pid=200 comm=nginx exe=/usr/sbin/nginx cgroup=/system.slice/nginx.service
process id=3 pid=201 comm=nginx exe=/usr/sbin/nginx cgroup=/system.slice/nginx.service/worker
process id=4 pid=300 comm=cron exe=/usr/sbin/cron
thread id=1 process=1 tid=100 comm=redis
thread id=2 process=1 tid=101 comm=bio_aof
thread id=3 process=2 tid=200 comm=nginx
thread id=4 process=3 tid=201 comm=nginx
thread id=5 process=4 tid=300 comm=cron
binary id=2 path="[jit 100]"
symbol binary=2 address=0x1000 size=0x100 name=main
symbol binary=2 address=0x2000 size=0x100 name="serve(int, char)"
symbol binary=2 address=0x3000 size=0x100 name=read
symbol binary=2 address=0x4000 size=0x100 name=write
symbol binary=2 address=0x5000 size=0x100 name=memcpy
stack id=1 frames=2:3010,2:2010,2:1010
stack id=2 frames=2:5010,2:3010,2:2010,2:2010,2:1010
stack id=3 frames=2:4010,2:2010,2:1010
stack id=4 frames=2:4010,2:1010
stack id=5 frames=2:5010,2:3010 error=4
sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=10000000
sample kind=1 ts_ns=6000000000 thread=1 user_stack=2 count=2 value=20000000
sample kind=1 ts_ns=6000000000 thread=2 user_stack=4 count=4 value=40000000
sample kind=1 ts_ns=6000000000 thread=3 user_stack=3 count=8 value=80000000
sample kind=1 ts_ns=6000000000 thread=4 user_stack=5 count=16 value=160000000
sample kind=1 ts_ns=6000000000 thread=5 user_stack=4 count=32 value=320000000
sample kind=1 ts_ns=6000000000 thread=9 user_stack=1 count=64 value=640000000
end {"complete":true,"stop_reason":"duration","duration_ns":1000000000}
END
"$TOP/$B/tests/tools/mkobz" f.obz <f.obt || exit 1
set -f
folded() { echo "> $*"; $obana export folded f.obz -o - "$@" 2>&1; }
folded # by process, since there are several programs
folded --by none
folded --by program,thread --comm ngin?,redis
folded --pid 100
folded --pid 100,300 --thread bio_aof,300
folded --exe /usr/sbin/*
folded --exe cron
folded --cgroup /system.slice/nginx.service
folded --cgroup worker
folded --focus '^(read|memcpy)$' --by none
folded --ignore serve --by none
folded --callees 'serve' --by none
folded --callees 'serve(int, char)' --by none
folded --callers read --by none
folded --callers mem* --callees serve --by none
folded --comm nosuch
echo "--- the report"
$obana report f.obz --focus memcpy --thread redis,201
$obana report f.obz --callers memcpy | grep -A 9 -e callers
$obana report f.obz --callees read --comm redis | grep -A 4 -e callees
echo "--- the same in all outputs"
$obana show processes f.obz --focus memcpy --json
$obana query --focus memcpy --callees read "SELECT sum(count) FROM sample; SELECT DISTINCT depth, name FROM sample JOIN stack_frame USING (stack_id) JOIN frame ON
	frame.id = frame_id JOIN function ON function.id = function_id ORDER BY 1; SELECT function, self_count, total_count FROM hot_function ORDER BY 1" f.obz --csv
$obana report f.obz --comm redis --sqlite=f.db >/dev/null 2>&1 && sqlite3 f.db "SELECT count(*), sum(count) FROM sample; SELECT sum(count) FROM thread_weight"
$obana flamegraph f.obz --callers memcpy -o - | grep -o '<title>[^<]*\|only --[a-z]* [a-z]*' | sort -u | head -n 8
$obana export tree f.obz -o - --comm redis
$obana diff f.obz f.obz --comm redis --csv 2>/dev/null | cut -d, -f 1-5
echo "--- two hosts, many processes"
sed -e 's/"host":"h"/"host":"i"/' f.obt >i.obt
for i in $(seq 40); do
	sed -n -e "s/^process id=3 pid=201/process id=1$i pid=1$i/p; s/^thread id=4 process=3 tid=201/thread id=1$i process=1$i tid=1$i/p
		s/^sample\(.*\) thread=4 .*/sample\1 thread=1$i user_stack=1 count=1 value=1/p" f.obt
done >>i.obt
"$TOP/$B/tests/tools/mkobz" i.obz <i.obt || exit 1
$obana export folded i.obz f.obz -o - | cut -d ';' -f 1 | sort -u
echo "--- refused"
$obana report f.obz --focus '(' 2>&1; echo "exit $?"
$obana flamegraph f.obz --by nothing 2>&1; echo "exit $?"
