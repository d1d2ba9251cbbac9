# A Thrift server and client in each transport and protocol: calls, declared exceptions, failures and one-way calls as many as the client made.
. tests/live/l7.inc
command -v thrift >/dev/null && debian_python thrift || skip "needs thrift-compiler and python3-thrift"
thrift --gen py -out "$T" tests/live/thrift_peer.thrift
n=200
ways="framed:binary framed:old framed:compact buffered:binary buffered:old buffered:compact header:header"
for payload in head 16384; do
	for way in $ways; do
		free_port
		PYTHONPATH=$T serve $py -W ignore tests/live/thrift_peer.py server ${way%:*} ${way#*:} $port 2>"$T/server"
		record --payload $payload
		PYTHONPATH=$T $py -W ignore tests/live/thrift_peer.py client ${way%:*} ${way#*:} $port $n >"$T/client" 2>&1 || fail "$way client: $(tail -n 3 "$T/client")"
		finish "$payload $way" thrift; kill $server
		is "$payload $way: calls" "$(q "SELECT method, status, is_error, count(*), sum(paired) FROM message GROUP BY 1,2,3 ORDER BY 1,2" | tr '\n' ' ')" \
			"big,OK,0,5,5 fails,INTERNAL_ERROR,1,3,3 get,OK,0,$n,$n note,,0,$((n / 10)),0 put,EXCEPTION_1,1,$((n / 10)),$((n / 10)) put,OK,0,$((n * 4 / 10)),$((n * 4 / 10)) "
	done
done
