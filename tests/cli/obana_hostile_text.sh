# Characters that change the direction of text and C1 controls, in every string of an archive: they are escaped in whatever obana writes but
# databases. In CSV, text that a spreadsheet would compute is no formula; numbers stay numbers.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" h.obz <"$TOP/tests/cli/hostile_text.obt" || exit 1
active=$(printf '\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c|\xc2[\x80-\x9f]')

echo "--- the archive has them"
"$obana" query "SELECT hex(comm) LIKE '%E280AE%C285%' FROM process" h.obz --csv | tail -n 1
echo "--- what is written has not"
n=0
look() { n=$((n + 1)); [ -s "$1" ] || echo "$2: empty"; if LC_ALL=C grep -Eqa "$active" "$1"; then echo "$2: characters that act"; fi; }
run() { "$obana" "$@" h.obz >out 2>err; look out "$*"; ! LC_ALL=C grep -Eqa "$active" err || echo "$*: stderr"; }
run info; run info --json; run report; run verify
run traffic; run traffic --csv; run traffic --json; run messages; run messages --csv; run messages --json
run topology; run topology --dot; run topology --svg; run topology --json
for format in "" --csv --json --box; do run query "SELECT * FROM process, connection, message, binary, function, loss, program, label, capture" $format; done
"$obana" diff h.obz h.obz -o diff.svg >out 2>&1; look out diff; look diff.svg "diff -o"
"$obana" flamegraph h.obz -o f.svg 2>/dev/null; look f.svg flamegraph
"$obana" report h.obz --html=x.html >/dev/null 2>&1; look x.html html
for format in prometheus folded speedscope pprof; do
	"$obana" export $format h.obz -o x.$format 2>/dev/null
	gzip -dc x.$format >out 2>/dev/null || cp x.$format out
	look out $format
done
echo "$n outputs"

echo "--- info --json is JSON"
"$obana" info --json h.obz | python3 -c 'import json, sys; print(ascii(json.load(sys.stdin)["header"]["host"]))'

echo "--- formulas"
{
	echo 'header {"host":"h"}'
	for text in '=1+1' '+1+1' '-1+1' '@SUM(A1)' '\x09=1' '-5' '+1.5e3' 'a=b'; do echo "process id=$((++id)) pid=1 comm=\"$text\""; done
	echo 'end {"complete":true}'
} | "$TOP/$B/tests/tools/mkobz" f.obz
"$obana" query "SELECT id, -id AS negative, comm FROM process" f.obz --csv
