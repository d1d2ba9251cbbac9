# Ends that have no addresses: Unix sockets and socketpairs recorded at both ends are one edge; each datagram of a server's one
# socket has a peer of its own, and equal ids of two clients are not mixed up.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
q() { echo "data=\"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01$1\\x02de\\x00\\x00\\x01\\x00\\x01\" len=22"; }
a() { echo "data=\"\\x12\\x34\\x81\\x8$2\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01$1\\x02de\\x00\\x00\\x01\\x00\\x01\" len=22"; }
get='data="*2\x0d\x0a$3\x0d\x0aGET\x0d\x0a$1\x0d\x0ak\x0d\x0a" len=20' ok='data="$1\x0d\x0av\x0d\x0a" len=7'
"$TOP/$B/tests/tools/mkobz" t.obz <<O
header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}
process id=1 pid=10 ppid=1 started_ns=1 comm=app exe=/app
process id=2 pid=20 ppid=1 started_ns=1 comm=cache exe=/cache
process id=3 pid=30 ppid=10 started_ns=1 comm=worker exe=/app
process id=4 pid=40 ppid=1 started_ns=1 comm=named exe=/named
connection id=1 process=1 cookie=100 transport=257 remote_addr=/run/c.sock role=1 opened_ns=1100000000 peer_pid=20 sampled=1
connection id=2 process=1 cookie=102 transport=257 remote_addr=/run/c.sock role=1 opened_ns=1100000100 peer_pid=20 sampled=1
connection id=3 process=2 cookie=103 transport=257 local_addr=/run/c.sock role=2 opened_ns=1100000050 peer_pid=10 sampled=1
connection id=4 process=2 cookie=101 transport=257 local_addr=/run/c.sock role=2 opened_ns=1100000150 peer_pid=10 sampled=1
connection id=5 process=1 cookie=200 transport=257 peer_pid=10 sampled=1
connection id=6 process=3 cookie=201 transport=257 peer_pid=10 sampled=1
connection id=7 process=3 cookie=202 transport=257 peer_pid=10 sampled=1
connection id=8 process=4 cookie=300 transport=17 local_addr=10.0.0.1 local_port=53 role=2 sampled=1
connection_stat connection=1 ts_ns=2000000000 bytes_sent=40 bytes_received=14 sends=2 receives=2
connection_stat connection=2 ts_ns=2000000000 bytes_sent=20 bytes_received=7 sends=1 receives=1
connection_stat connection=3 ts_ns=2000000000 bytes_sent=7 bytes_received=20 sends=1 receives=1
connection_stat connection=4 ts_ns=2000000000 bytes_sent=14 bytes_received=40 sends=2 receives=2
connection_stat connection=5 ts_ns=2000000000 bytes_sent=20 bytes_received=7 sends=1 receives=1
connection_stat connection=6 ts_ns=2000000000 bytes_sent=7 bytes_received=20 sends=1 receives=1
connection_stat connection=7 ts_ns=2000000000 bytes_sent=9 sends=1
flush
payload connection=1 thread=1 ts_ns=1200000000 direction=0 position=0 $get
payload connection=4 thread=1 ts_ns=1200001000 direction=1 position=0 $get
payload connection=4 thread=1 ts_ns=1200002000 direction=0 position=0 $ok
payload connection=1 thread=1 ts_ns=1200003000 direction=1 position=0 $ok
payload connection=2 thread=1 ts_ns=1300000000 direction=0 position=0 $get
payload connection=3 thread=1 ts_ns=1300001000 direction=1 position=0 $get
payload connection=3 thread=1 ts_ns=1300002000 direction=0 position=0 $ok
payload connection=2 thread=1 ts_ns=1300003000 direction=1 position=0 $ok
payload connection=1 thread=1 ts_ns=1400000000 direction=0 position=20 $get
payload connection=4 thread=1 ts_ns=1400001000 direction=1 position=20 $get
payload connection=4 thread=1 ts_ns=1400002000 direction=0 position=7 $ok
payload connection=1 thread=1 ts_ns=1400003000 direction=1 position=7 $ok
payload connection=5 thread=1 ts_ns=1500000000 direction=0 position=0 flags=32 $get
payload connection=6 thread=1 ts_ns=1500001000 direction=1 position=0 $get
payload connection=6 thread=1 ts_ns=1500002000 direction=0 position=0 $ok
payload connection=5 thread=1 ts_ns=1500003000 direction=1 position=0 $ok
payload connection=8 thread=1 ts_ns=1600000000 direction=1 position=0 flags=1 peer=10.0.0.7:4000 $(q a)
payload connection=8 thread=1 ts_ns=1600001000 direction=1 position=22 flags=1 peer=[2001:db8::8]:4000 $(q b)
payload connection=8 thread=1 ts_ns=1600002000 direction=0 position=0 flags=1 peer=[2001:db8::8]:4000 $(a b 0)
payload connection=8 thread=1 ts_ns=1600005000 direction=0 position=22 flags=1 peer=10.0.0.7:4000 $(a a 3)
end {"complete":true,"stop_reason":"duration","duration_ns":1000000000,"losses":[]}
O
printf '2001:db8::/32,six\n' >services.csv
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

run query "SELECT id & 255 AS id, other_id & 255 AS other, counted, service, peer FROM connection ORDER BY id" t.obz
run query "SELECT client, server, protocol, calls, errors, bytes FROM edge ORDER BY 1, 2, 3" t.obz
run messages t.obz --protocol dns --format peer,peer_addr,target,status,latency_ns,paired
run messages t.obz --peer six --services services.csv --format peer,peer_addr,target
run traffic t.obz --protocol dns --by caller --services services.csv --csv
