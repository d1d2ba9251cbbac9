# The number of threads changes nothing: archives of many small chunks, payload beside other streams, and all in one lane (with a table of
# messages). The report is the same as well if its parts are written while others are loaded.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache

archives=
for name in disk events host small traffic-client traffic-server; do
	awk '{print} !/^(#|$|header|rename|end)/ && ++n % 3 == 0 {print "flush"}' "$TOP/tests/cli/$name.obt" | "$TOP/$B/tests/tools/mkobz" $name.obz || exit 1
	archives+=" $name.obz"
done
# One whose database is large enough for a second connection, which runs half of the report's statements.
awk '{print} /^open/ && ++n == 4 {for (i = 0; i < 60000; i++) printf "open ts_ns=%d thread=%d path=/%0300d error=%d duration_ns=%d\n",
	6400000001 + i, 1 + i % 2, i % 70, i % 3, 1000 + i * 7919 % 100003}' "$TOP/tests/cli/events.obt" | "$TOP/$B/tests/tools/mkobz" large.obz || exit 1
archives+=" large.obz"
for name in $archives; do echo "$name $(bsdtar tf $name | grep -c ^ev/) chunks"; done
for of in $archives "$archives"; do
	$OBANA report $of --jobs 1 >one.txt 2>one.err || echo "$of: exit $?"
	[ -s one.txt ] || echo "$of: no report"
	for jobs in 2 3 16; do
		$OBANA report $of --jobs $jobs >many.txt 2>many.err || echo "$of: exit $?"
		cmp one.txt many.txt && cmp one.err many.err || echo "$of: differs with $jobs threads"
	done
	rm -f all.db
	$OBANA report $of --sqlite=all.db >rows.txt 2>rows.err || echo "$of: exit $?"
	cmp one.txt rows.txt || echo "$of: differs with all tables"
done
$OBANA report large.obz --sqlite=large.db >large.txt || echo "large.obz: exit $?"
[ "$(stat -c %s large.db)" -gt $((16 << 20)) ] || echo "large.obz: too small: $(stat -c %s large.db) bytes"
