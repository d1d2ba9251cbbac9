# DataStax' driver in each version of the protocol: every request the server answered, its status, errors, the event it pushed; all paired.
. tests/live/lib.inc
# Debian's python3 has Debian's modules, whatever comes first in PATH.
py=
for p in python3 /usr/bin/python3; do $p -c 'import cassandra.cluster' 2>/dev/null && py=$p; done
[ -n "$py" ] || skip "needs python3-cassandra"
port=$((20000 + RANDOM % 10000))
for run in 3:head 4:head 5:head 5:16384; do
	version=${run%:*} port=$((port + 1))
	start $py tests/live/cassandra_peer.py server $port >"$T/wanted" 2>"$T/server"
	server=$!
	for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
	obrec_start -q -p $server -e l4,l7 --payload ${run#*:} -o "$T/a.obz"
	$py -W ignore tests/live/cassandra_peer.py client $port $version 200 >"$T/client" 2>&1 || fail "$run client: $(tail -n 3 "$T/client")"
	sleep 0.3; kill -INT $obrec; obrec_wait
	kill $server; wait $server || true
	is "$run: exit" $status 0
	is "$run: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$run: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" cassandra
	sql "$T/a.obz" "SELECT method, status, is_error, count(*) FROM message GROUP BY 1,2,3" | LC_ALL=C sort >"$T/got"
	LC_ALL=C sort -o "$T/wanted" "$T/wanted"
	diff "$T/wanted" "$T/got" || fail "$run: requests, < as the server answered, > as recorded"
	echo "ok: $run: $(awk -F, '{n += $4} END {print n}' "$T/got") messages of $(wc -l <"$T/got") kinds"
	is "$run: not paired" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE NOT paired AND method <> 'EVENT'")" 0
	is "$run: what was executed" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE method = 'EXECUTE' AND target = 'SELECT id, name FROM ks.users WHERE id = ?'")" 200
done
