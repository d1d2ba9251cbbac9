# SPDX-License-Identifier: BSD-2-Clause
# Two captures of one program: the new one ran twice as long, "js:recurse" takes less of it, "js:hot" more, a frame is new.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
mkobz=$TOP/$B/tests/tools/mkobz
"$mkobz" old.obz <"$TOP/tests/cli/small.obt" || exit 1
sed -e 's/^sample kind=1 ts_ns=10000000000 .*/sample kind=1 ts_ns=10000000000 thread=1 user_stack=1 count=14 value=140000000/' \
	-e 's/pid=100 /pid=7100 /' "$TOP/tests/cli/small.obt" | "$mkobz" new.obz || exit 1

$obana diff old.obz new.obz 2>&1
ls *.svg
echo "--- as recorded, one row of each"
$obana diff --absolute -n 1 old.obz new.obz 2>/dev/null | grep -A 2 'Grew most, by self'
$obana diff -n 1 old.obz new.obz 2>/dev/null | grep -A 3 "by total"
echo "--- blocked time did not change"
$obana diff --kind offcpu old.obz new.obz 2>/dev/null
echo "--- for scripts"
$obana diff --csv old.obz new.obz 2>/dev/null | cut -d, -f1-5
$obana diff --json old.obz old.obz 2>/dev/null | grep -c '"change_self_share":0.0'
echo "--- the picture"
$obana diff old.obz new.obz -o - --by process | grep -c 'data-diff="1"'
$obana diff old.obz new.obz -o - | grep -o 'new times are scaled by [0-9.]*'
# The same traffic of another container, of which the answers of the cache come 3 ms later.
"$mkobz" old-calls.obz <"$TOP/tests/cli/traffic-server.obt" || exit 1
awk '/^payload connection=2 / && /direction=1/ { split($4, ts, "="); $4 = "ts_ns=" ts[2] + 3000000 } { sub("0123456789abcdef", "fedcba9876543210"); print }' \
	CONVFMT=%d "$TOP/tests/cli/traffic-server.obt" | "$mkobz" new-calls.obz || exit 1
echo "--- requests"
$obana diff old-calls.obz new-calls.obz 2>&1
$obana diff --endpoints --csv -n 1 old-calls.obz new-calls.obz | cut -d, -f 1,3-6,15,16,21-
$obana diff --endpoints --json old-calls.obz old-calls.obz
$obana diff --endpoints old.obz new-calls.obz | head -n 8
$obana diff --endpoints old-calls.obz new-calls.obz -o x.svg 2>&1; echo "exit $?"
ls *calls*.svg 2>&1
echo "--- refused"
$obana diff old.obz 2>&1; echo "exit $?"
$obana diff old.obz new.obz old.obz 2>&1; echo "exit $?"
$obana diff old.obz nosuch.obz 2>&1; echo "exit $?"
$obana diff old.obz new.obz -o - 2>&1 >/dev/full; echo "exit $?"
$obana diff -n 0 old.obz new.obz 2>&1; echo "exit $?"
head -c 2000 new.obz >cut.obz
$obana diff old.obz cut.obz -o x.svg >/dev/null 2>err.txt; echo "exit $?"; sed 's/:.*truncated/: ... truncated/' err.txt | head -n 2
