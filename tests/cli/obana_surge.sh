# Found in many: a caller seen three times among 200,000 requests is first under --rare; of a surge --interval shows when and from
# whom; metrics keep promtool's rules and give sampling back; every edge is what messages and connections add up to.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/bench/traffic" rare.obz http 200000 5000 1 3 || exit 1
echo "rarest callers:"
$obana traffic rare.obz --rare --json 2>/dev/null | python3 -c '
import json, sys
t = json.load(sys.stdin)
for r in t["caller"][:2]: print(r["peer"] if r["calls"] == 3 else "another", r["calls"] if r["calls"] == 3 else "with more")
print("of", sum(r["calls"] for r in t["caller"]), "requests")
'
$obana traffic rare.obz --rare | sed -n '/^Rarest callers/,/^$/p' | sed -n 3p | awk '{ print $2, $NF }'

# 5 seconds of 20 requests each by a, 10 by b; in the third second c sends 300
python3 - >surge.obt <<'P'
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}')
print('process id=1 pid=10 ppid=1 started_ns=1 comm=shop exe=/shop')
for n in (1, 2, 3):
    print(f"connection id={n} process=1 cookie={n} transport=6 local_addr=10.0.0.1 local_port=80 remote_addr=10.0.0.{n + 10} remote_port={4000 + n} role=2 opened_ns=1000000000 sampled=1")
rows, stats, at = [], [], {1: [0, 0], 2: [0, 0], 3: [0, 0]}
for second in range(5):
    for n, cnt in ((1, 20), (2, 10), (3, 300 if second == 2 else 0)):
        moved = [0, 0]
        for i in range(cnt):
            t = 1000000000 + second * 1000000000 + i * 3000000 + n * 1000
            for d, text, later in ((1, "GET /buy HTTP/1.1\\x0d\\x0aHost: s\\x0d\\x0a\\x0d\\x0a", 0), (0, "HTTP/1.1 200 X\\x0d\\x0aContent-Length: 0\\x0d\\x0a\\x0d\\x0a", 500000)):
                length = len(text.replace("\\x0d", "R").replace("\\x0a", "N"))
                rows.append((t + later, f'payload connection={n} ts_ns={t + later} direction={d} position={at[n][d]} len={length} data="{text}"'))
                at[n][d] += length
                moved[d] += length
        if cnt:
            stats.append(f"connection_stat connection={n} ts_ns={1900000000 + second * 1000000000} bytes_sent={moved[0]} bytes_received={moved[1]} sends={cnt} receives={cnt}")
print("flush", *[r for _, r in sorted(rows)], "flush", *stats, 'end {"complete":true,"stop_reason":"duration","duration_ns":5000000000,"losses":[]}', sep="\n")
P
"$TOP/$B/tests/tools/mkobz" surge.obz <surge.obt || exit 1
echo "by the second, who asks:"; $obana traffic surge.obz --interval 1s --by caller
echo "the report begins with it:"; $obana report surge.obz | sed -n '/^Surge/p; /^Findings/,/^$/p; /over time/,/^$/p'; $obana show surges surge.obz --json
echo "bytes, most first:"; $obana traffic surge.obz --interval 1s --by peer --limit 1 | sed -n '/^TIME/,$p'

# edges again, from the rows of messages and connections alone
for n in server client; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
python3 "$TOP/tests/tools/mesh.py" 30 . && "$TOP/$B/tests/tools/mkobz" mesh.obz <mesh.obt || exit 1
again='WITH m AS (
	SELECT CASE c.role WHEN "server" THEN ifnull(m.peer, c.peer) ELSE c.service END AS client,
		CASE c.role WHEN "server" THEN c.service ELSE ifnull(m.peer, c.peer) END AS server, m.protocol, m.is_error,
		m.request_bytes + m.response_bytes AS bytes, m.latency_ns, m.is_call
	FROM message m JOIN connection c ON c.id = m.connection_id WHERE c.counted),
ranked AS (
	SELECT *, row_number() OVER (PARTITION BY client, server, protocol ORDER BY latency_ns) AS place,
		count(latency_ns) OVER (PARTITION BY client, server, protocol) AS timed FROM m WHERE latency_ns IS NOT NULL),
own AS (
	SELECT client, server, protocol, sum(is_call) AS calls, sum(is_error) AS errors, sum(bytes) AS bytes,
		(SELECT min(latency_ns) FROM ranked r WHERE r.client = m.client AND r.server = m.server AND r.protocol = m.protocol
			AND place >= timed * 0.5) AS p50_ns,
		(SELECT min(latency_ns) FROM ranked r WHERE r.client = m.client AND r.server = m.server AND r.protocol = m.protocol
			AND place >= timed * 0.99) AS p99_ns
	FROM m GROUP BY client, server, protocol),
said AS (SELECT client, server, protocol, calls, errors, bytes, p50_ns, p99_ns FROM edge WHERE calls)
SELECT (SELECT count(*) FROM said) AS edges, (SELECT sum(calls) FROM said) AS calls,
	(SELECT count(*) FROM (SELECT * FROM own EXCEPT SELECT * FROM said)) AS missing,
	(SELECT count(*) FROM (SELECT * FROM said EXCEPT SELECT * FROM own)) AS wrong'
for what in "server.obz client.obz" server.obz mesh.obz surge.obz; do
	echo "edges of $what:"; $obana query "${again//\"/\'}" $what --csv | tail -n 1
done

# the rules of `promtool check metrics`, and of the format itself
cat >rules.py <<'P'
import re, sys
text = sys.stdin.read()
assert text.endswith("\n")
types, helps, seen, last, buckets = {}, {}, set(), None, {}
for line in text.splitlines():
    if line.startswith("# "):
        _, what, name, rest = line.split(" ", 3)
        assert re.fullmatch(r"[a-z_:][a-z0-9_:]*", name) and name not in (types if what == "TYPE" else helps), line
        (types if what == "TYPE" else helps)[name] = rest
        if what == "TYPE":
            assert name in helps, "no help: " + name
            last = name
            assert rest in ("counter", "gauge", "histogram")
            assert (rest == "counter") == name.endswith("_total"), "counters, and only they, end in _total: " + name
            assert not re.search(r"_(milliseconds|ms|ns|kilobytes|minutes)(_|$)|_(info|sum|count|bucket)$", name), "base units: " + name
        continue
    m = re.fullmatch(r'([a-z_:][a-z0-9_:]*)\{((?:[a-z_][a-z0-9_]*="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (\S+)', line)
    assert m, line
    name, labels, value = m[1], m[2], float(m[3])
    base = re.sub(r"_(bucket|sum|count)$", "", name) if types[last] == "histogram" else name
    assert base == last, "families stand together: " + line
    assert (name, labels) not in seen, "twice: " + line
    assert value >= 0
    seen.add((name, labels))
    if types[last] == "histogram":
        key = (base, re.sub(r'(?:^|,)le="[^"]*"', "", labels))
        b = buckets.setdefault(key, {"le": []})
        if name.endswith("_bucket"):
            b["le"].append((float(re.search(r'(?:^|,)le="([^"]*)"', labels)[1].replace("+Inf", "inf")), value))
        else:
            b[name[len(base):]] = value
for key, b in buckets.items():
    assert b["le"] == sorted(b["le"]) and [v for _, v in b["le"]] == sorted(v for _, v in b["le"]), key
    assert b["le"][-1][0] == float("inf") and b["le"][-1][1] == b["_count"] and "_sum" in b, key
print(len(types), "families,", len(seen), "values,", len(buckets), "histograms")
P
"$TOP/$B/tests/tools/mkobz" sampled.obz <"$TOP/tests/cli/traffic-sampled.obt" || exit 1
echo "of what fails, a part"; $obana report mesh.obz --limit 5 | sed -n '/^Findings: failing/,/^$/p'
for what in server.obz sampled.obz mesh.obz surge.obz; do
	$obana export prometheus $what -o m.prom 2>/dev/null && python3 rules.py <m.prom || echo "rules broken by $what"
	if command -v promtool >/dev/null; then promtool check metrics <m.prom >promtool.out 2>&1 || { echo "promtool objects to $what"; cat promtool.out; }; fi
done
echo "sampling given back:"
$obana query "SELECT sum(calls) AS calls, (SELECT count(*) FROM message) AS kept FROM figure WHERE level = 'method'" sampled.obz --csv
$obana export prometheus sampled.obz -o - 2>/dev/null | sed -n 's/^obana_requests_total{.*} //p' | awk '{ n += $1 } END { print n }'
$obana export prometheus sampled.obz -o - 2>/dev/null | grep -E '^# HELP obana_requests_total|_count\{'

# One of six steady callers, 60 requests a second, doubles from 22:13:32 on; a line tells who, from what to what, and when. What is as
# uneven from second to second for all is not told, nor what starts high.
python3 - >double.obt <<'P'
print('header {"host":"h","kernel":"6.1","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":1000000000,"realtime_ns":1700000000000000000,"boottime_ns":1000000000},"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}')
print('process id=1 pid=10 ppid=1 started_ns=1 comm=shop exe=/shop')
for n in range(6):
    print(f"connection id={n + 1} process=1 cookie={n + 1} transport=6 local_addr=10.0.0.1 local_port=80 remote_addr=10.0.0.{n + 20} remote_port={4000 + n} role=2 opened_ns=1000000000 sampled=1")
rows, at = [], [[0, 0] for _ in range(6)]
for second in range(20):
    for n in range(6):
        cnt = (120 if second >= 12 else 60) if n == 3 else (20, 140)[second * 7 % 5 % 2] if n == 4 else 200 - 60 * (second > 5) if n == 5 else 60
        for i in range(cnt):
            t = 1000000000 + second * 1000000000 + i * 4000000 + n * 1000
            for d, text, later in ((1, "GET /buy HTTP/1.1\\x0d\\x0aHost: s\\x0d\\x0a\\x0d\\x0a", 0), (0, "HTTP/1.1 200 X\\x0d\\x0aContent-Length: 0\\x0d\\x0a\\x0d\\x0a", 500000)):
                length = len(text.replace("\\x0d", "R").replace("\\x0a", "N"))
                rows.append((t + later, f'payload connection={n + 1} ts_ns={t + later} direction={d} position={at[n][d]} len={length} data="{text}"'))
                at[n][d] += length
print("flush", *[r for _, r in sorted(rows)], 'end {"complete":true,"stop_reason":"duration","duration_ns":20000000000,"losses":[]}', sep="\n")
P
"$TOP/$B/tests/tools/mkobz" double.obz <double.obt || exit 1
$obana report double.obz | grep '^Surge'
