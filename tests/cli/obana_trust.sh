# A build-id is what a program says of itself. An archive whose program carries another's gives names to its own samples alone: not to
# other archives' by the cache, and not to those of archives given with it.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
command -v cc nm readelf dwz >/dev/null || { echo "no compiler, binutils or dwz"; exit 77; }

# program FILE FUNCTION FACTOR [CC-ARG...]: FUNCTION is inlined, so DWARF alone has its name
program() {
	cat >prog.c <<-END
	static inline __attribute__((always_inline)) int $2(volatile int *p)
	{
		return *p * $3;
	}
	__attribute__((noinline)) int outer_function(volatile int *p)
	{
		return $2(p) + 1;
	}
	int main(int argc, char **argv)
	{
		volatile int v = argc;
		return outer_function(&v);
	}
	END
	cc -g -O1 -no-pie "${@:4}" -o "$1" prog.c || exit 1
}
# archive FILE PROGRAM BUILD-ID [LINE...]: one sample in its function
archive() {
	{
		sed -n '/^header/p' "$TOP/tests/cli/small.obt"
		echo "member .build-id/${3:0:2}/${3:2}.debug.zst $2"
		printf '%s\n' "${@:4}"
		echo "binary id=1 build_id=$3 path=/usr/bin/prog"
		echo "debuginfo binary=1 member=.build-id/${3:0:2}/${3:2}.debug.zst symbols=dwarf"
		echo "stack id=1 frames=1:$(address "$2")"
		echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=1"
		echo 'end {"complete":true,"losses":[]}'
	} | "$TOP/$B/tests/tools/mkobz" "$1" || exit 1
}
address() { nm "$1" | awk '$3 == "outer_function" { print $1 }'; }
names() {
	$obana query "SELECT capture_id AS capture, function.name FROM sample JOIN stack_frame USING (stack_id) JOIN frame ON frame.id = frame_id
		JOIN function ON function.id = function_id WHERE depth = 0 ORDER BY 1" --csv "$@" | tail -n +2
}

ID=0102030405060708
program honest honest_function 3 -Wl,--build-id=0x$ID
program hostile hostile_function 3 -Wl,--build-id=0x$ID
archive honest.obz honest $ID
archive hostile.obz hostile $ID
archive again.obz honest $ID
echo "-- a hostile archive, then an honest one, and again from the cache"
for i in hostile honest hostile honest; do names $i.obz; done
find cache -name '*.sym' | sed 's,.*/,,; s,[0-9a-f]\{32\},CONTENT,'
echo "-- both in one command"
names hostile.obz honest.obz
names honest.obz hostile.obz
echo "-- equal symbols are one binary"
names honest.obz again.obz
$obana query "SELECT count(*) FROM binary WHERE build_id = '$ID'" --csv honest.obz again.obz | tail -n 1

# Strings that programs share are in an alternate file, which each names by its build-id: that can be forged as well.
echo "-- an alternate file"
program one a_shared_function 5
program two a_shared_function 7
dwz -m common one two || exit 1
sed 's/a_shared_function/a_hostil_function/g' common >forged
cmp -s common forged && { echo "the name is not in the alternate file"; exit 1; }
id() { readelf -n "$1" | awk '/Build ID/ { print $3 }'; }
alt=$(id common)
archive honest.obz one "$(id one)" "member .build-id/${alt:0:2}/${alt:2}.debug.zst common"
archive hostile.obz one "$(id one)" "member .build-id/${alt:0:2}/${alt:2}.debug.zst forged"
for i in hostile honest hostile honest; do names $i.obz; done
rm -r cache
for i in honest hostile; do names $i.obz; done

# Where the record says that a binary has no symbols, a member of its name is not its own.
echo "-- an alternate file with the id of a binary"
{
	sed -n '/^header/p' "$TOP/tests/cli/small.obt"
	echo "member .build-id/01/02030405060708.debug.zst hostile"
	echo "binary id=1 build_id=$ID path=/usr/bin/prog"
	echo "debuginfo binary=1 symbols=none why=\"its build-id is that of a dwz alternate file\""
	echo "stack id=1 frames=1:$(address hostile)"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=1"
	echo 'end {"complete":true,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" none.obz || exit 1
names none.obz
