# Table-driven stacks of a frame-pointer build are frame for frame those that perf's frame pointers give for the same program,
# from main down (but for the caller of a leaf that has no frame of its own, which frame pointers cannot see); and those of the build without frame pointers are the same chains.
. tests/live/lib.inc
command -v perf >/dev/null || skip "needs perf"

# chains from main to the leaf with their share of the samples, as "main;a;b SHARE"
ours() {
	"$OBANA" export folded "$1" --no-inlines -o - | python3 -c '
import collections, re, sys
c = collections.Counter()
for line in sys.stdin:
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    names = [re.sub(r"\(.*", "", f) for f in stack.split(";")]
    if "main" in names:
        names = names[names.index("main"):]
        names = names[:next((i for i, f in enumerate(names) if f in ("[kernel]",) or f.startswith(("asm_", "entry_"))), len(names))]
        c[";".join(f for f in names if f != "burn_until_over")] += int(n)
total = sum(c.values())
for k, v in c.most_common(): print(k, v / total)'
}
perfs() {
	perf script -i "$1" -F ip,sym --no-inline 2>/dev/null | python3 -c '
import collections, re, sys
c, stack = collections.Counter(), []
def flush():
    names = stack[::-1]
    if "main" in names: c[";".join(f for f in names[names.index("main"):] if f != "burn_until_over")] += 1
for line in sys.stdin:
    line = line.strip()
    if not line:
        flush(); stack = []
    else:
        stack.append(re.sub(r"\(.*", "", line.split(None, 1)[1]) if " " in line else "?")
flush()
total = sum(c.values())
for k, v in c.most_common(): print(k, v / total)'
}

# agree A B: percent of the samples of A whose chain is also in B
agree() {
	python3 - "$1" "$2" <<'PY'
import sys
def load(p): return {l.rsplit(" ", 1)[0]: float(l.rsplit(" ", 1)[1]) for l in open(p)}
a, b = load(sys.argv[1]), load(sys.argv[2])
print(100 * sum(v for k, v in a.items() if k in b))
for k, v in sorted(a.items(), key=lambda kv: -kv[1])[:6]:
    if k not in b: print("only in the first:", v, k[-300:], file=sys.stderr)
PY
}

for mode in recurse alloca; do
	start "$WORKLOAD/deep-fp" $mode 60 40 >/dev/null; fp=$!
	start "$WORKLOAD/deep" $mode 60 40 >/dev/null; plain=$!
	sleep 0.3
	"$OBREC" -q -e cpu -F 499 -d 3s -p $fp -o "$T/fp.obz" &
	o=$!
	perf record -q -F 499 --user-callchains -g -p $fp -o "$T/perf.data" -- sleep 3 >/dev/null 2>&1 ||
		perf record -q -F 499 -g -p $fp -o "$T/perf.data" -- sleep 3 >/dev/null 2>&1
	wait $o
	"$OBREC" -q -e cpu -F 499 -d 3s -p $plain -o "$T/plain.obz"
	kill $fp $plain
	ours "$T/fp.obz" >"$T/a"; ours "$T/plain.obz" >"$T/b"; perfs "$T/perf.data" >"$T/c"
	within "$mode: chains of the frame-pointer build that perf's frame pointers have too, percent" "$(agree "$T/a" "$T/c")" 95 100
	within "$mode: chains of the build without that the one with frame pointers has too, percent" "$(agree "$T/b" "$T/a")" 99 100
done
