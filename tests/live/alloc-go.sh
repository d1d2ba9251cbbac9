# Memory that Go programs allocate: shares and totals of known allocations, and what is in use at the end, lie within five standard errors, with
# Go's default rate and another one, from a program with symbols and one without, by each way to attach. A program whose profiler the linker has
# turned off is said to be one.
. tests/live/lib.inc
grep -q '^alloc .* yes' "$T/list" || skip "no probe 'alloc': $(grep '^alloc ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "Go is followed on x86-64 only"
. tests/live/alloc_go.inc

runs() { [ "$(readlink "/proc/$of/exe")" = "$(realpath "$dir/none")" ]; }
# recorded NAME PROGRAM RATE TURNS OBJECTS ARG...: what it said is right
recorded() {
	local name=$1 program=$2 rate=$3 turns=$4 objects=$5 a=$T/$1.obz
	shift 5
	rm -f "$T/go"; mkfifo "$T/go"
	start sh -c 'from=$1 to=$2; shift 2; exec "$@" <"$from" >"$to"' - "$T/go" "$T/$name.did" "$dir/$program" $turns $objects $rate; of=$!
	exec 5>"$T/go"
	eventually "$name waits" written "$T/$name.did" ready
	obrec_start -q -p $of -e alloc "$@" -o "$a"
	echo >&5
	eventually "$name is done" written "$T/$name.did" "live heap_large"
	obrec_stop "$name"
	exec 5>&-
	wait $of || fail "$name: the program"
	is "$name: losses" "$(sql "$a" "SELECT source, cause, count FROM loss WHERE source IN ('alloc', 'ring', 'probe')")" ""
	told "$name" "$a" "$rate"
}

recorded plain plain 0 200000 16000
within "callers of memory in use" "$("$OBANA" show alloc-live "$T/plain.obz" --csv | grep -c 'main\.heap_[kl]')" 2 2
for program in plain stripped; do
	recorded often-$program $program 8192 20000 16000
done
for way in $(awk '/^alloc / {on = 1; next} /^[a-z]/ {on = 0} on && $1 ~ /^(session|multi|each)$/ && $2 != "no" {print $1}' "$T/list"); do
	recorded "by-$way" stripped 8192 20000 16000 --attach alloc=$way
done

rm -f "$T/go"; mkfifo "$T/go"
start sh -c 'exec "$1" <"$2"' - "$dir/none" "$T/go"; of=$!
exec 5>"$T/go"
eventually "the other one runs" runs
obrec_start -q -p $of -e alloc -o "$T/none.obz"
echo >&5
obrec_wait
is "no profiler" "$(sql "$T/none.obz" "SELECT cause, count FROM loss WHERE source = 'alloc'")" "Go: no use of runtime.MemProfile (as by pprof): it samples no allocations,1"
