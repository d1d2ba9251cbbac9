#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""mesh.py SERVICES DIR: DIR/mesh.obt (for mkobz) and DIR/services.csv: so many services in tiers, two regions of two
clusters and some of none, HTTP and Redis, errors, a call back, one to itself, names that need escaping."""
import sys

cnt, out = int(sys.argv[1]), sys.argv[2]
state = cnt


def pick(of):
    """The same in every version of Python."""
    global state
    state = (state * 1103515245 + 12345) % (1 << 31)
    return of[(state >> 8) % len(of)]



tiers = max(2, min(5, cnt // 3))
tier = [min(tiers - 1, i * tiers // cnt) for i in range(cnt)]
names = ["%s-%d" % (["edge", "api", "logic", "store", "cache"][t], i) for i, t in enumerate(tier)]
names[-1] = '<b>db & "x"</b>'
names[cnt // 2] = "a-service-with-quite-a-long-name-" + "n" * 40


def address(i):
    return "10.0.%d.%d" % (i // 200, i % 200 + 1)


edges = []
for i in range(cnt):
    later = [j for j in range(cnt) if tier[j] == tier[i] + 1]
    for j in sorted({pick(later) for _ in range(pick([1, 1, 2, 3])) if later}):
        edges.append((i, j, "http" if tier[j] < tiers - 1 else pick(["http", "redis"])))
    if i and not any(e[1] == i for e in edges) and tier[i]:
        edges.append((pick([j for j in range(cnt) if tier[j] < tier[i]]), i, "http"))
edges.append((0, cnt - 1, "redis"))
if cnt > 3:
    edges += [(cnt - 2, 1, "http"), (cnt // 2, cnt // 2, "http"), (0, cnt - 1, "http")]

with open(out + "/services.csv", "w") as f:
    for i in range(cnt):
        place = ["eu,a", "eu,b", "us,a", "us,"][(i * 7 + tier[i]) % 4] if i % 5 else ","
        f.write('%s,"%s",%s\n' % (address(i), names[i].replace('"', '""'), place))

rows, stats = [], []
print_to = open(out + "/mesh.obt", "w")
print('header {"host":"mesh","kernel":"6.1.0","arch":"x86_64","cpus":2,"version":"1","started_at_ns":1700000000000000000,'
      '"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000,"boottime_ns":5000000000},'
      '"argv":["obrec"],"probes":["l4","l7"],"options":{"freq":99},"labels":{}}', file=print_to)
for n, (i, j, protocol) in enumerate(edges, 1):
    print("connection id=%d cookie=%d transport=6 local_addr=%s local_port=%d remote_addr=%s remote_port=%d role=1 "
          "opened_ns=5100000000 netns=1 sampled=1" % (n, n, address(i), 30000 + n, address(j), 80 if protocol == "http" else 6379),
          file=print_to)
    sent = received = 0
    for k in range(pick([1, 3, 10, 40])):
        at = 6000000000 + k * 50000000 + n * 1000
        if protocol == "http":
            q = "GET /x/%d HTTP/1.1\\x0d\\x0aHost: h\\x0d\\x0a\\x0d\\x0a" % k
            a = "HTTP/1.1 %d X\\x0d\\x0aContent-Length: 0\\x0d\\x0a\\x0d\\x0a" % (500 if (n + k) % 17 == 0 else 200)
        else:
            q, a = "*2\\x0d\\x0a$3\\x0d\\x0aGET\\x0d\\x0a$3\\x0d\\x0aa:1\\x0d\\x0a", "$2\\x0d\\x0aok\\x0d\\x0a"
        ql, al = (len(x.replace("\\x0d", "R").replace("\\x0a", "N")) for x in (q, a))
        rows.append((at, 'payload connection=%d ts_ns=%d direction=0 position=%d len=%d data="%s"' % (n, at, sent, ql, q)))
        rows.append((at + n * 90000, 'payload connection=%d ts_ns=%d direction=1 position=%d len=%d data="%s"' % (n, at + n * 90000, received, al, a)))
        sent, received = sent + ql, received + al
    stats.append("connection_stat connection=%d ts_ns=10000000000 bytes_sent=%d bytes_received=%d sends=%d receives=%d" % (n, sent, received, k + 1, k + 1))
print("flush", file=print_to)
for _, row in sorted(rows):
    print(row, file=print_to)
print("flush", *stats, sep="\n", file=print_to)
print('end {"complete":true,"stop_reason":"duration","duration_ns":10000000000,"losses":[],"programs":[]}', file=print_to)
