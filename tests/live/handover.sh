# Connections that change hands: prefork, inherited, passed through Unix sockets, duplicated, shared, one descriptor's number again and again. Each
# message and byte is on the right connection, and each connection with the process that serves it.
. tests/live/lib.inc
[ -x "$WORKLOAD/handover" ] || skip "needs make workload"
a=$T/a.obz
"$OBREC" -q -e l4,l7 --debuginfo none -o "$a" -- "$WORKLOAD/handover" >"$T/truth" || fail "obrec: $?"
is "losses" "$(sql "$a" "SELECT coalesce(sum(count),0) FROM loss")" 0
is "connections, and shares in one" "$(wc -l <"$T/truth")" 595
sort "$T/truth" >"$T/want"
sql "$a" "SELECT p.pid, c.remote_port, c.sends, c.bytes_sent, c.receives, c.bytes_received, count(m.id), min(json_extract(m.detail, '\$.host'))
	FROM connection c JOIN process p ON p.id = c.process_id LEFT JOIN message m ON m.connection_id = c.id AND m.paired AND m.status = '200'
	WHERE c.role = 'server' AND c.transport = 'tcp' GROUP BY c.id" | sort >"$T/got"
diff "$T/want" "$T/got" >"$T/diff" || fail "served connections (program <, obana >): $(grep -c '^<' "$T/diff") differ, e.g. $(head -n 6 "$T/diff")"
is "each connection's process, calls, bytes, messages, host" "$(wc -l <"$T/got")" 595
is "one host a connection" "$(sql "$a" "SELECT count(*) FROM (SELECT 1 FROM message GROUP BY connection_id HAVING count(DISTINCT json_extract(detail, '\$.host')) > 1)")" 0
is "all paired, at both ends" "$(sql "$a" "SELECT count(*), sum(paired) FROM message")" 3510,3510
is "both ends found" "$(sql "$a" "SELECT count(*) FROM connection WHERE transport = 'tcp' AND other_id IS NOT NULL")" 1170
is "shares name the connection, its other end is found through it" "$(sql "$a" "SELECT count(*), sum(c.protocol = 'http'), sum(o.remote_port = c.remote_port), count(DISTINCT o.id), count(c.other_id)
	FROM connection c JOIN connection o ON o.id = c.shares_id")" 10,10,10,10,0
is "no edge but the requests'" "$(sql "$a" "SELECT protocol, sum(calls) FROM flow WHERE protocol IS NOT NULL GROUP BY 1")" http,1755
