# Memory that Go programs allocate: shares and totals of known allocations, and what is in use at the end, lie within five standard errors, with
# Go's default rate and another one, from a program with symbols and one without, by each way to attach. A program whose profiler the linker has
# turned off is said to be one.
. tests/live/lib.inc
grep -q '^alloc .* yes' "$T/list" || skip "no probe 'alloc': $(grep '^alloc ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "Go is followed on x86-64 only"
dir=${B:-build}/workload/alloc-go
mkdir -p "$dir"
if ! cmp -s tests/live/alloc_peer.go "$dir/main.go" || [ ! -x "$dir/plain" ]; then # building takes longer than all the rest
	command -v go >/dev/null || skip "needs go"
	cp tests/live/alloc_peer.go "$dir/main.go"
	printf 'package main\nimport "os"\nfunc main() { os.Stdin.Read(make([]byte, 1)) }\n' >"$dir/none.go"
	(cd "$dir" && export GO111MODULE=off GOCACHE=${GOCACHE:-$PWD/cache} && go build -o none none.go && go build -ldflags '-s -w' -o stripped main.go && go build -o plain main.go) || fail "go build"
fi
nm "$dir/plain" | awk '$2 ~ /[tT]/ && $3 ~ /^main\.heap_/ {print $1, substr($3, 6)}' >"$T/functions"

waits() { grep -q pipe_read "/proc/$of/wchan" || [ "$(awk '{print $1}' "/proc/$of/syscall")" = 0 ]; }
# by_function ARCHIVE: KIND FUNCTION OBJECTS BYTES RATIO; by address, as the stripped program has no names. Its code is that of the other one.
by_function() {
	local at function
	while read -r at function; do
		sql "$1" "SELECT s.kind || ' $function', sum(s.count), sum(s.value) FROM sample s JOIN (SELECT DISTINCT stack_id FROM stack_frame JOIN frame r ON r.id = frame_id
			WHERE r.address >= $((0x$at)) AND r.address < $((0x$at)) + $(nm -S "$dir/plain" | awk -v f="main.$function" '$4 == f {print strtonum("0x" $2)}')) USING (stack_id) GROUP BY 1"
	done <"$T/functions" | tr ',' ' ' | tr -d '"'
}
# recorded NAME PROGRAM RATE TURNS OBJECTS ARG...: what it said is right
recorded() {
	local name=$1 program=$2 rate=$3 turns=$4 objects=$5 a=$T/$1.obz what function count bytes
	shift 5
	rm -f "$T/go"; mkfifo "$T/go"
	start sh -c 'from=$1 to=$2; shift 2; exec "$@" <"$from" >"$to"' - "$T/go" "$T/$name.did" "$dir/$program" $turns $objects $rate; of=$!
	exec 5>"$T/go"
	eventually "$name waits" waits
	obrec_start -q -p $of -e alloc "$@" -o "$a"
	echo >&5
	eventually "$name is done" written "$T/$name.did" "live heap_large"
	obrec_stop "$name"
	exec 5>&-
	wait $of || fail "$name: the program"
	is "$name: losses" "$(lost "$a")" 0
	by_function "$a" >"$T/$name.got"
	cat "$T/$name.got"
	[ $rate != 0 ] || rate=524288
	while read -r what function count bytes; do
		five=$(awk -v c=$count -v b=$bytes -v r=$rate 'BEGIN {s = b / c; p = 1 - exp(-s / r); print 5 * s * sqrt(c * (1 - p) / p)}')
		for of in "objects $count 3" "bytes $bytes 4"; do
			set -- $of
			within "$name: $what $function: $1" "$(awk -v k="$what" -v f="$function" -v n=$3 '$1 == k && $2 == f {print $n}' "$T/$name.got")" \
				$(awk -v v=$2 -v e=$five -v b=$bytes 'BEGIN {print v - v * e / b - 1, v + v * e / b + 1}')
		done
	done <"$T/$name.did"
	is "$name: in use" "$(awk '$1 == "live" {print $2}' "$T/$name.got" | sort | xargs)" "heap_kept heap_large"
	n=$(sql "$a" "SELECT CAST(total(value) * total(value) / total(1.0 * value * value) AS INTEGER) FROM sample WHERE kind = 'alloc'")
	for of in sixty=0.6 thirty=0.3 ten=0.1; do
		within "$name: share of ${of%=*}" "$(awk -v f=heap_${of%=*} '$1 == "alloc" && $2 ~ /sixty|thirty|ten/ {n += $4} $1 == "alloc" && $2 == f {v = $4} END {print v / n}' "$T/$name.got")" \
			$(awk -v p=${of#*=} -v n=$n 'BEGIN {s = 5 * sqrt(p * (1 - p) / n); print p - s, p + s}')
	done
	within "$name: complete stacks, %" "$(sql "$a" "SELECT 100.0 * total((error IS NULL) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id")" 99.5 100
}

recorded plain plain 0 200000 16000
is "callers" "$("$OBANA" show alloc-live "$T/plain.obz" --csv | grep -o 'main\.heap_[a-z]*' | sort | xargs)" "main.heap_kept main.heap_large"
for program in plain stripped; do
	recorded often-$program $program 8192 20000 16000
done
for way in $(awk '/^alloc / {on = 1; next} /^[a-z]/ {on = 0} on && $1 ~ /^(session|multi|each)$/ && $2 != "no" {print $1}' "$T/list"); do
	recorded "by-$way" stripped 8192 20000 16000 --attach alloc=$way
done

rm -f "$T/go"; mkfifo "$T/go"
start sh -c 'exec "$1" <"$2"' - "$dir/none" "$T/go"; of=$!
exec 5>"$T/go"
eventually "the other one waits" waits
obrec_start -q -p $of -e alloc -o "$T/none.obz"
echo >&5
obrec_wait
is "no profiler" "$(sql "$T/none.obz" "SELECT cause, count FROM loss")" "Go: no use of runtime.MemProfile (as by pprof): it samples no allocations,1"
