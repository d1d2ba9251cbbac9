# Source lines of a function with their shares: from the ELF file in the archive, and the source beneath --source.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
command -v cc nm addr2line >/dev/null || { echo "no compiler or binutils"; exit 77; }
mkdir -p build/src tree/src out
cat >build/src/prog.c <<'END'
static inline __attribute__((always_inline)) int inner(volatile int *p)
{
	return *p * 3;
}
__attribute__((noinline)) int outer(volatile int *p)
{
	if (*p == 7)
		*p = 8;
	/* far */
	/* from */
	/* the */
	/* next */
	/* line */
	/* with */
	/* samples */
	return inner(p) + 1;
}
int main(int argc, char **argv)
{
	volatile int v = argc;
	return outer(&v);
}
END
cc -g -O1 -no-pie -Wl,--build-id=0x0102030405060708 -fdebug-prefix-map="$PWD"=/made -o prog build/src/prog.c || exit 1
line() { # FUNCTION NUMBER: an address of that line in it
	local start size
	read -r start size < <(nm -S prog | awk -v f="$1" '$4 == f { print $1, $2 }')
	for ((a = 0x$start; a < 0x$start + 0x$size; a++)); do
		addr2line -e prog "$(printf %x $a)" | grep -q ":$2\( \|$\)" && { printf %x $a; return; }
	done
}
far=$(line outer 7) call=$(line main 21) begin=$(line main 19) mul=$(line outer 3)
[ "$far" ] && [ "$call" ] && [ "$begin" ] && [ "$mul" ] || { echo "another compiler: $far, $call, $begin, $mul"; exit 77; }
{
	sed -n '/^header/p' "$TOP/tests/cli/small.obt"
	echo "member .build-id/01/02030405060708.debug.zst prog"
	echo "binary id=1 build_id=0102030405060708 path=/gone/prog"
	echo "debuginfo binary=1 member=.build-id/01/02030405060708.debug.zst symbols=dwarf"
	# callers are seen by the address they return to: one more
	next=$(printf %x $((0x$call + 1)))
	echo "stack id=1 frames=1:$far,1:$next"
	echo "stack id=2 frames=1:$mul,1:$next"
	echo "stack id=3 frames=1:$begin"
	echo "stack id=4 frames=1:$mul,1:$next,1:$next" # a function called by itself counts once
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=10000000"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=2 count=4 value=40000000"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=3 count=3 value=30000000"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=4 count=2 value=20000000"
	echo "sample kind=2 ts_ns=6000000000 thread=1 user_stack=3 count=1 value=5000"
	echo 'end {"complete":true,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" prog.obz || exit 1
run() { echo "> $*"; "$obana" "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }
run annotate main prog.obz
run annotate main prog.obz --kind offcpu --csv
mv build/src/prog.c tree/src
run annotate 'o*er' prog.obz --source tree
run annotate inner prog.obz --source tree
run annotate 'inner' prog.obz --source tree --json
run annotate outer prog.obz --source tree --no-inlines --csv
run annotate '*' prog.obz --source tree --limit 1 | grep -c '^[a-z].*total'
run annotate nosuch prog.obz
run annotate main
mkfifo out/prog.c
echo "> what is no file is not read"
timeout 5 "$obana" annotate main prog.obz --source out | tail -n +2
echo "> instructions: as objdump has them, also of a file without symbols"
run annotate outer prog.obz --disassemble
"$obana" annotate outer prog.obz --disassemble=prog --csv | tail -n +2 | cut -d, -f3,4,9- | tr -d '"' >code
cut -d, -f1 code | sort -u
while IFS=, read -r _ address text; do
	objdump -dwC --no-show-raw-insn --start-address="$address" --stop-address=$((address + 15)) prog | grep -m1 "^ *$(printf %x "$address"):" |
		sed 's/^[^:]*:\t//; s/\t/ /g' | grep -qxF -- "$text" || echo "objdump has another than: $address $text"
done <code
[ "$(cut -d, -f2 code)" = "$(printf '%d\n' 0x$far 0x$mul | sort -n)" ] || echo "not those with samples: $(cut -d, -f2 code)"
strip -o bare prog
diff <("$obana" annotate outer prog.obz --disassemble=prog --csv) <("$obana" annotate outer prog.obz --disassemble=bare --csv) && echo same
run annotate outer prog.obz --disassemble="$(command -v objdump)" | tail -n 1
