# Archives of a few kilobytes that stand for millions of rows: obana takes what an archive of their size may cost (FORMAT.md, 7), within
# bounded memory, says that rows were left out, counts them among the losses and exits with 3.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache MALLOC_ARENA_MAX=1
obana=$OBANA
header='header {"host":"h","started_at_ns":1,"clock":{"monotonic_ns":1,"realtime_ns":1}}'
long=$(head -c 60000 /dev/zero | tr '\0' a)

# make NAME LINE...: NAME.obz, its records in LINEs
make() {
	local name=$1 line; shift
	{ echo "$header"; for line; do echo "$line"; done; echo 'end {"complete":true,"duration_ns":5}'; } |
		"$TOP/$B/tests/tools/mkobz" "$name.obz" || exit 1
}
# within MiB ARG...: obana with so much address space
within() {
	local mib=$1; shift
	( ulimit -s 1024; case $B in *san*) ;; *) ulimit -v $((mib << 10)) ;; esac; exec timeout 300 "$obana" "$@" )
}
# judge NAME MIB: what becomes of it; bomb NAME MIB ARG...: of what bomb.py makes of ARG
judge() {
	local name=$1 mib=$2 rc losses=
	within "$mib" report "$name.obz" >out 2>err; rc=$?
	grep -q '^Archive.* rows ignored: over the limit for its size' out && grep -q 'rows beyond the bounds' out && losses=", rows ignored"
	echo "$name: exit $rc, $(wc -l <err) lines$losses"
}
bomb() { python3 "$TOP/tests/tools/bomb.py" "$1.obz" "${@:3}" && judge "$1" "$2"; }

echo "--- as many rows as a chunk can hold, in a few kilobytes"
bomb process 150 process 90000 8
bomb thread 150 thread 250000 4
bomb label 150 label 300000 3
bomb binary 150 binary 250000 4
bomb symbol 150 symbol 200000 4
bomb stack 150 stack 200000 4
bomb sample 150 sample 140000 6
bomb loss 150 loss 250000 4
bomb thinning 150 thinning 200000 6
bomb connection 200 connection 69000 10
bomb stat 200 connection_stat 100000 10
bomb close 200 connection_close 340000 3
bomb payload 200 payload 100000 10
echo "--- rows of few bytes: the schema has one field of many"
python3 "$TOP/tests/tools/bomb.py" narrow.obz connection 1000000 3 id
within 150 report narrow.obz >out 2>err; echo "exit $?"; grep '^Archive' out
echo "--- text and lists"
make comm "repeat 5000 process id=1+1 comm=$long"; judge comm 250
make loss "repeat 5000 loss ts_ns=1 source=$long cause=c count=1"; judge loss 250
make call "repeat 5000 payload connection=1+1 ts_ns=1 len=60000 data=$long"; judge call 400
python3 -c "
print('$header')
for i in range(4000): print('symbol binary=65535 address=%d name=%s%d' % (i, '$long', i))
print('end {\"complete\":true,\"duration_ns\":5}')" | "$TOP/$B/tests/tools/mkobz" names.obz; judge names 400
make frames "repeat 20000 stack id=1+1 frames=$(seq -s, -f 1:%.0f 1 300)"; judge frames 250

echo "--- every command"
for command in traffic topology messages flamegraph "export prometheus" "export pprof" "query SELECT_1"; do
	read -ra words <<<"$command"
	within 400 "${words[@]/SELECT_1/SELECT count(*) > 0 FROM connection}" close.obz >out 2>err </dev/null; echo "$command: exit $?"
done
within 150 info stat.obz >out; echo "info: exit $?"
within 150 verify stat.obz >out; echo "verify: exit $?"
for name in stack loss stat; do # without its end it is counted
	head -c 4000 $name.obz >cut.obz
	within 150 info cut.obz >out; echo "info of a cut one: exit $?"
	within 150 recover cut.obz -o $name-fixed.obz 2>err; echo "recover: exit $?"
done

echo "--- one long name does not widen every row"
make wide "repeat 2000 connection id=1+1 transport=6 local_addr=a remote_addr=b" "connection id=9 transport=6 remote_addr=${long:0:4000}"
within 150 query "SELECT id, remote_addr, local_addr FROM connection" wide.obz >out
[ "$(stat -c %s out)" -lt $((2000 * 300)) ] && echo narrow

echo "--- members inside each other"
python3 "$TOP/tests/tools/nested.py" nested.obz 2000
within 150 verify nested.obz >out; echo "exit $?"
sed -n '$s/.*: \([0-9]* members\).*/\1 read/p' out
echo "$(grep -c "another member starts inside" out) cut short"

echo "--- what an archive really holds is taken, however well it compresses"
make real 'repeat 200000 connection_stat connection=1 ts_ns=5+1000000 bytes_sent=1'
within 400 query "SELECT bytes_sent FROM connection" real.obz --csv; echo "exit $?"

echo "--- many open connections, each of which was asked once, are held in little memory"
awk -v header="$header" 'BEGIN {
	print header
	print "process id=1 pid=10 comm=server\nthread id=1 process=1 tid=10 comm=server"
	for (i = 1; i <= 150000; i++) {
		t = 1000000000 + i * 60000
		printf "connection id=%d process=1 transport=6 local_addr=127.0.0.1 local_port=6379 remote_addr=127.0.%d.1 remote_port=%d role=2 opened_ns=%d sampled=1\n", i, i / 20000, 32768 + i % 20000, t
		printf "payload connection=%d thread=1 ts_ns=%d direction=1 len=14 data=\"*1\\x0d\\x0a$4\\x0d\\x0aPING\\x0d\\x0a\"\n", i, t + 20000
		printf "payload connection=%d thread=1 ts_ns=%d direction=0 len=7 data=\"+PONG\\x0d\\x0a\"\n", i, t + 40000
	}
	print "end {\"complete\":true}"
}' | "$TOP/$B/tests/tools/mkobz" open.obz
within 290 query "SELECT count(*), sum(paired), count(DISTINCT connection_id) FROM message" open.obz --csv; echo "exit $?"
