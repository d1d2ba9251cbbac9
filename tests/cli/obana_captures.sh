# Conversations as others capture them: of each what obana makes of it, beside tshark's answer. tests/tools/l7_captures.py tells
# what each row is; NAME.tshark is what tshark said, and is held against it where that version is installed.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
python3 "$TOP/tests/tools/l7_captures.py" all.pcap || exit 1
python3 "$TOP/tests/tools/l7_captures.py" --rows >rows
"$OBANA" import all.pcap -o all.obz 2>err || { cat err; exit 1; }

# ROW TAB what obana says
"$OBANA" query "SELECT CAST(substr(c.local_addr, 6) AS INTEGER) || char(9) || CASE WHEN m.id IS NULL THEN coalesce(c.protocol, 'unknown')
	ELSE m.protocol || ' ' || CASE WHEN oneway THEN 'one-way' WHEN paired THEN 'pair' ELSE 'unpaired' END || ' ' || coalesce(method, '-')
		|| ' ' || coalesce(target, '-') || ' ' || request_bytes || ' -> ' || coalesce(status, '-') || CASE WHEN is_error THEN ' error ' ELSE ' ' END
		|| response_bytes || coalesce(' ' || detail, '') END AS line
	FROM connection c LEFT JOIN message m ON m.connection_id = c.id ORDER BY CAST(substr(c.local_addr, 6) AS INTEGER), c.id, m.id" all.obz --json |
	python3 -c 'import json, sys; [print(row["line"]) for row in json.load(sys.stdin)]' >ours

version() { tshark --version 2>/dev/null | sed -n '1s/\([0-9]\.[0-9]*\).*/\1/p'; } # other ones have other words
# ROW TAB protocol: what tshark says, equal lines of a row once
theirs() {
	version
	tshark -r all.pcap -d tcp.port==8081,http -d tcp.port==8082,http2 -d udp.port==9090,thrift -d udp.port==6831,thrift -d tcp.port==27017,mongo -d udp.port==11211,memcache \
		-Y 'udp or tcp.len > 0' -T fields -e ip.src -e _ws.col.Protocol -e _ws.col.Info 2>/dev/null |
		sed 's/ *$//' | awk -F'\t' '{split($1, a, "."); line = a[3] "\t" $2 ": " $3} !seen[line]++ {print line}'
}
committed=$TOP/tests/cli/obana_captures.tshark
if [ "${GOLDEN-}" = write ]; then theirs >"$committed"; fi
if [ "$(version)" = "$(head -1 "$committed")" ]; then
	theirs | diff "$committed" - || echo "tshark says something else"
fi
while read -r n name; do
	echo "$n. $name"
	awk -F'\t' -v n="$n" '$1 == n {print "   " $2}' ours
	awk -F'\t' -v n="$n" '$1 == n {print "   tshark  " $2}' "$committed"
done <rows
