# SQL over a small capture: the tables' content, output formats, what is refused.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
query() { echo "> $1"; $obana query "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

for table in process thread label binary function frame stack stack_frame sample loss program; do
	query "SELECT * FROM $table" small.obz
done
query "SELECT host, kernel, arch, started_at_ns, duration_ns, complete, stop_reason, command, probes, damage FROM capture" small.obz
query "SELECT count(*) FROM connection, message, histogram, event, endpoint, edge" small.obz
query "SELECT comm, exe FROM process ORDER BY pid" small.obz --csv
query "SELECT comm, exe FROM process ORDER BY pid" small.obz --json
query "SELECT pid, comm FROM process ORDER BY pid" small.obz --box
echo "SELECT 1; SELECT 2 AS b" | query - small.obz
query "DELETE FROM sample" small.obz
query "ATTACH 'x.db' AS x" small.obz
query "VACUUM INTO 'x.db'" small.obz
query "SELECT * FROM sampel" small.obz
query "SELECT abs(-9223372036854775808)" small.obz
query "" small.obz
query "SELECT 1"
query "SELECT 1" missing.obz
echo not an archive >text.obz
query "SELECT 1" text.obz
query small.obz | head -5
[ ! -e x.db ]
