# What was lost at one end makes no calls of halves: a request alone and a response alone count once, in figures, edges and rows alike;
# the tables say which share of the calls is unpaired; of two ends the one that saw more is believed; time is of timed calls only.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
# A client keeps four requests on their way on one connection, 200 in all, each tenth fails; the server's end lost requests and responses
# here and there. Beside it DNS, which pairs by id: there a query alone and an answer alone are two calls.
cat >make.py <<'P'
import sys
def header(host): return 'header {"host":"%s","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}' % host
client = ["connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.1 local_port=4000 remote_addr=10.0.0.2 remote_port=80 role=1 opened_ns=1000000000 sampled=1"]
server = ["connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.2 local_port=80 remote_addr=10.0.0.1 remote_port=4000 role=2 opened_ns=1000000000 sampled=1"]
at, sent, lost = [0, 0], 0, 0
def put(t, response, text):
    global lost
    length = len(text.replace("\\x0d", "R").replace("\\x0a", "N"))
    row = 'payload connection=1 ts_ns=%d direction=%d position=%d len=%d data="%s"'
    client.append(row % (t, response, at[response], length, text))
    n = len(client)
    if 60 <= n < 66 or n in (120, 121, 201, 203, 290): lost += 1
    else: server.append(row % (t, 1 - response, at[response], length, text))
    at[response] += length
t = 1100000000
def ask():
    global sent, t
    t += 1000000
    put(t, 0, "GET /item HTTP/1.1\\x0d\\x0aHost: s\\x0d\\x0a\\x0d\\x0a")
    sent += 1
for i in range(4): ask()
for i in range(200):
    t += 1000000
    put(t, 1, "HTTP/1.1 %d X\\x0d\\x0aContent-Length: 0\\x0d\\x0a\\x0d\\x0a" % (500 if i % 10 == 9 else 200))
    if sent < 200: ask()
def dns(n, answer, id): return f'payload connection=2 ts_ns={2000000000 + n * 1000000} direction={answer} position={n * 22 + (22 if n > 1 else 0)} flags=1 len=22 data="\\x00\\x{id:02x}\\x{"81" if answer else "01"}\\x{"80" if answer else "00"}\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x01a\\x02de\\x00\\x00\\x01\\x00\\x01"'
dns_rows = ["connection id=2 process=1 cookie=2 transport=17 local_addr=10.0.0.1 local_port=5353 remote_addr=10.0.0.3 remote_port=53 role=1 opened_ns=1000000000 sampled=1",
    "flush", dns(0, 0, 1), dns(1, 1, 2)]
for name, comm, rows, more, n in (("client", "shop", client, [], 0), ("server", "web", server, [], lost), ("dns", "ask", [], dns_rows, 2)):
    losses = ['loss ts_ns=3000000000 source=ring cause="payload: ring buffer full" count=%d' % n] if n else []
    end = 'end {"complete":true,"stop_reason":"duration","duration_ns":2000000000,"losses":[%s]}' % ('{"source":"ring","cause":"payload: ring buffer full","count":%d}' % n if n else "")
    with open(name + ".obt", "w") as f:
        print(header(name), f"process id=1 pid=10 ppid=1 started_ns=1 comm={comm} exe=/{comm}", *rows[:1], "flush", *rows[1:], *more, "flush", *losses, end, sep="\n", file=f)
P
python3 make.py && for n in client server dns; do "$TOP/$B/tests/tools/mkobz" $n.obz <$n.obt || exit 1; done
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

run traffic client.obz --by protocol
run traffic server.obz --by protocol,endpoint
run traffic server.obz --rare --limit 1
run topology server.obz
run report server.obz | sed -n '/^Losses/p; /: protocols/,/^$/p'
run traffic server.obz --by protocol --csv
run traffic server.obz --by protocol --errors --csv
run traffic dns.obz --by protocol
echo "rows and figures agree"
for n in client server dns; do
	$obana query "SELECT (SELECT sum(is_call) FROM message) - sum(calls) AS calls, (SELECT sum(is_error) FROM message) - sum(errors) AS errors,
		(SELECT sum(request_bytes + response_bytes) FROM message) - sum(bytes) AS bytes, (SELECT sum(is_call AND NOT paired) FROM message) -
		sum(unpaired) AS unpaired, (SELECT count(*) FROM message) > sum(calls) AS halves FROM endpoint" $n.obz --csv | tail -n 1
done
run diff client.obz server.obz
run diff client.obz server.obz --endpoints --csv
run export prometheus server.obz -o - | grep -E '^>|unpaired|_requests_total|_seconds_count'
run query "SELECT client, server, calls, errors, unpaired, p50_ns FROM edge" client.obz server.obz
run query "SELECT client, server, calls, errors, unpaired, p50_ns FROM edge" server.obz client.obz

# Sets that are not answered beside those that are: the time of the latter alone.
mem() { # NAME: sets without an answer
	python3 - $1 <<'P' | "$TOP/$B/tests/tools/mkobz" mem$1.obz
import sys
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}')
print("process id=1 pid=10 ppid=1 started_ns=1 comm=cache exe=/cache")
print("connection id=1 process=1 cookie=1 transport=6 local_addr=10.0.0.1 local_port=11211 remote_addr=10.0.0.9 remote_port=4000 role=2 opened_ns=1000000000 sampled=1\nflush")
at, t = [0, 0], 1100000000
def put(d, text):
    global t
    t += 10000000
    length = len(text.replace("\\x0d", "R").replace("\\x0a", "N"))
    print(f'payload connection=1 ts_ns={t} direction={d} position={at[d]} len={length} data="{text}"')
    at[d] += length
for i in range(4):
    put(1, "set k 0 0 1\\x0d\\x0av\\x0d\\x0a"); put(0, "STORED\\x0d\\x0a")
    for k in range(int(sys.argv[1])): put(1, "set k 0 0 1 noreply\\x0d\\x0av\\x0d\\x0a")
print('end {"complete":true,"stop_reason":"duration","duration_ns":1000000000,"losses":[]}')
P
}
mem 0; mem 5
run diff --endpoints mem0.obz mem5.obz --csv

echo "what a loss affects"
lose() { # SOURCE CAUSE: of a capture with samples, of one with traffic
	for f in small traffic-server; do
		sed "/^loss /d; s|\"losses\":\[[^]]*\]|\"losses\":[{\"source\":\"$1\",\"cause\":\"$2\",\"count\":2}]|" "$TOP/tests/cli/$f.obt" | "$TOP/$B/tests/tools/mkobz" lost.obz
		echo "$1, $2: $($obana report lost.obz | grep ^Losses) $($obana report lost.obz | grep -c "^    2.*$1  *$2") $($obana traffic lost.obz | grep -c ^Losses)"
		case $f in small) draw=flamegraph ;; *) draw="topology --svg" ;; esac
		echo "    $draw: $($obana $draw lost.obz -o - 2>&1 | grep -o '[0-9]\+ \([a-z ]* lost\|losses of [a-z ]*\)' || echo "nothing lost")"
	done
}
lose target "mappings not readable (CAP_SYS_PTRACE)"
lose "unwind table" "malformed"
lose ring "sample: ring buffer full"
lose ring "payload: ring buffer full"
lose ring "event: ring buffer full"
lose tls "library: cannot attach"
lose l7 "datagram: sender, before its calls were traced"
lose l4 "call counted twice: too many sockets shared by processes"
lose l4 "socket table full"
lose host "a reading timed out"
lose somewhere "somehow"
