# Real servers under load: as many requests as the generators say they sent; errors; one caller among 100,000; a connection
# recorded at both ends in two archives.
. tests/live/l7.inc
command -v redis-server >/dev/null && command -v redis-benchmark >/dev/null || skip "needs redis"
free_port
serve_redis
redis=$server

stop() { eventually "the server has closed what its clients closed" all_served; obrec_stop; }
lost() { sql "$1" "SELECT total(count) FROM loss WHERE source <> 'target'"; }
calls() { sql "$1" "SELECT total(calls) FROM figure WHERE level = 'endpoint' AND role = '$2' AND protocol = '$3' AND method IN ($4)"; }

# plain, pipelined, RESP3
obrec_start -q -p $redis -e l4,l7 -o "$T/plain.obz"
timeout 100 redis-benchmark -p $port -c 20 -n 20000 -t get,set,lpush -q >/dev/null
stop
is "lost, plain" "$(lost "$T/plain.obz")" 0.0
is "plain" "$(calls "$T/plain.obz" server redis "'GET','SET','LPUSH'")" 60000.0
is "paired" "$(sql "$T/plain.obz" "SELECT total(unpaired) FROM figure WHERE level = 'protocol'")" 0.0
is "errors" "$(sql "$T/plain.obz" "SELECT total(errors) FROM figure WHERE level = 'protocol'")" 0.0

obrec_start -q -p $redis -e l4,l7 -o "$T/pipe.obz"
timeout 100 redis-benchmark -p $port -c 10 -n 64000 -P 64 -t get,set -q >/dev/null
stop
is "lost, pipelined" "$(lost "$T/pipe.obz")" 0.0
is "pipelined" "$(calls "$T/pipe.obz" server redis "'GET','SET'")" 128000.0

obrec_start -q -p $redis -e l4,l7 -o "$T/resp3.obz"
timeout 100 redis-benchmark -p $port -c 10 -n 10000 -3 -t get,lpush -q >/dev/null
stop
is "RESP3" "$(calls "$T/resp3.obz" server redis "'GET','LPUSH'")" 20000.0

# one caller among 100,000 requests, its errors, both ends in one archive
obrec_start -q -p $redis,$$ -e l4,l7 -o "$T/all.obz" # the clients are children of this one
timeout 100 redis-benchmark -p $port -c 20 -n 50000 -t set,get -q >/dev/null
redis-cli -p $port set rare:17 1 >/dev/null
redis-cli -p $port lpush rare:17 1 >/dev/null 2>&1 || true
stop
is "lost, servers and clients" "$(lost "$T/all.obz")" 0.0
"$OBANA" traffic "$T/all.obz" --rare --role server --service '*redis-server' --csv 2>/dev/null >"$T/rare.csv"
is "the rarest" "$(sed -n '2,3s/.*redis-cli,redis,\([A-Z]*,rare:{n}\),.*/\1/p' "$T/rare.csv" | sort | tr '\n' ' ')" "LPUSH,rare:{n} SET,rare:{n} "
is "errors seen" "$(sql "$T/all.obz" "SELECT errors FROM figure WHERE level = 'call' AND role = 'server' AND method = 'LPUSH'")" 1
is "edge" "$("$OBANA" topology "$T/all.obz" --json | grep -o '"client":"[^"]*redis-benchmark","server":"[^"]*redis-server","protocol":"redis"[^}]*"calls":[0-9]*' | grep -o '[0-9]*$')" \
	$(sql "$T/all.obz" "SELECT calls FROM figure WHERE level = 'protocol' AND role = 'client' AND service LIKE '%redis-benchmark' AND protocol = 'redis'")
is "messages --errors" "$("$OBANA" messages "$T/all.obz" --errors --role server --service '*redis-server' -f '%{method} %{status}')" "LPUSH WRONGTYPE"

# the two ends in two archives
obrec_start -q -p $redis -e l4,l7 -o "$T/server.obz"
"$OBREC" -q -e l4,l7 -o "$T/client.obz" -- redis-benchmark -p $port -c 5 -n 5000 -t set -q >/dev/null
stop
"$OBANA" topology "$T/client.obz" "$T/server.obz" --json >"$T/edges.json"
is "edges" "$(grep -c '"client":' "$T/edges.json")" 1
is "network time told apart" "$(grep -c '"network_ns":' "$T/edges.json")" 1
within "clock offset, us" "$(sql "$T/client.obz" "SELECT 1" >/dev/null; "$OBANA" query "SELECT abs(offset_ns) / 1000 FROM clock_offset" "$T/client.obz" "$T/server.obz" --csv | tail -n 1)" 0 1000

# nginx and wrk
command -v nginx >/dev/null && command -v wrk >/dev/null || { echo "no nginx or wrk: left out"; exit 0; }
free_port
serve_nginx "access_log off; server { listen 127.0.0.1:$port; location /ok { return 200 'hello'; } location /bad { return 503; } }"
obrec_start -q -p "$server" -e l4,l7 -o "$T/web.obz"
sent=$(wrk -t1 -c8 -d1s "http://127.0.0.1:$port/ok/5" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p')
for _ in 1 2 3; do python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$port/bad')" 2>/dev/null || true; done
stop
is "lost, nginx" "$(lost "$T/web.obz")" 0.0
# wrk ends with a request under way on each of its connections
within "nginx, wrk said $sent" "$(sql "$T/web.obz" "SELECT calls FROM figure WHERE level = 'endpoint' AND target = '/ok/{n}'")" "$sent" $((sent + 8))
is "5xx" "$("$OBANA" messages "$T/web.obz" --status 5xx -f target,status --csv | tail -n +2 | sort | uniq -c | tr -s ' ')" " 3 /bad,503"
