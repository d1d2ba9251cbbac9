# pymongo against a server that speaks as mongod does (it is not in Debian): commands, errors, cursors, writes without an answer, streams,
# compression; as many of each as the driver itself counted, and no password in the archive.
. tests/live/lib.inc
# Debian's python3 has Debian's modules, whatever comes first in PATH.
py=
for p in python3 /usr/bin/python3; do $p -c 'import pymongo, snappy, zstandard' 2>/dev/null && py=$p; done
[ -n "$py" ] || skip "needs python3-pymongo, python3-snappy, python3-zstandard"
port=$((20000 + RANDOM % 10000))
start $py -W ignore tests/live/mongodb_peer.py server $port 2>"$T/server"
server=$!
for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
kill -0 $server || fail "no server: $(tail -n 3 "$T/server")"
n=60
# what a stream brings behind its first part, and writes without an answer
unpaired="SELECT count(*) FROM message WHERE NOT paired AND method IS NOT NULL AND method NOT IN ('hello', 'ismaster')"
record() { # UNPAIRED WAY...
	local want=$1 way
	shift
	obrec_start -q -p $server -e l4,l7 -o "$T/a.obz"
	: >"$T/client"
	for way; do
		$py -W ignore tests/live/mongodb_peer.py client $port $n $way >"$T/out" 2>&1 || fail "$way client: $(tail -n 3 "$T/out")"
		cat "$T/out" >>"$T/client"
	done
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$*: exit" $status 0
	is "$*: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$*: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" mongodb
	is "$*: calls" "$(sql "$T/a.obz" "SELECT method, target, ifnull(nullif(status, ''), '-'), count(*) FROM message WHERE method NOT IN ('ismaster', 'hello') GROUP BY 1,2,3 ORDER BY 1,2,3" | tr ',' ' ')" \
		"$(awk '{n[$1 " " $2 " " $3] += $4} END {for (k in n) print k, n[k]}' "$T/client" | LC_ALL=C sort)"
	is "$*: without an answer" "$(sql "$T/a.obz" "$unpaired")" $want
}
record 0 zlib snappy zstd
is "compressed" "$(sql "$T/a.obz" "SELECT count(DISTINCT json_extract(detail, '$.compressor')) FROM message")" 3
record $((n * 17 / 10 + n / 10 * 4)) plain unacked exhaust auth
for secret in pl41n-s3cret b0b-s3cret; do
	obana_text=$(bsdtar xOf "$T/a.obz" 'ev/*' | zstd -dcq 2>/dev/null | grep -ac $secret || true)
	is "$secret in the archive" "$obana_text" 0
done
