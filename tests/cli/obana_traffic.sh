# Traffic of a web server, of its client on another host (whose clock is an hour ahead), of a sampled capture and one thinned out to hold --cpu-budget: figures,
# filters, formats, hostile names.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
for n in server client sampled thinned; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
cat >services.csv <<'C'
# who is who
cidr-or-ip,service,region,cluster
10.0.0.0/8,inside
10.0.0.3:6379,"cache, ""main""",eu,one
10.1.0.0/16,"evil<&>\"
2001:db8::/32,six
C
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

run traffic server.obz
run traffic server.obz --services services.csv --by endpoint,caller
run traffic server.obz --rare --limit 2
run traffic server.obz --interval 2s --limit 1 --by caller,peer
run traffic server.obz --role client --csv
run traffic server.obz --errors --json --by endpoint
run traffic server.obz --from 2s --to 3s --by protocol
run traffic server.obz --peer '10.1.*' --by call
run traffic server.obz --service NGINX --by protocol
run traffic sampled.obz
# 80 requests, of which 52 were kept
run traffic thinned.obz --by peer,endpoint
run traffic thinned.obz --by protocol --interval 5s
run topology thinned.obz
run report thinned.obz
run query "SELECT service, calls FROM endpoint" thinned.obz
run query "SELECT client, calls FROM edge ORDER BY 1" thinned.obz
run query "SELECT * FROM scaling" thinned.obz sampled.obz
run export prometheus thinned.obz -o - | grep -E '_(requests_total|seconds_count)'
run messages server.obz --status 5xx
run messages server.obz --limit 2 --csv
run messages server.obz --peer 10.1.0.7 --json
columns=$($obana query "SELECT * FROM exchange LIMIT 0" server.obz --csv | sed 's/,/, /g')
$obana messages --help | tr -s ' \n' ' ' | grep -F ": ${columns:?}. " >/dev/null || echo "help of messages does not name the columns $columns"
run messages server.obz --slower 1700us --protocol http --format 'latency_ns,target'
run messages server.obz --connection 3 --format '%{method} %{target}\t%{status} 100%%'
run report server.obz
# a call recorded at both ends is a row of what stands out, and not the client's
$obana report server.obz client.obz 2>/dev/null | sed -n '/^Findings/,/^$/p; /as client/,/^$/p'
# in the page, traffic comes first, with the map of services
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt"
$obana report server.obz small.obz --html=- 2>/dev/null | grep -o '<h2[^>]*>[^<]*\|<h3>Calls [^<]*\|<svg class="[a-z]*"' | sed 's/.*>//'
run show services server.obz client.obz
run query "SELECT * FROM endpoint" server.obz
run query "SELECT * FROM edge" server.obz client.obz --services services.csv
run query "SELECT low, high, sum(count) FROM latency_histogram GROUP BY low" server.obz
# exported as well: edges; endpoints are not told apart by connection
$obana report server.obz client.obz --sqlite=both.sqlite >/dev/null 2>&1; $obana export sqlite server.obz client.obz -o too.sqlite 2>/dev/null
for f in both too; do sqlite3 $f.sqlite "SELECT client, server, protocol, calls FROM edge ORDER BY 1, 2, 3; SELECT * FROM endpoint ORDER BY 1, 2, 3, 4, 5"; done | cat -v
# what is added up while loading is what the messages say, to 0.4 %
run query "WITH call AS (SELECT m.*, c.role, CASE c.role WHEN 'server' THEN c.service ELSE c.peer END AS service FROM message m
		JOIN connection c ON c.id = m.connection_id),
	ranked AS (SELECT *, row_number() OVER w AS rank, count(latency_ns) OVER g AS cnt FROM call
		WINDOW g AS (PARTITION BY protocol, role, service, method, target), w AS (g ORDER BY latency_ns NULLS LAST)),
	x AS (SELECT protocol, role, service, method, target, sum(is_call) AS calls, sum(is_error) AS errors,
		max(CASE WHEN (rank - 1) * 100 < cnt * 50 THEN latency_ns END) AS p50_ns,
		max(CASE WHEN (rank - 1) * 100 < cnt * 99 THEN latency_ns END) AS p99_ns, sum(request_bytes + response_bytes) AS bytes
		FROM ranked GROUP BY 1, 2, 3, 4, 5)
	SELECT count(*), sum(x.calls <> e.calls OR x.errors <> e.errors OR x.bytes <> e.bytes),
	sum(abs(x.p50_ns - e.p50_ns) > 0.004 * x.p50_ns), sum(abs(x.p99_ns - e.p99_ns) > 0.004 * x.p99_ns)
	FROM x JOIN endpoint e ON x.role IS e.role AND x.service = e.service AND x.protocol = e.protocol AND x.method IS e.method AND
	x.target IS e.target" server.obz
# usage
run traffic
run traffic server.obz --by nothing
run traffic server.obz --rare --interval 1s
run traffic server.obz --interval 5
run traffic server.obz --role both
run messages server.obz --format 'method,nothing'
run messages server.obz --format '%q'
run messages server.obz --limit 0
run traffic server.obz --services missing.csv
for line in '10.0.0.0/33,x' '10.0.0.1' '10.0.0.1:0,x' 'host,x' '"10.0.0.1,x' '10.0.0.1,a,b,c,d' '10.0.0.1,'; do
	printf '1.2.3.4,ok\n%s\n' "$line" >bad.csv
	run traffic server.obz --services bad.csv
done

# Two connections with a request outstanding at all times, one of which was open before the capture: reports say that its calls have no latency
python3 - >late.obt <<'P'
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}')
print('process id=1 pid=10 ppid=1 started_ns=1 comm=shop exe=/shop')
rows = []
for n in (1, 2):
    opened = "opened_ns=1000500000" if n == 2 else ""
    print(f"connection id={n} process=1 cookie={n} transport=6 local_addr=10.0.0.1 local_port={5000 + n} remote_addr=10.0.0.9 remote_port=6379 role=1 {opened} sampled=1")
    ask, answer = "*2\\x0d\\x0a$3\\x0d\\x0aGET\\x0d\\x0a$1\\x0d\\x0ak\\x0d\\x0a", "$1\\x0d\\x0av\\x0d\\x0a"
    at = [0, 0]
    def put(t, d, text):
        length = len(text.replace("\\x0d", "R").replace("\\x0a", "N"))
        rows.append((t, f'payload connection={n} ts_ns={t} direction={d} position={at[d]} len={length} data="{text}"'))
        at[d] += length
    t = 1100000000 + n
    put(t, 0, ask)
    for i in range(100):
        t += 1000000
        put(t, 0, ask)
        put(t + 300000, 1, answer)
    put(t + 600000, 1, answer)
print("flush", *[r for _, r in sorted(rows)], 'end {"complete":true,"stop_reason":"duration","duration_ns":5000000000,"losses":[]}', sep="\n")
P
"$TOP/$B/tests/tools/mkobz" late.obz <late.obt || exit 1
for c in report traffic topology; do $obana $c late.obz | grep ^Pairing || echo "$c does not say it"; done
$obana messages late.obz --csv 2>&1 >/dev/null
run query "SELECT * FROM late" late.obz
$obana traffic late.obz --connection 2 | grep ^Pairing || echo "connection 2 is whole"
