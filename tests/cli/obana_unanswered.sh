# Requests of connections that ended: "no answer" only where all that came back is known; what may stay unanswered is one-way.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
n=0
# conn NAME CLOSE BYTES-RECEIVED REQUEST LEN [RESPONSE LEN]: a client's connection to a service of that name, asked at 1 s
conn() {
	n=$((n + 1))
	echo "process id=$n pid=$n ppid=1 started_ns=1 comm=$1 exe=/$1
connection id=$n process=$n cookie=$n transport=6 local_addr=10.0.0.9 local_port=$((5000 + n)) remote_addr=10.0.0.1 remote_port=80 role=1 opened_ns=900000000 netns=1 sampled=1
connection_stat connection=$n ts_ns=2500000000 bytes_sent=$5 sends=1 bytes_received=$3 receives=1"
	[ -z "$2" ] || echo "connection_close connection=$n closed_ns=2500000000 $2"
	payload+="payload connection=$n thread=1 ts_ns=1000000000 direction=0 position=0 data=\"$4\" len=$5
"
	[ -z "${6-}" ] || payload+="payload connection=$n thread=1 ts_ns=1100000000 direction=1 position=0 data=\"$6\" len=$7
"
}
get='GET /a HTTP/1.1\x0d\x0aHost: a\x0d\x0a\x0d\x0a'
ok='HTTP/1.1 200 OK\x0d\x0aContent-Length: 0\x0d\x0a\x0d\x0a'
redis() { echo "*2\\x0d\\x0a\$${#1}\\x0d\\x0a$1\\x0d\\x0a\$1\\x0d\\x0ak\\x0d\\x0a"; }
{
	echo 'header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}'
	{
		conn answered how=0 38 "$get" 28 "$ok" 38
		conn open "" 0 "$get" 28
		conn closed how=0 0 "$get" 28
		conn closed-older " " 0 "$get" 28
		conn reset how=1 0 "$get" 28
		conn timed-out how=2 0 "$get" 28
		conn unknown-how how=9 0 "$get" 28
		conn not-captured how=3 0 "$get" 28
		conn answer-lost how=0 38 "$get" 28
		conn second-only how=1 38 "$get$get" 56 "$ok" 38
		conn redis-get how=0 0 "$(redis GET)" 20
		conn redis-blpop how=0 0 "$(redis BLPOP)" 22
		conn redis-monitor how=0 0 "$(redis MONITOR)" 24
		echo flush
		echo "$payload"
	}
	echo 'end {"complete":true,"stop_reason":"duration","duration_ns":3000000000,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" a.obz || exit 1
"$OBANA" query a.obz "SELECT p.comm, method, status, is_error, paired, oneway FROM message m JOIN connection c ON c.id = connection_id JOIN process p ON p.id = process_id ORDER BY m.id" --csv
echo "calls, errors, unpaired"; "$OBANA" query a.obz "SELECT service, calls, errors, unpaired FROM figure WHERE level = 'endpoint' ORDER BY 1" --csv
echo "only the time in which was asked"; "$OBANA" query a.obz --to 500ms "SELECT count(*) FROM message WHERE status LIKE 'no answer%'" --csv
"$OBANA" messages a.obz --errors | head -n 3
