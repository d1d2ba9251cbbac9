# A process that two archives of one host recorded at the same time (obrec -a and -p) counts once; archives that recorded one after the
# other add up; so do hosts that were started again.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
cat >make.py <<'P'
import re, sys
# server.py NAME FROM_MS TO_MS CONNECTIONS BOOT: what an archive of that time and of those connections would have of traffic-server.obt
source, start, end, keep, boot = sys.argv[1], int(sys.argv[2]) * 10**6, int(sys.argv[3]) * 10**6, sys.argv[4].split(","), int(sys.argv[5])
number = lambda line, key: int(re.search(rf" {key}=(\d+)", line).group(1))
for line in open(source):
    if line.startswith("header"):
        line = re.sub('"started_at_ns":17[0-9]*', f'"started_at_ns":{1700000000 * 10**9 + start - 5 * 10**9}', line)
        line = line.replace('"monotonic_ns":5000000000', f'"monotonic_ns":{start - boot}').replace('"realtime_ns":1700000000000000000', f'"realtime_ns":{1700000000 * 10**9 + start - 5 * 10**9}')
        line = line.replace('"options":{', '"options":{"payload_max":4096,', 1)
    elif line.startswith("connection "):
        if line.split()[1][3:] not in keep: continue
        if number(line, "opened_ns") < start: line = re.sub("opened_ns=[0-9]*", "opened_ns=0", line)
        if number(line, "opened_ns") > end: continue
    elif line.startswith(("payload", "connection_stat", "connection_close")):
        at = number(line, "closed_ns" if line.startswith("connection_close") else "ts_ns")
        key = "id" if line.startswith("connection_close") and " id=" in line else "connection"
        if str(number(line, key)) not in keep or not start <= at < end: continue
    elif line.startswith("end "):
        line = f'end {{"complete":true,"stop_reason":"duration","duration_ns":{end - start},"losses":[]}}\n'
    line = re.sub(r"\b(connection|id|process|thread)=(\d+)", lambda m: f"{m[1]}={int(m[2]) + 100 * (len(keep) == 1)}", line) # other ids
    sys.stdout.write(line)
P
make() { python3 make.py "$TOP/tests/cli/traffic-server.obt" "$2" "$3" "$4" "${5:-0}" | "$TOP/$B/tests/tools/mkobz" "$1.obz" || exit 1; }
make all 5000 65000 1,2,3,4
make again 5000 65000 1,2,3,4
make one 5050 64900 1
make early 5000 7550 1,2,3,4
make late 7550 65000 1,2,3,4
make first 5000 10000 1,2,3,4
make over 7000 65000 1
make boot 5000 65000 1,2,3,4 3600000000000
figures() {
	for i; do set -- "$@" "$i.obz"; shift; done
	"$OBANA" query "SELECT (SELECT sum(calls) FROM figure WHERE level = 'endpoint') AS calls, (SELECT sum(errors) FROM figure WHERE level = 'endpoint') AS errors,
		(SELECT sum(calls) FROM flow) AS flow, (SELECT sum(calls) FROM rate) AS rate, (SELECT count(*) FROM message WHERE is_call) AS messages, count(*) AS connections,
		sum(bytes_received) AS bytes, (SELECT sum(bytes_received) FROM connection_stat) AS stats,
		(SELECT count(*) FROM message WHERE connection_id NOT IN (SELECT id FROM connection)) AS lost,
		(SELECT group_concat(connections) FROM twice) AS twice FROM connection" --csv "$@" 2>&1 | tail -n +2
}
for what in all one "all again" "again all" "all one" "one all" "one all again" "early late" "late early" "first over" "all boot"; do
	echo "$what: $(figures $what)"
done
"$OBANA" traffic all.obz one.obz | grep Twice
"$OBANA" report one.obz all.obz | grep Twice
"$OBANA" topology all.obz one.obz >both; "$OBANA" topology all.obz | diff - both
"$OBANA" messages all.obz one.obz 2>&1 >both | cut -c1-200; "$OBANA" messages all.obz | diff - both && echo same messages
"$OBANA" merge all.obz one.obz -o merged.obz && echo "merged: $("$OBANA" query "SELECT sum(calls) FROM flow" merged.obz --csv | tail -n 1)"
echo "> samples and events: of a thread at a moment once, in the first archive that has such of it"
# take NAME FROM_S THREAD < rows: recorded for 10 s from that moment on; THREAD is the id of what is thread 1 elsewhere
take() {
	{
		sed -n '/^header/p' "$TOP/tests/cli/small.obt"
		echo "process id=1 pid=100 comm=server"
		echo "thread id=$3 process=1 tid=100 comm=server"
		echo "thread id=$(($3 + 1)) process=1 tid=101 comm=worker"
		cat
		echo "end {\"complete\":true,\"stop_reason\":\"duration\",\"duration_ns\":10000000000,\"monotonic_ns\":$2000000000,\"losses\":[]}"
	} | "$TOP/$B/tests/tools/mkobz" "$1.obz" || exit 1
}
take wide 10 1 <<'END'
sample kind=1 ts_ns=12000000000 thread=1 count=1 value=10000000
open ts_ns=12000000000 thread=1 path=/a
END
take part 12 5 <<'END'
sample kind=1 ts_ns=12500000000 thread=5 count=2 value=20000000
sample kind=1 ts_ns=12500000000 thread=6 count=4 value=40000000
sample kind=2 ts_ns=13000000000 thread=5 count=8 value=80000000
sample kind=1 ts_ns=21000000000 thread=5 count=16 value=160000000
open ts_ns=13000000000 thread=5 path=/b
open ts_ns=13000000000 thread=6 path=/c
open ts_ns=21000000000 thread=5 path=/d
END
take after 21 1 <<'END'
sample kind=1 ts_ns=25000000000 thread=1 count=32 value=320000000
END
for what in wide part "wide part" "part wide" "wide after" "wide part after"; do
	files=(); for f in $what; do files+=("$f.obz"); done
	echo "$what: $("$OBANA" query "SELECT (SELECT sum(count) FROM sample), (SELECT group_concat(path, ' ') FROM open), (SELECT count(*) FROM sample)" --csv "${files[@]}" | tail -n +2)"
	"$OBANA" report "${files[@]}" | grep -E '^(Twice|cpu  )'
done
