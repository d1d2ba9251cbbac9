# What heaptrack says of the same program: the same stacks of memory that is not freed, in the same order, and sizes within the sampling error.
# Both intercept malloc(), so each records a run of its own; the program does the same in each.
. tests/live/lib.inc
grep -q '^alloc .* yes' "$T/list" || skip "no probe 'alloc': $(grep '^alloc ' "$T/list")"
for c in heaptrack heaptrack_print; do command -v $c >/dev/null || skip "needs $c"; done
allocs=$WORKLOAD/allocs
[ -x "$allocs" ] || skip "needs make workload"

# stacks: STACK BYTES of what is folded, the largest first; of functions of the program that matter here, its size without kilobytes
stacks() {
	sed -E 's/ ([0-9]+)$/;\1/' | awk -F';' '{
		s = ""
		for (i = 1; i < NF; i++) { f = $i; sub(/[ (].*/, "", f); if (f ~ /^(path|heap)_/) s = s ";" f }
		if (s != "") bytes[s] += $NF
	} END { for (s in bytes) print substr(s, 2), bytes[s] }' | sort -k2,2nr
}

n=6000 rate=8192
heaptrack -r -o "$T/heaptrack" "$allocs" callers $n </dev/null >"$T/said" 2>&1 || { cat "$T/said"; fail heaptrack; }
interpret=$(grep -o '/[^ ]*heaptrack_interpret' "$T/said") || { cat "$T/said"; fail "heaptrack does not say how to read its data"; }
zstd -dc "$T/heaptrack.raw.zst" | "$interpret" | zstd -qc >"$T/heaptrack.zst"
heaptrack_print -f "$T/heaptrack.zst" -p 0 -a 0 -T 0 --flamegraph-cost-type leaked -F "$T/heaptrack.folded" >"$T/print" 2>&1 || { cat "$T/print"; fail heaptrack_print; }
stacks <"$T/heaptrack.folded" >"$T/theirs"

start_held "$allocs" callers $n
obrec_start -q -p $held -e alloc:rate=8K -o "$T/a.obz"
let_go
wait $held || fail "$allocs: exit $?"
obrec_wait
is "exit" $status 0
is "losses" "$(sql "$T/a.obz" "SELECT source, cause, count FROM loss WHERE source IN ('alloc', 'ring', 'probe')")" ""
"$OBANA" export folded "$T/a.obz" --kind live -o "$T/obrec.folded"
stacks <"$T/obrec.folded" >"$T/ours"
paste "$T/theirs" "$T/ours"
is "stacks of heaptrack" "$(wc -l <"$T/theirs")" 6
is "stacks, the largest first" "$(cut -d' ' -f1 "$T/ours" | xargs)" "$(cut -d' ' -f1 "$T/theirs" | xargs)"
while read -r stack bytes; do
	within "$stack" "$(awk -v s="$stack" '$1 == s {print $2}' "$T/ours")" $(awk -v b=$bytes -v r=$rate 'BEGIN {e = 5 * sqrt(b * r); print b - e, b + e}')
done <"$T/theirs"
