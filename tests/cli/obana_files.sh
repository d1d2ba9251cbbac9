# The files a report writes: names, what was there before is kept, stdout, failures leave nothing behind.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1

$obana report small.obz --flamegraph --folded --pprof --sqlite 2>&1 >report.txt
$obana report small.obz --folded 2>&1 >report.txt
cmp small.folded small.folded.old || exit 1
rm -rf cache; ls
echo "--- folded"
$obana report small.obz --folded=-
echo "--- by process and thread, off-CPU"
$obana export folded small.obz -o - --kind offcpu --by process,thread
echo "--- both kinds"
$obana export folded small.obz -o - --kind cpu,offcpu
echo "--- sqlite"
sqlite3 small.sqlite "PRAGMA integrity_check; SELECT count(*), sum(count) FROM sample; SELECT function, self_count, total_count FROM hot_function WHERE kind = 'cpu' ORDER BY 1" | cat -v
echo "--- refused"
$obana report small.obz --folded=- --flamegraph=- 2>&1; echo "exit $?"
$obana report small.obz --sqlite=- 2>&1; echo "exit $?"
$obana report small.obz --flamegraph=/nonexistent/x.svg 2>&1 >/dev/null; echo "exit $?"
$obana report small.obz --kind nonsense 2>&1; echo "exit $?"
$obana report small.obz --by endpoint 2>&1; echo "exit $?"
$obana report 2>&1; echo "exit $?"
$obana flamegraph small.obz -o - 2>&1 >/dev/full; echo "exit $?"
$obana report small.obz --folded=dir/ 2>&1 >/dev/null; echo "exit $?"
$obana export nothing small.obz 2>&1; echo "exit $?"
[ -z "$(ls | grep -v -e cache -e small -e report.txt)" ] # nothing half-written stays
