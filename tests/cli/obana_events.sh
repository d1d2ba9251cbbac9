# Events, counters and histograms become tables; a kind that this version does not know is shown as its archive describes it.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$TOP/$B/obana
mkobz() { "$TOP/$B/tests/tools/mkobz" "$@" || exit 1; }
query() { echo "> $1"; $obana query "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }
mkobz a.obz <"$TOP/tests/cli/events.obt"
for table in open block runq series counter histogram "event WHERE probe <> 'block'"; do query "SELECT * FROM $table" a.obz; done
query "SELECT path, function.name FROM open JOIN stack_frame USING (stack_id) JOIN frame ON frame.id = frame_id JOIN function ON function.id = function_id" a.obz
query "SELECT count(*) FROM open" a.obz
echo "--- of a newer version"
{ echo "rename open page_fault"; echo "rename path where"; echo "rename fd thread_id"; echo "rename mode Mode"; cat "$TOP/tests/cli/events.obt"; } | mkobz newer.obz
$obana schema page_fault newer.obz
query "SELECT * FROM page_fault LIMIT 1" newer.obz
query "SELECT fields FROM event WHERE probe = 'page_fault' LIMIT 1" newer.obz
query "SELECT (SELECT count(*) FROM open), (SELECT count(*) FROM page_fault)" a.obz newer.obz
$obana verify newer.obz >/dev/null && echo "verified"
echo "--- hostile names"
for to in sqlite_master select thread event counter Open x-y x; do
	{ echo "rename open $to"; sed "1,2s/host\":\"db-1/host\":\"$to/" "$TOP/tests/cli/events.obt"; } | mkobz hostile.obz
	echo "$to: $($obana schema hostile.obz | grep -o "^table .*events of a kind") $($obana query \
		"SELECT probe, count(*) FROM event GROUP BY probe" hostile.obz --csv 2>&1 | tr '\n' ' ')"
done
