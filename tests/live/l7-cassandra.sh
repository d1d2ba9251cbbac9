# DataStax' driver in each version of the protocol: every request the server answered, its status, errors, the event it pushed; all paired.
. tests/live/l7.inc
debian_python cassandra.cluster || skip "needs python3-cassandra"
for run in 3:head 4:head 5:head 5:16384; do
	version=${run%:*}
	# The last shows that the password is there to be found.
	[ $run = 5:16384 ] && open=--no-redact || open=
	free_port
	serve $py tests/live/cassandra_peer.py server $port >"$T/wanted" 2>"$T/server"
	record --payload ${run#*:} $open
	$py -W ignore tests/live/cassandra_peer.py client $port $version 200 >"$T/client" 2>&1 || fail "$run client: $(tail -n 3 "$T/client")"
	finish $run cassandra
	kill $server; wait $server || true
	q "SELECT method, status, is_error, count(*) FROM message GROUP BY 1,2,3" | LC_ALL=C sort >"$T/got"
	LC_ALL=C sort -o "$T/wanted" "$T/wanted"
	diff "$T/wanted" "$T/got" || fail "$run: requests, < as the server answered, > as recorded"
	echo "ok: $run: $(awk -F, '{n += $4} END {print n}' "$T/got") messages of $(wc -l <"$T/got") kinds"
	is "$run: not paired" "$(q "SELECT count(*) FROM message WHERE NOT paired AND method <> 'EVENT'")" 0
	is "$run: what was executed" "$(q "SELECT count(*) FROM message WHERE method = 'EXECUTE' AND target = 'SELECT id, name FROM ks.users WHERE id = ?'")" 200
	raw "$a" >"$T/bytes"
	found="$(grep -qaF ks.users "$T/bytes" && echo statements)$(grep -qaF s3cret-word "$T/bytes" && echo ", password" || true)"
	is "$run: in all bytes of the archive" "$found" "statements${open:+, password}"
done
