# Go's allocations on each kernel, by each way to attach: as tests/live/alloc-go.sh.
set -euo pipefail
B=${B:-build} OBANA=$PWD/${B:-build}/obana T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
skip() { echo "$*"; exit 77; }
fail() { echo "FAILED: $*"; exit 1; }
sql() { "$OBANA" query "$1" "$2" --csv | tail -n +2; }
is() { [ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"; echo "ok: $1 = $2"; }
within() {
	awk -v g="$2" -v l="$3" -v h="$4" 'BEGIN{exit !(g!="" && g>=l && g<=h)}' || fail "$1: $2 is not within $3..$4"
	echo "ok: $1 = $2 (within $3..$4)"
}
[ "$(uname -m)" = x86_64 ] || skip "Go is followed on x86-64 only"
[ -x "$B/static/obrec" ] || skip "needs make static"
. tests/live/alloc_go.inc
files=(-f "$B/static/obrec" -f "$dir/stripped" -f tests/kernels/alloc_go_guest.inc)
for kernel in ${KERNELS-5.10 6.1 6.12 newest}; do
	at=$(scripts/kernels $kernel) || { rc=$?; echo "$at"; exit $rc; }
	rm -rf "$T/out"
	scripts/vm -c 2 -t 1000 -o "$T/out" "${files[@]}" "$at" -- sh alloc_go_guest.inc >"$T/vm" 2>&1 || { cat "$T/vm"; fail "$kernel: the guest"; }
	! grep -v ' 0$' "$T/out/status" || { cat "$T/out"/*.txt | tail -n 40; fail "$kernel: exit status"; }
	within "$kernel: ways" "$(wc -l <"$T/out/status")" 1 3
	while read -r way status; do
		cp "$T/out/$way.did" "$T/$kernel-$way.did"
		is "$kernel, $way: losses" "$(sql "$T/out/$way.obz" "SELECT source, cause, count FROM loss WHERE source IN ('alloc', 'ring', 'probe')")" ""
		told $kernel-$way "$T/out/$way.obz" 8192
	done <"$T/out/status"
done
