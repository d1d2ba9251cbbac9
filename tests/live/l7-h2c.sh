# A connection that begins as HTTP/1 and is upgraded to HTTP/2 (h2c): one request each, the upgraded one included.
. tests/live/lib.inc
for c in nghttpd nghttpx curl; do command -v $c >/dev/null || skip "needs $c"; done
mkdir "$T/www"; for i in $(seq 10); do echo $i >"$T/www/p$i.html"; done
port=$((20000 + RANDOM % 10000))
start nghttpd --no-tls -d "$T/www" $((port + 1)) >/dev/null 2>&1
start nghttpx --conf=/dev/null -f "127.0.0.1,$port;no-tls" -b "127.0.0.1,$((port + 1));;proto=h2" --workers=1 --single-process >"$T/log" 2>&1
proxy=$!
for _ in $(seq 100); do curl -sf -o /dev/null http://127.0.0.1:$port/p1.html && break; sleep 0.05; done

obrec_start -q -p $proxy -e l4,l7 --debuginfo none -o "$T/a.obz"
for run in $(seq 5); do
	args=()
	for i in $(seq 10); do args+=(-o /dev/null "http://127.0.0.1:$port/p$i.html"); done
	curl -s --http2 -w '%{http_version},%{http_code}\n' "${args[@]}" "http://127.0.0.1:$port/none" -o /dev/null >>"$T/said"
done
curl -s --http1.1 -o /dev/null "http://127.0.0.1:$port/p1.html"
sleep 0.3; kill -INT $obrec; obrec_wait
is "exit" $status 0
is "losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
is "curl says" "$(sort "$T/said" | uniq -c | awk '{print $1","$2}' | tr '\n' ' ')" "50,2,200 5,2,404 "
is "requests" "$(sql "$T/a.obz" "SELECT protocol,status,count(*),sum(paired),count(DISTINCT connection_id) FROM message WHERE connection_id IN (SELECT id FROM connection WHERE role = 'server') GROUP BY 1,2 ORDER BY 1,2" | tr '\n' ' ')" \
	"http,200,1,1,1 http2,200,50,50,5 http2,404,5,5,5 "
is "upgraded" "$(sql "$T/a.obz" "SELECT target,count(*) FROM message WHERE target = '/p1.html' AND protocol = 'http2' AND connection_id IN (SELECT id FROM connection WHERE role = 'server') GROUP BY 1")" "/p1.html,5"
is "connections" "$(sql "$T/a.obz" "SELECT protocol,count(*) FROM connection WHERE role = 'server' AND local_port = $port GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" "http,1 http2,5 "
