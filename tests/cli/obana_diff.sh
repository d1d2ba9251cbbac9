# SPDX-License-Identifier: BSD-2-Clause
# Two captures of one program: the new one ran twice as long, "js:recurse" takes less of it, "js:hot" more, a frame is new.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
mkobz=$TOP/$B/tests/tools/mkobz
command -v script >/dev/null || { echo "script is missing"; exit 77; }
"$mkobz" old.obz <"$TOP/tests/cli/small.obt" || exit 1
sed -e 's/^sample kind=1 ts_ns=10000000000 .*/sample kind=1 ts_ns=10000000000 thread=1 user_stack=1 count=14 value=140000000/' \
	-e 's/pid=100 /pid=7100 /' "$TOP/tests/cli/small.obt" | "$mkobz" new.obz || exit 1

$obana diff old.obz new.obz 2>&1
ls *.svg 2>/dev/null || echo "no file"
echo "--- as recorded, one row of each"
$obana diff --absolute -n 1 old.obz new.obz 2>/dev/null | grep -A 2 'Grew most, by self'
$obana diff -n 1 old.obz new.obz 2>/dev/null | grep -A 3 "by total"
echo "--- blocked time did not change"
$obana diff --kind offcpu old.obz new.obz 2>/dev/null
echo "--- for scripts"
$obana diff --csv old.obz new.obz 2>/dev/null | cut -d, -f1-5,9,11
$obana diff --json old.obz old.obz 2>/dev/null | grep -c '"change_self_share":0.0'
echo "--- the picture"
$obana diff old.obz new.obz -o - --by process | grep -c 'data-diff="1"'
$obana diff old.obz new.obz -o - | grep -o 'new times are scaled by [0-9.]*'
# The same traffic of another container, of which the answers of the cache come 3 ms later.
"$mkobz" old-calls.obz <"$TOP/tests/cli/traffic-server.obt" || exit 1
awk '/^payload connection=2 / && /direction=1/ { split($4, ts, "="); $4 = "ts_ns=" ts[2] + 3000000 } { sub("0123456789abcdef", "fedcba9876543210"); print }' \
	CONVFMT=%d "$TOP/tests/cli/traffic-server.obt" | "$mkobz" new-calls.obz || exit 1
# Of 400 samples in 10 s each, "steady" has 100 and 108, "grown" 100 and 180, the rest has what is left: one change is more than chance.
many() { # samples of steady, of grown, of other, in even steps
	echo 'header {"host":"web-1","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"probes":["cpu"],"options":{"freq":40}}'
	echo "process id=1 pid=100 comm=server exe=/usr/bin/server"
	echo "thread id=1 process=1 tid=100 comm=server"
	echo 'binary id=2 path="[jit 100]"'
	n=0
	for f in steady grown other; do
		n=$((n + 1))
		echo "symbol binary=2 address=0x${n}000 size=0x100 name=$f"
		echo "stack id=$n frames=2:${n}010"
	done
	n=0
	for cnt; do
		n=$((n + 1))
		for i in $(seq $cnt); do
			echo "sample kind=1 ts_ns=$((5000000000 + (2 * i - 1) * 5000000000 / cnt)) thread=1 user_stack=$n count=1 value=25000000"
		done
	done
	echo 'end {"complete":true,"stop_reason":"duration","duration_ns":10000000000}'
}
many 100 100 200 | "$mkobz" before.obz && many 108 180 112 | "$mkobz" after.obz || exit 1
echo "--- more than chance, and grey what is not"
$obana diff before.obz after.obz
SHELL=/bin/sh TERM=xterm NO_COLOR= command script -qec "stty cols 200; $obana diff before.obz after.obz" /dev/null </dev/null | tr -d '\r' | sed 's/\x1b/ESC/g' |
	grep -A 3 'Grew most, by self'
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
