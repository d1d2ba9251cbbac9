# DNS recorded at both ends is one edge: a server's one socket against each client's, connected or not, in one archive or in two;
# ports used again, and those of another network namespace, are not mixed up.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
q="data=\"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01a\\x02de\\x00\\x00\\x01\\x00\\x01\" len=22"
a="data=\"\\x12\\x34\\x81\\x80\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01a\\x02de\\x00\\x00\\x01\\x00\\x01\" len=22"
head() { echo "header {\"host\":\"$1\",\"kernel\":\"6.1\",\"arch\":\"x86_64\",\"cpus\":2,\"version\":\"1\",\"started_at_ns\":$2,\"clock\":{\"monotonic_ns\":1000000000,\"realtime_ns\":$2,\"boottime_ns\":1000000000},\"argv\":[\"obrec\"],\"probes\":[\"l4\",\"l7\"],\"options\":{\"freq\":99},\"labels\":{}}"; }
end() { echo 'end {"complete":true,"stop_reason":"duration","duration_ns":3000000000,"losses":[]}'; }
# call CLIENT SERVER AT PEER N: one question, 300 us away, answered after 100 us; CLIENT or SERVER 0: not recorded
call() {
	[ $1 = 0 ] || echo "payload connection=$1 thread=1 ts_ns=$3 direction=0 position=$((22 * $5)) flags=1 peer=10.0.0.1:53 $q"
	[ $2 = 0 ] || echo "payload connection=$2 thread=1 ts_ns=$(($3 + 300000)) direction=1 position=$((22 * $6)) flags=1 peer=$4 $q"
	[ $2 = 0 ] || echo "payload connection=$2 thread=1 ts_ns=$(($3 + 400000)) direction=0 position=$((22 * $6)) flags=1 peer=$4 $a"
	[ $1 = 0 ] || echo "payload connection=$1 thread=1 ts_ns=$(($3 + 700000)) direction=1 position=$((22 * $5)) flags=1 peer=10.0.0.1:53 $a"
}
clients() {
	echo 'process id=1 pid=10 ppid=1 started_ns=1 comm=app exe=/app
process id=2 pid=20 ppid=1 started_ns=1 comm=job exe=/job
process id=3 pid=30 ppid=1 started_ns=1 comm=late exe=/late
process id=4 pid=40 ppid=1 started_ns=1 comm=jail exe=/jail
connection id=1 process=1 cookie=1 transport=17 local_addr=10.0.0.9 local_port=5000 remote_addr=10.0.0.1 remote_port=53 role=1 opened_ns=1100000000 netns=1 sampled=1
connection id=2 process=2 cookie=2 transport=17 local_addr=10.0.0.9 local_port=5001 role=1 opened_ns=1100000000 netns=1 sampled=1
connection id=3 process=3 cookie=3 transport=17 local_addr=10.0.0.9 local_port=5000 remote_addr=10.0.0.1 remote_port=53 role=1 opened_ns=3500000000 netns=1 sampled=1
connection id=4 process=4 cookie=4 transport=17 local_addr=127.0.0.1 local_port=5002 remote_addr=127.0.0.1 remote_port=53 role=1 opened_ns=1100000000 netns=7 sampled=1
connection_close connection=1 closed_ns=2000000000
connection_stat connection=4 ts_ns=2000000000 bytes_sent=22 sends=1'
}
server() { echo 'process id=8 pid=80 ppid=1 started_ns=1 comm=named exe=/named
connection id=8 process=8 cookie=8 transport=17 local_addr=10.0.0.1 local_port=53 role=2 netns=1 sampled=1
connection id=9 process=8 cookie=9 transport=17 local_addr=0.0.0.0 local_port=53 role=2 netns=1 sampled=1'; }
calls() { # which sides: client server
	call $((1 * $1)) $((8 * $2)) 1200000000 10.0.0.9:5000 0 0
	call $((1 * $1)) $((8 * $2)) 1300000000 10.0.0.9:5000 1 1
	call $((2 * $1)) $((8 * $2)) 1400000000 10.0.0.9:5001 0 2
	call $((3 * $1)) $((8 * $2)) 3600000000 10.0.0.9:5000 0 3
	call 0 $((8 * $2)) 3700000000 10.0.0.77:5000 0 4
}
mk() { "$TOP/$B/tests/tools/mkobz" "$1" || exit 1; }
{ head h 1700000000000000000; clients; server; echo flush; calls 1 1; end; } | mk both.obz
{ head c 1700003600000000000; clients; echo flush; calls 1 0; end; } | mk client.obz
{ head s 1700000000000000000; server; echo flush; calls 0 1; end; } | mk server.obz
edges="SELECT client, server, protocol, calls, errors, bytes, p50_ns FROM edge ORDER BY 1, 2, 3"
echo "both in one archive"; $obana query "$edges" both.obz --csv
echo "network and server told apart"; $obana query "SELECT client, client_ns, server_ns, client_ns - server_ns AS network_ns FROM flow WHERE calls ORDER BY 1" both.obz --csv
echo "two archives"; $obana query "$edges" client.obz server.obz --csv
echo "one of them"; $obana query "$edges" client.obz --csv; $obana query "$edges" server.obz --csv
echo "names"; $obana query "SELECT service, peer, count(*) FROM connection GROUP BY 1, 2" both.obz --csv
echo "callers of named"; $obana traffic both.obz --service named --by caller --csv 2>/dev/null | cut -d, -f2-5,9
