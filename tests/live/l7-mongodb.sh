# pymongo against a server that speaks as mongod does (it is not in Debian): commands, errors, cursors, writes without an answer, streams,
# compression; as many of each as the driver itself counted, and no password in the archive.
. tests/live/l7.inc
debian_python 'pymongo, snappy, zstandard' || skip "needs python3-pymongo, python3-snappy, python3-zstandard"
free_port
serve $py -W ignore tests/live/mongodb_peer.py server $port 2>"$T/server"
n=60
# what a stream brings behind its first part, and writes without an answer
unpaired="SELECT count(*) FROM message WHERE NOT paired AND method IS NOT NULL AND method NOT IN ('hello', 'ismaster')"
recorded() { # UNPAIRED WAY...
	local want=$1 way
	shift
	record
	: >"$T/client"
	for way; do
		$py -W ignore tests/live/mongodb_peer.py client $port $n $way >"$T/out" 2>&1 || fail "$way client: $(tail -n 3 "$T/out")"
		cat "$T/out" >>"$T/client"
	done
	finish "$*" mongodb
	is "$*: calls" "$(q "SELECT method, target, ifnull(nullif(status, ''), '-'), count(*) FROM message WHERE method NOT IN ('ismaster', 'hello') GROUP BY 1,2,3 ORDER BY 1,2,3" | tr ',' ' ')" \
		"$(awk '{n[$1 " " $2 " " $3] += $4} END {for (k in n) print k, n[k]}' "$T/client" | LC_ALL=C sort)"
	is "$*: without an answer" "$(q "$unpaired")" $want
}
recorded 0 zlib snappy zstd
is "compressed" "$(q "SELECT count(DISTINCT json_extract(detail, '$.compressor')) FROM message")" 3
recorded $((n * 17 / 10 + n / 10 * 4)) plain unacked exhaust auth
raw "$a" >"$T/bytes"
for secret in pl41n-s3cret b0b-s3cret; do
	is "$secret in the archive, beside what is no secret" "$(grep -ac $secret "$T/bytes" || true),$(grep -qa saslStart "$T/bytes" && echo yes)" 0,yes
done
