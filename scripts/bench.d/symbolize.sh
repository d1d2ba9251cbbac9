# Symbolization of a large C++ library with inlined calls, uncached and cached, against llvm-symbolizer on the same addresses
. scripts/bench.d/lib.inc
# BENCH_IMAGE: an ELF file to use instead of the generated program
image=${BENCH_IMAGE:-build/workload/big}
[ -e "$image" ] || make -s "$image"
make -s build/tests/bench/symbolize
symbolize=build/tests/bench/symbolize
# 20,000 addresses: the start of each function and an address within it
nm -S -t d --defined-only "$image" | awk 'BEGIN{srand(1)} NF==4 && tolower($3) ~ /[twi]/ {
	a=$1+0; s=$2+0; if (s<1) s=1; print a; for (i=0;i<2;i++) print a+int(rand()*s)}' | sort -nu |
	awk 'BEGIN{srand(2)} {print rand(), $1}' | sort -n | awk 'NR <= 20000 {print $2}' >"$T/addrs"
n=$(wc -l <"$T/addrs")
dwarf=$(readelf -SW "$image" | grep -o '\.debug_.*' | python3 -c 'import sys; print(sum(int(l.split()[4], 16) for l in sys.stdin) >> 20)')
head_row
run() { OUT=$T/$1 measured sh -c 'f=$1; shift; exec "$@" <"$f"' - "$T/addrs" "${@:2}" || true; }
cat "$image" >/dev/null # warms the page cache for both
run ours "$symbolize" -m "$image"; w1=$wall c1=$cpu r1=$rss
run llvm llvm-symbolizer --no-demangle --obj="$image"
row "cold, $n addresses, $dwarf MB DWARF: s" "$w1" "$wall" "$(calc "$wall/$w1" 1)x" "> 1x"
row "CPU seconds" "$c1" "$cpu" "$(calc "$cpu/$c1" 1)x" ""
row "peak resident, MB" $((r1 >> 10)) $((rss >> 10)) "$(calc "$rss/$r1" 1)x" "< 512"
sed -i -E 's/^(.*:[0-9]+):[0-9]+$/\1/' "$T/llvm"
same=$(python3 - "$T/ours" "$T/llvm" <<'PY'
import sys
a, b = (open(f, errors="replace").read().split("\n\n") for f in sys.argv[1:])
print("%.3f" % (100 * sum(x == y for x, y in zip(a, b)) / max(len(a), len(b))))
PY
)
row "identical chains, %" "$same" - - ">= 99.9"
export SYMBOLIZE_ID=00112233
run cold "$symbolize" -m -c "$T/symbols" "$image"
run warm "$symbolize" -m -c "$T/symbols" "$image"
cmp -s "$T/ours" "$T/warm" || echo "cached answers differ"
row "cached, $n addresses: s" "$wall" - - "<= 0.1"
