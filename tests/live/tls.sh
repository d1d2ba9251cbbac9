# TLS through OpenSSL's shared library: nginx under curl, wrk and h2load, redis under redis-benchmark, all by their own counts; each connection
# has messages as if it were clear text, nothing of its cipher text is one, and secrets are masked.
. tests/live/l7.inc
for c in nginx curl wrk h2load openssl redis-server redis-benchmark redis-cli; do command -v $c >/dev/null || skip "needs $c"; done
grep -q '^tls .*yes.*yes' "$T/list" || skip "no uprobes here"
free_port 2; rport=$((port + 1))
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=localhost 2>/dev/null
cat >"$T/nginx.conf" <<N
worker_processes 1; daemon off; pid $T/nginx.pid; error_log $T/error.log; events {}
http { log_format few '\$request_method,\$uri,\$status'; access_log $T/access.log few; keepalive_requests 1000000;
server { listen 127.0.0.1:$port ssl http2; ssl_certificate $T/cert.pem; ssl_certificate_key $T/key.pem;
	location /get { return 200 "hello"; } location /empty { return 204; } location /bad { return 503 "no"; } location / { root $T; } } }
N
head -c 300000 /dev/urandom >"$T/large"
start nginx -c "$T/nginx.conf"
master=$!
await_port $port $master
eventually "nginx's worker" pgrep -P $master
worker=$(pgrep -P $master | head -n 1)
at=https://localhost:$port
by_kind() { sql "$1" "SELECT method, target, status, count(*), sum(paired) FROM message GROUP BY 1, 2, 3" | sort | tr '\n' ' '; }
logged() { sort "$T/access.log" | uniq -c | awk '{print $2","$1","$1}' | sort | tr '\n' ' '; }
none_else() { # ARCHIVE PROTOCOL: no losses, and nothing but these messages on TLS connections
	is "losses" "$(sql "$1" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "protocols" "$(sql "$1" "SELECT replace(group_concat(DISTINCT protocol), ',', '+') FROM message")" "$2"
	is "connections with messages and not tls" "$(sql "$1" "SELECT count(*) FROM connection WHERE NOT tls AND id IN (SELECT connection_id FROM message)")" 0
}

finish_tls() { port=${1:-$port}; eventually "the server has closed what its clients closed" all_served; obrec_stop; } # [PORT]

# both ends of one machine: the server, and curl as COMMAND, which maps the library after the start
: >"$T/access.log"
obrec_start -q -p "$worker" -e l4,tls --debuginfo none -o "$T/curl.obz"
for v in --http1.1 --http2; do
	curl -sk $v -H 'Authorization: Bearer sekritA' -b 'id=sekritB' -X DELETE -o /dev/null "$at/get" -o /dev/null "$at/bad" -o /dev/null "$at/empty" -o /dev/null "$at/missing" -o /dev/null "$at/large"
	curl -sk $v -d 'a=b' -o /dev/null "$at/get"
	curl -sk $v -o /dev/null "$at/large" -o /dev/null "$at/get"
done
finish_tls
none_else "$T/curl.obz" http+http2
is "curl: by method, target and status" "$(by_kind "$T/curl.obz")" "$(logged)"
is "connections" "$(sql "$T/curl.obz" "SELECT count(*), sum(tls), sum(protocol = 'http'), sum(protocol = 'http2') FROM connection WHERE bytes_received > 0")" 6,6,3,3
mkdir "$T/x"; bsdtar xf "$T/curl.obz" -C "$T/x"
find "$T/x" -name '*.zst' -exec zstd -dc {} + >"$T/raw"
grep -q 'DELETE /get' "$T/raw" || fail "no clear text in the archive"
! grep -aE 'sekrit[AB]' "$T/raw" >/dev/null || fail "a secret is in the archive"
echo "ok: clear text without the secrets"
status=0; "$OBREC" -q -e l4,tls --debuginfo none -o "$T/command.obz" -- curl -sk --http1.1 -o /dev/null "$at/get" -o /dev/null "$at/bad" || status=$?
is "curl recorded: exit" $status 0
is "curl recorded: by method, target and status" "$(by_kind "$T/command.obz")" "GET,/bad,503,1,1 GET,/get,200,1,1 "
is "curl recorded: role and tls" "$(sql "$T/command.obz" "SELECT DISTINCT c.role, c.tls FROM message JOIN connection c ON c.id = connection_id")" client,1

# without the probe there are bytes and no messages
for off in "-e l4,l7" "-e -cpu,-tls" "-e -cpu --no-tls"; do
	"$OBREC" -q $off --debuginfo none -o "$T/off.obz" -- curl -sk --http1.1 -o /dev/null "$at/get"
	is "$off: messages, and whether there are bytes" "$(sql "$T/off.obz" "SELECT (SELECT count(*) FROM message), sum(bytes_sent) > 300, sum(tls) FROM connection")" 0,1,0
done

# load: HTTP/1 by wrk, HTTP/2 by h2load, both against nginx's log
: >"$T/access.log"
obrec_start -q -p "$worker" -e l4,tls --debuginfo none -o "$T/wrk.obz"
said=$(timeout 60 wrk -t1 -c8 -d1s "$at/get" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p')
finish_tls
none_else "$T/wrk.obz" http
n=$(wc -l <"$T/access.log")
within "wrk said $said, nginx logged" "$n" "$said" $((said + 8))
is "wrk: messages paired" "$(sql "$T/wrk.obz" "SELECT count(*), sum(status = 200) FROM message WHERE paired")" "$n,$n"
obrec_start -q -p "$worker" -e l4,tls --debuginfo none -o "$T/h2load.obz"
timeout 60 h2load -n 4000 -c 4 -m 8 "$at/get" "$at/bad" >"$T/h2load.out"
finish_tls
none_else "$T/h2load.obz" http2
is "h2load: by target and status" "$(by_kind "$T/h2load.obz")" "GET,/bad,503,2000,2000 GET,/get,200,2000,2000 "

# redis; its clients recorded as well, as children of this one
start redis-server --port 0 --tls-port $rport --bind 127.0.0.1 --tls-cert-file "$T/cert.pem" --tls-key-file "$T/key.pem" --tls-ca-cert-file "$T/cert.pem" \
	--tls-auth-clients no --save '' --dir "$T" >/dev/null
redis=$!
await_port $rport $redis
obrec_start -q -p $redis,$$ -e l4,tls --debuginfo none -o "$T/redis.obz"
timeout 60 redis-benchmark --tls --insecure -p $rport -c 8 -n 5000 -t set,get -q >/dev/null
timeout 60 redis-benchmark --tls --insecure -p $rport -c 2 -n 4000 -P 16 -t incr -q >/dev/null
finish_tls $rport
is "redis: losses" "$(sql "$T/redis.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
for role in client server; do
	is "redis: $role" "$(sql "$T/redis.obz" "SELECT method, count(*), sum(paired), min(tls) FROM message m JOIN connection c ON c.id = connection_id
		WHERE role = '$role' AND method IN ('SET', 'GET', 'INCR') GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" "GET,5000,5000,1 INCR,4000,4000,1 SET,5000,5000,1 "
done
is "redis: protocols" "$(sql "$T/redis.obz" "SELECT replace(group_concat(DISTINCT protocol), ',', '+') FROM message")" redis
