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
