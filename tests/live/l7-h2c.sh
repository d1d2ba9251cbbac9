# A connection that begins as HTTP/1 and is upgraded to HTTP/2 (h2c): one request each, the upgraded one included.
. tests/live/l7.inc
for c in nghttpd nghttpx curl; do command -v $c >/dev/null || skip "needs $c"; done
mkdir "$T/www"; for i in $(seq 10); do echo $i >"$T/www/p$i.html"; done
free_port 2
start nghttpd --no-tls -d "$T/www" $((port + 1)) >/dev/null 2>&1; await_port $((port + 1)) $!
serve nghttpx --conf=/dev/null -f "127.0.0.1,$port;no-tls" -b "127.0.0.1,$((port + 1));;proto=h2" --workers=1 --single-process >"$T/log" 2>&1
eventually "the proxy has its backend" curl -sf -o /dev/null http://127.0.0.1:$port/p1.html

record
for run in $(seq 5); do
	args=()
	for i in $(seq 10); do args+=(-o /dev/null "http://127.0.0.1:$port/p$i.html"); done
	curl -s --http2 -w '%{http_version},%{http_code}\n' "${args[@]}" "http://127.0.0.1:$port/none" -o /dev/null >>"$T/said"
done
curl -s --http1.1 -o /dev/null "http://127.0.0.1:$port/p1.html"
finish h2c
is "curl says" "$(sort "$T/said" | uniq -c | awk '{print $1","$2}' | tr '\n' ' ')" "50,2,200 5,2,404 "
is "requests" "$(q "SELECT protocol,status,count(*),sum(paired),count(DISTINCT connection_id) FROM message WHERE connection_id IN (SELECT id FROM connection WHERE role = 'server') GROUP BY 1,2 ORDER BY 1,2" | tr '\n' ' ')" \
	"http,200,1,1,1 http2,200,50,50,5 http2,404,5,5,5 "
is "upgraded" "$(q "SELECT target,count(*) FROM message WHERE target = '/p1.html' AND protocol = 'http2' AND connection_id IN (SELECT id FROM connection WHERE role = 'server') GROUP BY 1")" "/p1.html,5"
is "connections" "$(q "SELECT protocol,count(*) FROM connection WHERE role = 'server' AND local_port = $port GROUP BY 1 ORDER BY 1" | tr '\n' ' ')" "http,1 http2,5 "
