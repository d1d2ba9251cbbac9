# Short names of functions in text and in the boxes of drawings, full ones in data, tooltips and exports; --names decides.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$TOP/$B/obana
for t in c++ nm script; do command -v $t >/dev/null || { echo "$t is missing"; exit 77; }; done

cat >prog.cc <<'END'
#include <string>
#include <vector>
namespace {
struct Feed {
	__attribute__((always_inline)) int parse(const volatile int *p) { return *p * 3; }
};
}
__attribute__((noinline)) int outer(const std::vector<std::string> &v, const volatile int *p)
{
	auto add = [&](int x) __attribute__((always_inline)) { return x + Feed().parse(p); };
	return add(*p) + int(v.size());
}
int main(int argc, char **argv)
{
	volatile int n = argc;
	return outer({argv, argv + argc}, &n);
}
END
c++ -g -O1 -no-pie -Wl,--build-id=0x0102030405060708 -o prog prog.cc || exit 1
address=$(nm -C prog | awk '/ T outer/ { print $1 }')
{
	sed -n '/^header/p' "$TOP/tests/cli/small.obt"
	echo "member .build-id/01/02030405060708.debug.zst prog"
	echo "binary id=1 build_id=0102030405060708 path=/gone/prog"
	echo "debuginfo binary=1 member=.build-id/01/02030405060708.debug.zst symbols=dwarf"
	echo "stack id=1 frames=1:$address"
	echo "sample kind=1 ts_ns=6000000000 thread=1 user_stack=1 count=1 value=1"
	echo 'end {"complete":true,"losses":[]}'
} | "$TOP/$B/tests/tools/mkobz" prog.obz || exit 1

hot() { tr -d '\r' | grep -o 'outer(.*' | sort -u; }
echo "file, short, full, terminal, terminal full:"
$obana report prog.obz | hot
$obana report --names short prog.obz | hot
$obana report --names full prog.obz | hot
SHELL=/bin/sh NO_COLOR=1 command script -qec "stty cols 200; $obana report prog.obz" /dev/null </dev/null | hot
SHELL=/bin/sh NO_COLOR=1 command script -qec "stty cols 200; $obana report --names full prog.obz" /dev/null </dev/null | hot
echo "SQL and exports, whatever is asked for:"
$obana query --names short --csv "SELECT name FROM function" prog.obz
SHELL=/bin/sh command script -qec "$obana query 'SELECT name AS function FROM function' prog.obz" /dev/null </dev/null | hot
$obana export folded --names short -o - prog.obz

drawn() { grep -o '<title>[^<]*</title>\|<text x="[0-9.]*" y="[0-9.]*"[^>]*>[^<]*std[^<]*</text>' | sed 's/<[^>]*>//g' | grep std; }
echo "tooltip and box, short and full:"
$obana flamegraph -o - prog.obz | drawn
$obana flamegraph --names full -o - prog.obz | drawn
echo "cells of the page:"
$obana report --html=- prog.obz | grep -o '<td[^>]*>[^<]*outer[^<]*</td>' | sort -u
$obana report --names full --html=- prog.obz | grep -o '<td[^>]*>[^<]*outer[^<]*</td>' | sort -u
$obana report --names long prog.obz 2>&1
echo "exit $?"
