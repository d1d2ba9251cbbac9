# What is kept and what is left out: --l7, pipelines and bulk under the default --payload, --direction, --sample; processes
# that start while others are recorded. Bytes and calls are complete whatever is left out.
. tests/live/l7.inc
for c in redis-server redis-benchmark redis-cli nginx wrk python3 zstd; do command -v $c >/dev/null || skip "needs $c"; done
free_port 3; web=$((port + 1)) odd=$((port + 2))
serve_redis; redis=$server
chmod 755 "$T"; mkdir "$T/www"; head -c 600 /dev/zero | tr '\0' p >"$T/www/page"
# One marker a kilobyte: how much of a large body is in the archive can be counted.
python3 -c "print(''.join('MARK%04d' % i + 'b' * 1016 for i in range(1024)), end='')" >"$T/www/large"
cat >"$T/nginx.conf" <<N
worker_processes 1; daemon off; pid $T/nginx.pid; error_log $T/error.log; events {}
http { access_log off; keepalive_requests 1000000; root $T/www; server { listen 127.0.0.1:$web; } }
N
start nginx -c "$T/nginx.conf"; master=$!; await_port $web $master
# A protocol nobody knows: answers as many bytes as it got.
cat >"$T/odd.py" <<'P'
import socket, sys
s = socket.create_server(('127.0.0.1', int(sys.argv[1])))
while True:
    c = s.accept()[0]
    while (b := c.recv(100000)):
        c.sendall(b)
    c.close()
P
start python3 "$T/odd.py" $odd; odd_pid=$!; await_port $odd $odd_pid
eventually "nginx's worker" pgrep -P $master
worker=$(pgrep -P $master | head -n 1)
redis-cli -p $port -x set large <"$T/www/large" >/dev/null

begin() { obrec_start -q --debuginfo none -e l4,l7 --payload-unknown "$@"; }
all_closed() { [ "$(served $port,$web,$odd)" = 0 ]; }
end() { eventually "the servers have closed what their clients closed" all_closed; obrec_stop; }
by() { sql "$1" "SELECT coalesce(group_concat(protocol || ' ' || n, ', '), '') FROM (SELECT protocol, count(*) n FROM message GROUP BY 1 ORDER BY 1)" | tr -d '"'; }
talk() {
	redis-benchmark -p $port -c 2 -n 300 -t set -q >/dev/null
	for _ in 1 2 3 4 5; do python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$web/page').read()"; done
	python3 - $odd <<'P'
import socket, sys
c = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for i in range(100):
    c.sendall(b'\xf1ODD%04d' % i + b'\xee' * 192)
    got = 0
    while got < 200:
        got += len(c.recv(1000))
P
}

# ---- --l7
for chosen in redis http http,redis; do
	begin -p $redis,$worker,$odd_pid --l7 $chosen -o "$T/f.obz"; talk; end
	a=$T/f.obz
	is "--l7 $chosen: losses" "$(lost "$a")" 0
	case $chosen in redis) want="redis 30[0-9]" ;; http) want="http 5" ;; *) want="http 5, redis 30[0-9]" ;; esac
	[[ $(by "$a") == $want ]] || fail "--l7 $chosen: got '$(by "$a")'"
	within "--l7 $chosen: all calls of Redis are counted" "$(sql "$a" "SELECT sum(receives) FROM connection WHERE local_port = $port")" 300 310
	is "--l7 $chosen: all bytes of HTTP are counted" "$(sql "$a" "SELECT count(*), sum(bytes_sent) > 5 * 600 FROM connection WHERE local_port = $web AND receives > 0")" 5,1
	is "--l7 $chosen: all of the unknown is counted" "$(sql "$a" "SELECT bytes_sent, bytes_received FROM connection WHERE local_port = $odd AND receives > 0")" 20000,20000
	is "--l7 $chosen: the first 4 KiB of the unknown, each way" "$(payloads "$a" | grep -ao 'ODD[0-9]*' | sort | uniq -c | awk '{n++; s += $1} END {print n, s}')" "21 42"
	"$OBANA" info "$a" >"$T/info"
	is "--l7 $chosen: info says so" "$(grep -o "l7 $chosen$" "$T/info")" "l7 $chosen"
done

# ---- pipelines are kept, bulk is not
# Whatever they get through where obrec gets no CPU: the largest rings hold it until it has one.
begin -p $redis,$worker --ring-size 64M -o "$T/b.obz"
redis-benchmark -p $port -c 4 -n 12800 -P 64 -t get,set,lpush -q >/dev/null
cat >"$T/pipeline.lua" <<'L'
init = function()
	local r = {}
	for i = 1, 24 do r[i] = wrk.format("GET", "/page") end
	all = table.concat(r)
end
request = function() return all end
L
sent=$(wrk -t1 -c4 -d1s -s "$T/pipeline.lua" "http://127.0.0.1:$web/" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p')
end
is "pipelined: losses" "$(lost "$T/b.obz")" 0
is "pipelined: Redis" "$(sql "$T/b.obz" "SELECT method, count(*), sum(paired) FROM message WHERE method IN ('GET', 'SET', 'LPUSH') AND protocol = 'redis' GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" \
	"GET,12800,12800 LPUSH,12800,12800 SET,12800,12800 "
# wrk ends with a pipeline under way on each connection
within "pipelined: HTTP/1, wrk said $sent" "$(sql "$T/b.obz" "SELECT count(*) FROM message WHERE protocol = 'http'")" $sent $((sent + 4 * 24))
within "pipelined: HTTP/1, not paired" "$(sql "$T/b.obz" "SELECT sum(NOT paired) FROM message WHERE protocol = 'http'")" 0 $((4 * 24))

large() {
	for i in 1 2 3; do
		redis-cli -p $port get large >/dev/null
		python3 -c "import urllib.request as u; u.urlopen('http://127.0.0.1:$web/large').read()"
	done
}
# bulk ARCHIVE ROLE: three of each, real sizes, and little of their 6 MB kept
bulk() {
	is "bulk, $2: requests" "$(sql "$1" "SELECT m.protocol, c.role, count(*), sum(paired), sum(response_bytes > 1048576) FROM message m JOIN connection c ON c.id = connection_id WHERE method = 'GET' GROUP BY 1, 2 ORDER BY 1, 2" | tr '\n' ' ')" "http,$2,3,3,3 redis,$2,3,3,3 "
	within "bulk, $2: kilobytes kept" "$(payloads "$1" | tr -c 'A-Za-z0-9' '\n' | awk '{n += length($0)} END {print int(n / 1024)}')" 1 512
}
begin -p $redis,$worker -o "$T/l.obz"; large; end
bulk "$T/l.obz" server
"$OBREC" -q --debuginfo none -e l4,l7 -o "$T/l.obz" -- bash -c "$(declare -f large); port=$port web=$web; large"
bulk "$T/l.obz" client

# ---- --direction: of two ends in one archive, one
for d in in out; do
	begin -a --direction $d -o "$T/d.obz"
	redis-benchmark -p $port -c 2 -n 300 -t set -q >/dev/null
	end
	is "--direction $d: whose messages" "$(sql "$T/d.obz" "SELECT DISTINCT c.role FROM message JOIN connection c ON c.id = connection_id WHERE method = 'SET' AND $port IN (local_port, remote_port)")" "$([ $d = in ] && echo server || echo client)"
	is "--direction $d: how many" "$(sql "$T/d.obz" "SELECT count(*) FROM message JOIN connection c ON c.id = connection_id WHERE method = 'SET' AND paired AND $port IN (local_port, remote_port)")" 300
	within "--direction $d: calls of the other side" "$(sql "$T/d.obz" "SELECT sum(receives) FROM connection WHERE $([ $d = in ] && echo remote_port || echo local_port) = $port")" 300 320
done

# ---- --sample: a connection each request
begin -p $redis --sample 10% -o "$T/s.obz"
redis-benchmark -p $port -c 10 -n 4000 -k 0 -t set -q >/dev/null
end
within "--sample: connections, all counted" "$(sql "$T/s.obz" "SELECT count(*) FROM connection WHERE local_port = $port AND receives > 0")" 4000 4100
within "--sample: messages kept" "$(sql "$T/s.obz" "SELECT count(*) FROM message WHERE method = 'SET'")" 320 480
within "--sample: scaled back" "$(sql "$T/s.obz" "SELECT total(calls) FROM figure WHERE level = 'endpoint' AND method = 'SET'")" 3200 4800
"$OBANA" traffic "$T/s.obz" >"$T/out" 2>&1
grep -q '^Sampled.*10%' "$T/out" || { cat "$T/out"; fail "obana does not say that it is sampled"; }

# ---- those that start while it runs: a child, and one in a cgroup that is recorded
cat >"$T/ping.py" <<'P'
import socket, sys, time
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
for i in range(250):
    s.sendall(b'*2\r\n$4\r\nECHO\r\n$3\r\n%03d\r\n' % i)
    s.recv(100)
    time.sleep(0.01)
P
cat >"$T/parent.sh" <<'S'
read -r _ <"$2"
python3 "$1/ping.py" $3
S
mkfifo "$T/go"
start bash "$T/parent.sh" "$T" "$T/go" $port; parent=$!
begin -p $parent -o "$T/k.obz"
echo >"$T/go"; wait $parent; obrec_wait
is "a child: all its messages" "$(sql "$T/k.obz" "SELECT count(*), sum(paired) FROM message WHERE method = 'ECHO'")" 250,250
dir=$(awk '($3 == "cgroup2" || ($3 == "cgroup" && $4 ~ /memory/)) { print $2; exit }' /proc/mounts)/obrec-filter-$$
if mkdir "$dir" 2>/dev/null; then
	trap 'cleanup; rmdir "$dir" 2>/dev/null || true' EXIT
	sleep 60 & keeper=$!; pids+=($keeper); echo $keeper >"$dir/cgroup.procs"
	begin --cgroup "$dir" -o "$T/c.obz"
	# 2.5 s of requests: one that is followed within a second has more than half of them
	(echo $BASHPID >"$dir/cgroup.procs"; exec python3 "$T/ping.py" $port)
	end
	within "a new process of the cgroup: its messages" "$(sql "$T/c.obz" "SELECT count(*) FROM message WHERE method = 'ECHO'")" 125 250
	kill $keeper; wait $keeper 2>/dev/null || true
else echo "no cgroup can be made here: left out"; fi
