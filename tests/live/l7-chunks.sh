# Bodies in chunks, of which only the heads of calls are kept: as many bytes as the client counts, at both ends, and nothing unpaired.
. tests/live/l7.inc
free_port
serve python3 -B tests/live/chunks_peer.py server $port >/dev/null
mkfifo "$T/go"
start bash -c "read -r <'$T/go'; exec python3 -B tests/live/chunks_peer.py client $port 20 >'$T/client'"; client=$!
a=$T/a.obz
obrec_start -q -p $server,$client -e l4,l7 --debuginfo none -o "$a"
echo >"$T/go"
wait $client || fail "client"
finish chunks http
said=$(sort "$T/client" | uniq -c | awk '{print $2 "," $3 "," $4 "," $1}' | tr '\n' ' ')
for role in client server; do
	is "$role: target, request's bytes, response's, count" \
		"$(rows "SELECT target, request_bytes, response_bytes, count(*) FROM message m JOIN connection c ON c.id = connection_id WHERE paired AND role = '$role' GROUP BY 1, 2, 3 ORDER BY 1")" "$said"
done
is "not paired" "$(q "SELECT count(*) FROM message WHERE NOT paired")" 0
