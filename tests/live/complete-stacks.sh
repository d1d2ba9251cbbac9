# The share of user stacks that reach their thread's start, program by program, under load: at least 99.5 % each.
# A table: program, samples, complete, causes of the others. PROGRAMS="redis node" selects, TICKS_EACH=1000 (of CPU time) is longer.
# alone: needs all of the machine
. tests/live/lib.inc
PROGRAMS=${PROGRAMS:-demo deep static static-pie redis nginx mariadb postgres python3 node node-jit go go-stripped}
EACH=${TICKS_EACH:-150}
bad=0 measured=0

have() { command -v "$1" >/dev/null 2>&1; }
port() { python3 -c 'import socket; s=socket.socket(); s.bind(("127.0.0.1",0)); print(s.getsockname()[1])'; }
skipped() { printf '%-14s not measured: %s\n' "$1" "$2"; }

# measure NAME PID[,PID...] [TICKS]: once they have used so much CPU time that the slowest machine has them started
measure() {
	worked "${3:-50}" ${2//,/ }
	capture "$EACH" "$2" -q -F 499 -e cpu --debuginfo none -o "$T/$1.obz" >/dev/null
	measured=$((measured + 1))
	tar xOf "$T/$1.obz" obz.end.json | python3 -c '
import json, sys
name, least = sys.argv[1], 100
s = json.load(sys.stdin)["stacks"].get("cpu", {})
total, good = s.get("total", 0), s.get("complete", 0)
# no user side at all (a thread that exits) is no stack that broke
none = s.get("stack not taken", 0)
share = 100.0 * good / max(total - none, 1)
causes = ", ".join("%s: %d" % (k, v) for k, v in s.items() if k not in ("total", "complete"))
print("%-14s %7d %8.2f %%  %s" % (name, total, share, causes))
sys.exit(0 if share >= 99.5 and total >= least else 1)' "$1" || bad=1
}

own_demo() {
	[ -x "$WORKLOAD/demo" ] || { skipped demo "not built"; return; }
	start "$WORKLOAD/demo" 3600 >/dev/null; measure demo $!
}
# Each of the ways to be deep, in one program.
own_deep() {
	[ -x "$WORKLOAD/deep" ] || { skipped deep "not built"; return; }
	for mode in recurse alloca realign noreturn tail vdso signal altstack; do
		start "$WORKLOAD/deep" $mode 60 >/dev/null; local p=$!; measure "deep-$mode" $p; kill $p
	done
}

# A program of our own in another link mode.
cc_deep() { # name flags
	cat >"$T/deep.c" <<'C'
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
volatile unsigned long sink;
static int cmp(const void *a, const void *b) { return strcmp(a, b); }
__attribute__((noinline)) static int down(int n)
{
	char v[64][16];
	if (n)
		return down(n - 1) + (int)sink;
	for (int i = 0; i < 64; i++)
		snprintf(v[i], 16, "%d", i * 7919 % 64);
	qsort(v, 64, 16, cmp);
	return sink++;
}
int main(void) { for (;;) down(20); }
C
	gcc -O2 -fomit-frame-pointer $2 -o "$T/$1" "$T/deep.c" 2>/dev/null || { skipped "$1" "cannot be linked"; return; }
	start "$T/$1"; measure "$1" $!
}
own_static() { cc_deep static -static; }
own_static_pie() { cc_deep static-pie -static-pie; }

own_redis() {
	have redis-server && have redis-benchmark || { skipped redis "not installed"; return; }
	local p; p=$(port)
	start redis-server --port "$p" --save "" --appendonly no --dir "$T" >/dev/null
	local s=$!
	eventually "the server is up" redis-cli -p "$p" ping
	start redis-benchmark -p "$p" -q -c 20 -n 100000000 -t set,get,lpush,zadd,mset >/dev/null
	measure redis $s
}

own_nginx() {
	have nginx && have wrk || { skipped nginx "not installed"; return; }
	local p; p=$(port)
	mkdir -p "$T/nginx"; echo hello >"$T/nginx/index.html"; chmod 755 "$T" "$T/nginx"
	cat >"$T/nginx.conf" <<C
worker_processes 1; pid $T/nginx.pid; error_log $T/nginx.err; daemon off;
events {} http { access_log off; gzip on; gzip_min_length 1; client_body_temp_path $T/nb; proxy_temp_path $T/np; fastcgi_temp_path $T/nf; uwsgi_temp_path $T/nu; scgi_temp_path $T/ns;
server { listen 127.0.0.1:$p; root $T/nginx; } }
C
	start nginx -c "$T/nginx.conf"
	local s=$!
	eventually "the server is up" curl -sf "http://127.0.0.1:$p/"
	start wrk -t1 -c10 -d60s -H 'Accept-Encoding: gzip' "http://127.0.0.1:$p/index.html" >/dev/null
	measure nginx "$(pgrep -d, -P $s)"
}

own_mariadb() {
	have mariadbd && have mysqlslap || { skipped mariadb "not installed"; return; }
	mkdir "$T/maria"
	mariadb-install-db --no-defaults --user=root --datadir="$T/maria" --auth-root-authentication-method=normal >/dev/null 2>&1 ||
		{ skipped mariadb "cannot be set up"; return; }
	start mariadbd --no-defaults --user=root --datadir="$T/maria" --socket="$T/maria.sock" --skip-networking --innodb-buffer-pool-size=32M >/dev/null 2>&1
	local s=$!
	eventually "the server is up" mysqladmin --no-defaults --socket="$T/maria.sock" ping
	start mysqlslap --no-defaults --socket="$T/maria.sock" -a --auto-generate-sql-load-type=mixed -c 4 --number-of-queries=1000000 >/dev/null 2>&1
	measure mariadb $s 100
}

own_postgres() {
	local bin; bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
	[ -n "$bin" ] && id postgres >/dev/null 2>&1 || { skipped postgres "not installed"; return; }
	mkdir "$T/pg"; chmod 755 "$T"; chown postgres "$T/pg"
	become() { cd "$T/pg" && exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
	as() { (become "$@"); }
	as "$bin/initdb" -D "$T/pg/data" >/dev/null 2>&1 || { skipped postgres "cannot be set up"; return; }
	become "$bin/postgres" -D "$T/pg/data" -k "$T/pg" -h "" >/dev/null 2>&1 &
	local s=$!
	pids+=($s)
	eventually "the server is up" as "$bin/psql" -h "$T/pg" -l
	as "$bin/pgbench" -h "$T/pg" -i -q postgres >/dev/null 2>&1
	become "$bin/pgbench" -h "$T/pg" -c 4 -T 60 -S postgres >/dev/null 2>&1 &
	pids+=($!)
	backends() { [ "$(pgrep -cP $s -f 'postgres: postgres postgres')" -ge 4 ]; }
	eventually "each client's backend" backends
	measure postgres "$(pgrep -d, -P $s)"
	kill -INT $s
}

own_python3() {
	cat >"$T/p.py" <<'P'
import json, re, hashlib
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
while True:
    d = {str(i): [i, i * 2, {"a": i}] for i in range(500)}
    s = json.dumps(d); json.loads(s); re.sub(r"\d+", "x", s); sorted(d, key=lambda x: x[::-1])
    hashlib.sha256(s.encode()).digest(); fib(15)
P
	start python3 "$T/p.py"; measure python3 $!
}

# Nothing here makes V8 take optimized code back: while it does, the frame of that code is in no stack but in V8's own memory.
node_with() { # name options
	have node || { skipped "$1" "not installed"; return; }
	cat >"$T/n.js" <<'J'
const later = (a, b) => a < b ? 1 : -1, keys = Array.from({length: 2000}, (_, i) => 'k' + i);
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
function work() {
	const o = new Map();
	for (let i = 0; i < 2000; i++) o.set(keys[i], JSON.stringify({a: i, b: [1, 2, i]}));
	return keys.slice().sort(later).map(x => o.get(x)).join('').replace(/a/g, 'b').length + fib(18);
}
(function loop() { for (let i = 0; i < 10; i++) work(); setImmediate(loop); })();
J
	start node $2 "$T/n.js"; local p=$!; measure "$1" $p 100
	rm -f "/tmp/perf-$p.map"
}
own_node() { node_with node ""; }
own_node_jit() { node_with node-jit --perf-basic-prof; }

go_with() { # name flags
	have go || { skipped "$1" "not installed"; return; }
	cat >"$T/g.go" <<'G'
package main

import (
	"fmt"
	"sort"
	"strings"
)

func work(n int) int {
	m := map[string]int{}
	for i := 0; i < n; i++ {
		m[fmt.Sprintf("k%d", i%1000)] += i
	}
	k := make([]string, 0, len(m))
	for x := range m {
		k = append(k, x)
	}
	sort.Strings(k)
	return len(strings.Join(k, ","))
}

func main() {
	ch := make(chan int, 10)
	for i := 0; i < 4; i++ {
		go func() {
			for {
				ch <- work(2000)
			}
		}()
	}
	for range ch {
	}
}
G
	(cd "$T" && GOCACHE=${GOCACHE:-$T/gocache} GO111MODULE=off go build -ldflags="$2" -o "$T/$1" g.go) >/dev/null 2>&1 || { skipped "$1" "cannot be built"; return; }
	start "$T/$1"; measure "$1" $!
}
own_go() { go_with go ""; }
own_go_stripped() { go_with go-stripped "-s -w"; }

printf '%-14s %7s %10s  %s\n' program samples complete causes
for p in $PROGRAMS; do
	n=${#pids[@]}
	"own_${p//-/_}"
	for q in "${pids[@]:$n}"; do kill "$q" 2>/dev/null || true; done
	for q in "${pids[@]:$n}"; do wait "$q" 2>/dev/null || true; done
	pids=("${pids[@]:0:$n}")
done
[ $measured -gt 0 ] || skip "no program could be measured"
[ $bad = 0 ] || fail "a program is below 99.5 % (or gave fewer than 100 samples)"
