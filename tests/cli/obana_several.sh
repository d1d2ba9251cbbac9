# Two captures of one host, of two boots, lie side by side: rows keep their capture, equal files are one binary, a capture given
# twice is taken once.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" a.obz <"$TOP/tests/cli/small.obt" || exit 1
sed 's/"realtime_ns":1700000000000000000/"realtime_ns":1700000100000000000/' "$TOP/tests/cli/small.obt" | "$TOP/$B/tests/tools/mkobz" b.obz || exit 1 # since another boot

query() { $obana query "$1" a.obz b.obz; }
query "SELECT id, host, path FROM capture"
query "SELECT capture_id, sum(count) FROM sample GROUP BY 1"
query "SELECT id, capture_id, pid FROM process ORDER BY 1"
query "SELECT count(*), count(DISTINCT thread_id), count(DISTINCT stack_id) FROM sample"
query "SELECT path, count(*) FROM binary GROUP BY 1 ORDER BY 1"
$obana report a.obz b.obz | grep -e ^Host -e ^Archive -e ^cpu -e ^offcpu
echo "--- twice"
$obana query "SELECT capture_id, sum(count) FROM sample GROUP BY 1" a.obz ./a.obz 2>&1
