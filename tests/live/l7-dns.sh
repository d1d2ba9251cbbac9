# DNS against a real server, over UDP and TCP: what is reported is what dnsperf says it asked and was answered.
. tests/live/l7.inc
for c in dnsmasq dnsperf dig; do command -v $c >/dev/null || skip "needs $c"; done
free_port
serve dnsmasq --keep-in-foreground --conf-file=/dev/null --no-resolv --no-hosts --port=$port \
	--listen-address=127.0.0.1 --bind-interfaces --user=root --pid-file= --cache-size=1000 \
	--address=/known.example/10.1.2.3 --address=/known.example/fd00::1 --local=/gone.example/ --txt-record=text.example,"some text" >/dev/null 2>&1
for i in $(seq 100); do
	echo "host$i.known.example A"; echo "host$i.known.example AAAA"; echo "host$i.gone.example A"; echo "text.example TXT"
done >"$T/queries"

by() { q "SELECT method,status,count(*),sum(paired),sum(is_error) FROM message WHERE protocol='dns' GROUP BY 1,2 ORDER BY 1,2"; }

record
timeout 60 dnsperf -s 127.0.0.1 -p $port -d "$T/queries" -n 25 -c 4 -q 50 >"$T/udp.perf"
finish UDP
sent=$(sed -n 's/.*Queries sent: *//p' "$T/udp.perf")
answered=$(sed -n 's/.*Queries completed: *\([0-9]*\).*/\1/p' "$T/udp.perf")
is "dnsperf" "$sent,$answered" 10000,10000
is "UDP: by type and status" "$(by)" "A,NOERROR,2500,2500,0
A,NXDOMAIN,2500,2500,2500
AAAA,NOERROR,2500,2500,0
TXT,NOERROR,2500,2500,0"
is "UDP: by status, as dnsperf counted" "$(q "SELECT group_concat(status||' '||n,', ') FROM (SELECT status,count(*) n FROM message GROUP BY 1 ORDER BY 1)" | tr -d '"')" \
	"$(sed -n 's/.*Response codes: *//p' "$T/udp.perf" | sed 's/ ([0-9.]*%)//g')"
is "UDP: names" "$(q "SELECT count(DISTINCT target) FROM message")" 201

record
# dnsmasq closes a connection after 100 questions.
head -n 200 "$T/queries" >"$T/few"
timeout 60 dnsperf -m tcp -s 127.0.0.1 -p $port -d "$T/few" -n 1 -c 4 -q 4 >"$T/tcp.perf" 2>&1
finish TCP
is "TCP: dnsperf" "$(sed -n 's/.*Queries completed: *\([0-9]*\).*/\1/p' "$T/tcp.perf")" 200
is "TCP: by type and status" "$(by)" "A,NOERROR,50,50,0
A,NXDOMAIN,50,50,50
AAAA,NOERROR,50,50,0
TXT,NOERROR,50,50,0"

# from the side of those who ask
"$OBREC" -q -e l4,l7 --debuginfo none -o "$T/dig.obz" -- dig +tries=1 -p $port @127.0.0.1 known.example host.gone.example >/dev/null
is "dig" "$(sql "$T/dig.obz" "SELECT m.method,m.target,m.status,m.paired,c.role FROM message m JOIN connection c ON m.connection_id=c.id WHERE m.protocol='dns' ORDER BY 2")" "A,host.gone.example,NXDOMAIN,1,client
A,known.example,NOERROR,1,client"
