# Packet captures of real servers, imported: the same requests, methods and statuses as tshark finds in them.
#
# What may differ, and why; nothing does below, as the captures are made so that it cannot:
# - tshark takes protocols from ports, obana from content; tshark is told the port (-d).
# - A message that ends behind the capture's end is tshark's, and not obana's.
# - tshark names what it takes for a segment sent again by timing; obana counts each byte once.
# - tshark counts each RESP element (resp.array.length at any depth), obana commands: compared are the arrays that begin
#   a request, by their first string.
. "$TOP/tests/cli/tshark.inc" || exit 1
needs tshark editcap tcpdump redis-server redis-benchmark nginx wrk curl dnsmasq dig

# ---- redis: commands by name; every request has its reply
free_port; start redis-server --port $port --save '' --appendonly no --dir "$T"
wait_port $port
capture "$T/redis.pcap" $port
redis-benchmark -p $port -n 2000 -c 4 -t get,set,lpush -q >/dev/null
redis-benchmark -p $port -n 2000 -c 4 -P 16 -t incr -q >/dev/null
redis-cli -p $port nosuch >/dev/null
capture_end "$T/redis.pcap"
"$obana" import "$T/redis.pcap" -o "$T/redis.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
# Of each request its first bulk string: -T fields gives all strings of a packet, so tshark's PDML-like list of lengths is
# used to find where each array begins.
tshark -r "$T/redis.pcap" -d tcp.port==$port,resp -Y 'tcp.dstport=='$port' && resp' -T fields -E aggregator=' ' \
	-e tcp.srcport -e resp.array.length -e resp.bulk_string.value 2>/dev/null |
	python3 -c "
import sys
for line in sys.stdin:
    port, lengths, values = line.rstrip('\n').split('\t', 2)
    values = values.split(' ')
    at = 0
    for n in lengths.split():
        v = values[at]
        try: v = bytes.fromhex(v).decode() if len(v) % 2 == 0 else v
        except ValueError: pass
        print(port + ',' + v.upper())
        at += int(n)
" | sort -s -n -t, -k1,1 >"$T/tshark"
sql "$T/redis.obz" "SELECT remote_port, method FROM message m JOIN connection c ON c.id = connection_id WHERE m.protocol = 'redis'
	ORDER BY 1, m.id" | sed 's/ .*//' >"$T/obana" # CONFIG GET: tshark's is the first string
is "redis commands in order" "$(cat "$T/obana")" "$(cat "$T/tshark")"
is "redis: all paired" "$(sql "$T/redis.obz" "SELECT count(*) FROM message WHERE NOT paired")" 0
is "redis errors" "$(sql "$T/redis.obz" "SELECT count(*) FROM message WHERE is_error")" \
	"$(tshark -r "$T/redis.pcap" -d tcp.port==$port,resp -Y 'tcp.srcport=='$port' && resp.error' -T fields -e resp.error 2>/dev/null | wc -l)"
is "redis role" "$(sql "$T/redis.obz" "SELECT DISTINCT role, local_port, protocol FROM connection")" server,$port,redis
is "redis connections" "$(sql "$T/redis.obz" "SELECT count(*) FROM connection WHERE opened_ns AND closed_ns")" \
	"$(tshark -r "$T/redis.pcap" -Y 'tcp.flags.syn==1 && tcp.flags.ack==0' -T fields -e tcp.stream 2>/dev/null | sort -u | wc -l)"
is "redis bytes" "$(sql "$T/redis.obz" "SELECT sum(bytes_sent + bytes_received) FROM connection")" \
	"$(tshark -r "$T/redis.pcap" -Y 'tcp.len>0 && !tcp.analysis.retransmission' -T fields -e tcp.len 2>/dev/null | awk '{s+=$1} END {print s}')"

# ---- nginx: each request with its method, target and status, in order of its connection
free_port
cat >"$T/nginx.conf" <<EOT
daemon off; worker_processes 1; pid $T/nginx.pid; error_log $T/nginx.err; events { worker_connections 256; }
http { access_log off; client_body_temp_path $T/a; proxy_temp_path $T/b; fastcgi_temp_path $T/c; uwsgi_temp_path $T/d; scgi_temp_path $T/e;
  keepalive_requests 100000;
  server { listen $port; root $T/www;
    location /moved { return 301 /index.html; } location /no { return 403; } location /empty { return 204; }
    location /put { proxy_pass http://127.0.0.1:$port/index.html; proxy_method GET; proxy_pass_request_body off; proxy_set_header Content-Length ""; } } }
EOT
mkdir "$T/www"; chmod 755 "$T" "$T/www"; head -c 300000 /dev/zero | tr '\0' x >"$T/www/big"; echo hello >"$T/www/index.html"
start nginx -c "$T/nginx.conf"
wait_port $port
capture "$T/http.pcapng" $port
url=http://127.0.0.1:$port
for path in /index.html /big /missing /moved /no /empty '/index.html?a=b'; do curl -s -o "$T/x" "$url$path"; done
curl -s -o "$T/x" $url/index.html -o "$T/x" $url/missing -o "$T/x" $url/big # one connection
curl -s -I $url/big >"$T/x"
curl -s -X POST -d some=thing $url/index.html >"$T/x"
curl -s -X DELETE $url/index.html >"$T/x"
curl -s -o "$T/x" -T "$T/www/big" $url/put # Expect: 100-continue; nginx reads it all, then asks itself
wrk -t 1 -c 4 -d 1 $url/index.html >"$T/x"
capture_end "$T/http.pcapng"
"$obana" import "$T/http.pcapng" -o "$T/http.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
pairs() { # tshark's view: each response names its request's frame
	tshark -r "$T/http.pcapng" -d tcp.port==$port,http -Y http -T fields -E separator=, -e frame.number -e http.request.method \
		-e http.response.code -e tcp.srcport -e http.request.uri -e http.request_in 2>/dev/null
}
pairs >"$T/pairs"
# wrk stops in the middle of its last requests: tshark knows these as well, obana shows them unpaired (status empty).
# The answer 100 is interim and has no row of its own.
awk -F, '$2 {order[n++]=$1; line[$1]=$4","$2","$5} $3 >= 200 && $6 {status[$6]=$3}
	END {for (i = 0; i < n; i++) print line[order[i]]","status[order[i]]}' "$T/pairs" | sed 's/?a=b,/,/' | sort -s -n -t, -k1,1 >"$T/tshark"
sql "$T/http.obz" "SELECT remote_port, method, target, status FROM message m JOIN connection c ON c.id = connection_id
	WHERE m.protocol = 'http' ORDER BY 1, m.id" >"$T/obana"
is "http exchanges in order" "$(cat "$T/obana")" "$(cat "$T/tshark")"
count() { cut -d, -f"$1" "$2" | sort | uniq -c | awk '{print $2","$1}'; }
is "http methods" "$(count 2 "$T/obana")" "$(count 2 "$T/tshark")"
is "http statuses" "$(count 4 "$T/obana")" "$(count 4 "$T/tshark")"

# ---- DNS over UDP: a flow for each pair of ports, every datagram with its length
free_port
start dnsmasq -k -C /dev/null -p $port --bind-interfaces --listen-address=127.0.0.1 --no-resolv --no-hosts --pid-file="$T/dns.pid" \
	--address=/known.test/10.1.2.3 --local=/test/ --txt-record=text.test,hello
wait_port $port
capture "$T/dns.pcap" $port
for i in 1 2 3; do for name in known.test none.test; do dig @127.0.0.1 -p $port +tries=1 +time=2 $name A >"$T/x"; done; done
dig @127.0.0.1 -p $port +tries=1 text.test TXT >"$T/x"
dig @127.0.0.1 -p $port +tries=1 known.test AAAA >"$T/x"
dig @127.0.0.1 -p $port +tcp +tries=1 known.test A >"$T/x"
capture_end "$T/dns.pcap"
"$obana" import "$T/dns.pcap" -o "$T/dns.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
tshark -r "$T/dns.pcap" -Y udp -T fields -E separator=, -e udp.srcport -e udp.dstport -e udp.length 2>/dev/null |
	awk -F, '{ if ($2=='$port') {in_[$1]+=$3-8} else {out[$2]+=$3-8} } END {for (p in in_) print p","in_[p]","out[p]+0}' | sort >"$T/tshark"
is "dns flows" "$(sql "$T/dns.obz" "SELECT remote_port, bytes_received, bytes_sent FROM connection WHERE transport = 'udp' ORDER BY 1")" "$(cat "$T/tshark")"
is "dns roles" "$(sql "$T/dns.obz" "SELECT DISTINCT role, local_port FROM connection")" server,$port
tshark -r "$T/dns.pcap" -d udp.port==$port,dns -d tcp.port==$port,dns -Y 'dns.flags.response == 1' -T fields -E separator=, \
	-e dns.qry.type -e dns.qry.name -e dns.flags.rcode 2>/dev/null |
	awk -F, '{ sub(/^1$/, "A", $1); sub(/^16$/, "TXT", $1); sub(/^28$/, "AAAA", $1); print $1","$2","($3==0 ? "NOERROR" : $3==3 ? "NXDOMAIN" : $3) }' |
	sort | uniq -c | awk '{print $2","$1}' >"$T/tshark"
is "dns messages" "$(sql "$T/dns.obz" "SELECT method, target, status, count(*) FROM message WHERE protocol = 'dns' AND paired GROUP BY 1, 2, 3" | LC_ALL=C sort)" \
	"$(LC_ALL=C sort "$T/tshark")"

# ---- cut to 200 bytes a packet: all lengths stay known
editcap -s 200 "$T/http.pcapng" "$T/short.pcapng" && "$obana" import "$T/short.pcapng" -o "$T/short.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
bytes="SELECT sum(bytes_sent), sum(bytes_received), sum(retransmits) FROM connection"
is "bytes of a cut capture" "$(sql "$T/short.obz" "$bytes")" "$(sql "$T/http.obz" "$bytes")"

# ---- through a pipe
"$obana" import - -o - <"$T/http.pcapng" 2>"$T/err" | "$obana" query "SELECT count(*) FROM message" - --csv >"$T/x"
is "through pipes" "$(tail -1 "$T/x")" "$(sql "$T/http.obz" "SELECT count(*) FROM message")"
exit $bad
