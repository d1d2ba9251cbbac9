# Captures of every link type, tunnel and file format, of fragments, and of connections that begin or end oddly: one row a
# cause (tests/tools/link_captures.py), with the calls expected, what is said to be left out, and what tshark finds.
set -u
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export XDG_CACHE_HOME=$T/cache
python3 "$TOP/tests/tools/link_captures.py" "$T/in" || exit 1
for f in "$T"/in/*; do
	cause=$(basename "$f")
	echo "$cause: tshark $(awk -v c="$cause" '$1 == c {print $2 "/" $3; found = 1} END {if (!found) print "1/1"}' "$TOP/tests/cli/link_captures.tshark")"
	(cd "$T/in" && "$OBANA" import "$cause" -o "$T/out.obz" 2>&1) | sed -n "s/^obana: \($cause: \)\?/    /; /    wrote/d; p"
	[ -e "$T/out.obz" ] || continue
	"$OBANA" query "SELECT comm || ', ' || transport || ' ' || local_addr || ':' || local_port || ' ' || ifnull(role, 'role unknown') || ', ' || bytes_sent
		|| ' sent ' || bytes_received || ' received' || iif(retransmits, ', again ' || retransmits, '') || iif(closed_ns, ', closed: ', ', open: ')
		|| ifnull(group_concat(iif(m.id IS NULL, NULL, ifnull(m.method, '-') || ' ' || ifnull(m.target, '-') || ' ' || ifnull(m.status, '-') || iif(m.paired, '', ' unpaired')), ', '), 'no message') AS c
		FROM connection c LEFT JOIN message m ON m.connection_id = c.id JOIN process p ON p.id = c.process_id GROUP BY c.id ORDER BY c.id" \
		"$T/out.obz" --csv | sed '1d; s/\r$//; s/^"\(.*\)"$/\1/; s/^/        /'
	rm "$T/out.obz"
done
