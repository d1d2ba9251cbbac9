# Two archives of the two ends of a connection become one edge; pictures and metrics of hostile names.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
for n in server client sampled; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
printf '10.0.0.3:6379,"cache <&> ""x"""\n' >services.csv
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

run topology server.obz
run topology server.obz client.obz
run topology client.obz server.obz --services services.csv --json
run topology server.obz --services services.csv --dot
run topology server.obz client.obz --services services.csv --svg
run topology server.obz client.obz --focus 10.1.0.7 --depth 1
run topology server.obz --focus nginx --depth 1 # of a container
run topology server.obz --focus 'nobody'
run topology server.obz --depth 0
run topology
run export prometheus server.obz --services services.csv -o -
run export prometheus sampled.obz -o -
# well-formed, and what promtool accepts where it is installed
$obana topology server.obz client.obz --svg -o t.svg 2>/dev/null && python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("t.svg")' || echo "bad SVG"
$obana topology server.obz client.obz --json | python3 -m json.tool >/dev/null || echo "bad JSON"
$obana export prometheus server.obz -o m.prom 2>/dev/null
if command -v promtool >/dev/null; then promtool check metrics <m.prom || echo "promtool objects"; fi

# a process has the name of its listener for the calls it makes, too; of two listeners, that of the lower port
cat >chain.obt <<'C'
header {"host":"chain","kernel":"6.1.0","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000,"boottime_ns":5000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}
process id=1 pid=71 comm=nginx
process id=2 pid=72 comm=node
connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.1 local_port=80 remote_addr=10.0.0.9 remote_port=40001 role=2 opened_ns=5100000000 netns=1 sampled=1
connection id=2 process=1 cookie=2 transport=6 local_addr=10.0.0.1 local_port=40002 remote_addr=10.0.0.1 remote_port=8080 role=1 opened_ns=5100000000 netns=1 sampled=1
connection id=3 process=2 cookie=3 transport=6 local_addr=10.0.0.1 local_port=8080 remote_addr=10.0.0.1 remote_port=40002 role=2 opened_ns=5100000000 netns=1 sampled=1
connection id=4 process=2 cookie=4 transport=6 local_addr=10.0.0.1 local_port=40003 remote_addr=10.0.0.1 remote_port=6379 role=1 opened_ns=5100000000 netns=1 sampled=1
connection id=5 process=2 cookie=5 transport=6 local_addr=10.0.0.1 local_port=9090 remote_addr=10.0.0.9 remote_port=40004 role=2 opened_ns=5100000000 netns=1 sampled=1
flush
payload connection=1 ts_ns=6000000000 direction=1 position=0 len=18 data="GET / HTTP/1.1\x0d\x0a\x0d\x0a"
payload connection=2 ts_ns=6001000000 direction=0 position=0 len=18 data="GET / HTTP/1.1\x0d\x0a\x0d\x0a"
payload connection=3 ts_ns=6002000000 direction=1 position=0 len=18 data="GET / HTTP/1.1\x0d\x0a\x0d\x0a"
payload connection=4 ts_ns=6003000000 direction=0 position=0 len=22 data="*2\x0d\x0a$3\x0d\x0aGET\x0d\x0a$3\x0d\x0aa:1\x0d\x0a"
payload connection=4 ts_ns=6004000000 direction=1 position=0 len=8 data="$2\x0d\x0aok\x0d\x0a"
payload connection=3 ts_ns=6005000000 direction=0 position=0 len=38 data="HTTP/1.1 200 OK\x0d\x0aContent-Length: 0\x0d\x0a\x0d\x0a"
payload connection=2 ts_ns=6006000000 direction=1 position=0 len=38 data="HTTP/1.1 200 OK\x0d\x0aContent-Length: 0\x0d\x0a\x0d\x0a"
payload connection=1 ts_ns=6007000000 direction=0 position=0 len=38 data="HTTP/1.1 200 OK\x0d\x0aContent-Length: 0\x0d\x0a\x0d\x0a"
payload connection=5 ts_ns=6008000000 direction=1 position=0 len=18 data="GET / HTTP/1.1\x0d\x0a\x0d\x0a"
payload connection=5 ts_ns=6009000000 direction=0 position=0 len=38 data="HTTP/1.1 200 OK\x0d\x0aContent-Length: 0\x0d\x0a\x0d\x0a"
flush
end {"complete":true,"stop_reason":"duration","duration_ns":10000000000,"losses":[],"programs":[]}
C
"$TOP/$B/tests/tools/mkobz" chain.obz <chain.obt || exit 1
cat >chain.csv <<'C'
10.0.0.1,host
10.0.0.1:80,front
10.0.0.1:8080,app
10.0.0.1:9090,metrics
10.0.0.1:6379,cache
C
sed 1d chain.csv >listeners.csv
for services in chain.csv listeners.csv; do
	$obana query chain.obz --services $services "SELECT client, server, calls FROM edge ORDER BY 1, 2" --csv
done

# An edge shows one side's latency, and which: the client's, even where some of its calls are unpaired, unless the server paired twice as
# many; the share of unpaired calls is of that side; a time in the network below 0 is none
side() {
	grep -vE "$2" "$TOP/tests/cli/traffic-client.obt" | "$TOP/$B/tests/tools/mkobz" part.obz || exit 1
	for to in --json --dot; do $obana topology server.obz part.obz $to | grep -E 'app.u001b.*"http"|app.x1b|http.*p50'; done | sed "s/^/$1: /"
}
side whole '^NONE'
side "a few missing" 'direction=1 .*position=(84|168|336) '
side "most missing" 'direction=1 position=[0-9]{2,} '
sed -E 's/^(payload connection=1 .* ts_ns=[0-9]+)0([0-9]{7} direction=0)/\19\2/' "$TOP/tests/cli/traffic-server.obt" | "$TOP/$B/tests/tools/mkobz" slow.obz || exit 1
$obana query "SELECT client_ns < server_ns FROM flow WHERE client_ns" slow.obz client.obz --csv
$obana topology slow.obz client.obz --json | grep -c '"network_ns":-'
$obana topology slow.obz client.obz | grep -c -- ' -[0-9]'
:
