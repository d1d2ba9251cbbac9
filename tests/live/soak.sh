# A host that never rests, one kind of unrest after the other and thousands of each: what obrec has allocated is the same before and
# after, and little else is resident. Blocks tell it best: a table doubles at times, what is not forgotten is one more each time.
# scripts/bench.d/soak.sh is the hour of it.
. tests/live/lib.inc
[ -x "$WORKLOAD/churn" ] && [ -e "$WORKLOAD/heap.so" ] || skip "needs make workload"
readelf -lW "$OBREC" | grep INTERP >/dev/null || skip "a static obrec preloads nothing"
export HEAP_FILE=$T/heap
libs=$(ldconfig -p | sed -n 's/.*=> \(.*\/lib\(z\|lzma\|elf\|dw\|zstd\|bz2\)\.so.*\)/\1/p' | sort -u)
# shellcheck disable=SC2086
coproc CHURN { exec "$WORKLOAD/churn" 0 0 - $libs; }
churn=$CHURN_PID
pids+=($churn)
churn() { echo "$1 $2" >&"${CHURN[1]}"; read -r -t 300 <&"${CHURN[0]}" || fail "$2 rounds of $1 did not end"; }
heap() { od -A n -t d8 "$HEAP_FILE"; }
resident() { awk '/^RssAnon/{print $2 * 1024}' /proc/$obrec/status; }

# flat EVENTS BLOCKS BYTES: no more blocks than these at the start but for a few; bytes also for larger tables and kernel symbols
flat() {
	local now
	read -r -a now < <(heap)
	blocks=$((now[0] - $2)) bytes=$((now[1] - $3))
	[ $blocks -le $((20 + $1 / 50)) ] && [ $bytes -le $((8 << 20)) ] && [ "$(resident)" -le $((now[1] + (12 << 20))) ]
}

# unrest KIND EVENTS WHAT: what ended is forgotten in the end: after some seconds, what only a look at /proc tells within a minute
unrest() {
	local before
	read -r -a before < <(heap)
	churn "$1" "$2"
	flat "$2" "${before[@]}" || true
	echo "$3: $blocks blocks, $bytes bytes more after $2"
	for _ in $(seq 150); do ! flat "$2" "${before[@]}" || break; sleep 1; done
	flat "$2" "${before[@]}" || fail "$3: $blocks blocks, $bytes bytes are not given back after $2"
	echo "ok: $3: $blocks blocks, $bytes bytes once they are forgotten"
}

OBREC="env LD_PRELOAD=$WORKLOAD/heap.so $OBREC"
obrec_start -p $churn -F 999 -e cpu,offcpu,l4,l7 -o "$T/s.obz"
churn pctlj 60; sleep 6 # tables get their size; what ended is remembered for 3 s
unrest p 400 processes
unrest c 1500 connections
unrest t 1000 threads
unrest l 4500 libraries
unrest j 100 "processes with code of their own"
obrec_stop
tail -n 1 "$T/obrec.err"
"$OBANA" verify "$T/s.obz" >/dev/null || fail "the archive is not whole"
is "mappings that were one too many" "$(lost "$T/s.obz" "cause LIKE 'more mappings%' OR cause LIKE 'too many mappings%'")" 0
# That it was all seen.
within "processes" "$(sql "$T/s.obz" "SELECT count(*) FROM process")" 200 1300
within "connections, both ends" "$(sql "$T/s.obz" "SELECT count(*) FROM connection")" 2800 3400
within "threads" "$(sql "$T/s.obz" "SELECT count(*) FROM thread WHERE tid != $churn")" 200 2500
within "processes in generated code" "$(sql "$T/s.obz" "SELECT count(DISTINCT process_id) FROM sample JOIN thread ON thread.id = thread_id JOIN stack_frame USING (stack_id) JOIN frame ON frame.id = frame_id WHERE frame.kind = 'jit'")" 60 161
