# The whole report of a small capture, with hostile names; the same from memory and from the views of the database.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA

"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana report small.obz >memory.txt 2>err.txt || exit 1
cat err.txt memory.txt
$obana report small.obz --sqlite=all.db 2>/dev/null | cmp - memory.txt || exit 1

echo "--- only a part"
$obana report small.obz --kind cpu --from 2s --to 22:13:24 --limit 1
$obana report small.obz --kind cpu --from '2023-11-14 22:14:00'

echo "--- attached two seconds after the header was written"
sed 's/^end {/end {"monotonic_ns":7000000000,/' "$TOP/tests/cli/small.obt" | "$TOP/$B/tests/tools/mkobz" late.obz || exit 1
$obana report late.obz | grep '^When'
$obana query 'SELECT started_at_ns, duration_ns FROM capture' late.obz --csv
for part in '--from 0s' '--to 0s'; do echo "$part $($obana report late.obz --kind cpu $part | grep '^cpu')"; done
$obana report small.obz --kind cpu --from 2s | grep '^cpu'
