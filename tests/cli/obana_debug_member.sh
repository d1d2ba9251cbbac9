# Symbols come from the ELF file inside the archive: functions, inlined calls, lines; the binary itself is gone.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
command -v cc nm readelf >/dev/null || { echo "no compiler or binutils"; exit 77; }

cat >prog.c <<'END'
static inline __attribute__((always_inline)) int inner(volatile int *p)
{
	return *p * 3;
}
__attribute__((noinline)) int outer(volatile int *p)
{
	return inner(p) + 1;
}
int main(int argc, char **argv)
{
	volatile int v = argc;
	return outer(&v);
}
END
cc -g -O1 -no-pie -Wl,--build-id=0x0102030405060708 -o prog prog.c || exit 1
address=$(nm prog | awk '$3 == "outer" { print $1 }')
{
	sed -n '/^header/p' "$TOP/tests/cli/small.obt"
	echo "member .build-id/01/02030405060708.debug.zst prog"
	echo "binary id=1 build_id=0102030405060708 path=/gone/prog"
	echo "debuginfo binary=1 member=.build-id/01/02030405060708.debug.zst symbols=dwarf"
	echo "stack id=1 frames=1:$address"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=1"
	echo 'end {"complete":true,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" prog.obz || exit 1
rm prog

sql="SELECT function.name, frame.line, inlined, binary.path, symbols, why FROM stack_frame JOIN frame ON frame.id = frame_id
	JOIN function ON function.id = function_id JOIN binary ON binary.id = frame.binary_id ORDER BY depth"
for way in "" "" "--no-cache" "--no-inlines --no-cache"; do # the second time from the cache
	$obana query "$sql" prog.obz $way
done
