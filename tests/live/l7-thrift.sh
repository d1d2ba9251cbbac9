# A Thrift server and client in each transport and protocol: calls, declared exceptions, failures and one-way calls as many as the client made.
. tests/live/lib.inc
# Debian's python3 has Debian's modules, whatever comes first in PATH.
py=
for p in python3 /usr/bin/python3; do $p -c 'import thrift' 2>/dev/null && py=$p; done
command -v thrift >/dev/null && [ -n "$py" ] || skip "needs thrift-compiler and python3-thrift"
thrift --gen py -out "$T" tests/live/thrift_peer.thrift
port=$((20000 + RANDOM % 10000))
n=200
ways="framed:binary framed:old framed:compact buffered:binary buffered:old buffered:compact header:header"
for payload in head 16384; do
	for way in $ways; do
		port=$((port + 1))
		PYTHONPATH=$T start $py -W ignore tests/live/thrift_peer.py server ${way%:*} ${way#*:} $port 2>"$T/server"
		server=$!
		for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
		kill -0 $server || fail "$way: no server"
		obrec_start -q -p $server -e l4,l7 --payload $payload -o "$T/a.obz"
		PYTHONPATH=$T $py -W ignore tests/live/thrift_peer.py client ${way%:*} ${way#*:} $port $n >"$T/client" 2>&1 || fail "$way client: $(tail -n 3 "$T/client")"
		sleep 0.3; kill -INT $obrec; obrec_wait
		kill $server 2>/dev/null || true
		is "$payload $way: exit" $status 0
		is "$payload $way: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
		is "$payload $way: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" thrift
		is "$payload $way: calls" "$(sql "$T/a.obz" "SELECT method, status, is_error, count(*), sum(paired) FROM message GROUP BY 1,2,3 ORDER BY 1,2" | tr '\n' ' ')" \
			"big,OK,0,5,5 fails,INTERNAL_ERROR,1,3,3 get,OK,0,$n,$n note,,0,$((n / 10)),0 put,EXCEPTION_1,1,$((n / 10)),$((n / 10)) put,OK,0,$((n * 4 / 10)),$((n * 4 / 10)) "
	done
done
