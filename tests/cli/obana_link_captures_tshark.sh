# What tshark finds in the captures of obana_link_captures is what link_captures.tshark says: the number of requests and of
# responses of HTTP, DNS and RESP. The table is tshark 4.0's; a row is there where it is not one of each.
set -u
command -v tshark >/dev/null || { echo "needs tshark"; exit 77; }
tshark --version | head -1 | grep -q ' 4\.0\.' || { echo "the table is of tshark 4.0"; exit 77; }
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
python3 "$TOP/tests/tools/link_captures.py" "$T" || exit 1
find_in() { # CAUSE
	tshark -r "$T/$1" -d tcp.port==50000,http -d tcp.port==55000,http -d tcp.port==60000,http -d tcp.port==6379,resp -T fields -E separator=, \
		-e http.request.method -e http.response.code -e dns.flags.response -e resp.array.length -e resp.string 2>/dev/null |
		awk -F, -v c="$1" '{q += ($1 != "") + ($3 == "0") + ($4 != ""); a += ($2 != "") + ($3 == "1") + ($5 != "")}
			END {if (q != 1 || a != 1) print c, q + 0, a + 0}'
}
export T
export -f find_in
ls "$T" | xargs -P 2 -I{} bash -c 'find_in {}' | LC_ALL=C sort >"$T.table"
diff "$TOP/tests/cli/link_captures.tshark" "$T.table"
rc=$?
rm -f "$T.table"
exit $rc
