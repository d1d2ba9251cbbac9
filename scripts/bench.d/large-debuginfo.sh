# extraction of DWARF for the functions sampled, from a program with BENCH_DWARF_MB=256 MB of DWARF and up to 500 units sampled
. scripts/bench.d/lib.inc
MB=${BENCH_DWARF_MB:-256}
cd "$T"
cat >part.cc <<'C'
#include <algorithm>
#include <deque>
#include <functional>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>
namespace shop {
struct Order { std::string name; int n; };
template <class T, int N> struct Feed {
	std::map<std::string, T> seen;
	std::unordered_map<std::string, std::vector<T>> by_name;
	int parse(std::vector<T> &v) {
		std::sort(v.begin(), v.end(), [](const T &a, const T &b) { return a.n * N % 97 < b.n * N % 97; });
		for (auto &t : v) seen[t.name] = t;
		return seen.size();
	}
	bool match(const std::string &s) { return std::regex_search(s, std::regex("a+b*|[c-f]{2,5}")); }
};
template struct Feed<Order, 3>;
template struct Feed<Order, 5>;
}
volatile int always_0;
int entry() {
	static std::vector<shop::Order> v;
	shop::Feed<shop::Order, 3> f;
	if (v.empty()) for (int i = 0; i < 40; i++) v.push_back({std::to_string(i * 7919 % 101), i});
	return always_0 ? f.match("abc") : f.parse(v);
}
C
g++ -O2 -g3 -c -o part.o part.cc
# Enough copies to reach the size, each with unique symbols.
each=$(size -A part.o | awk '/debug_(info|abbrev|line|str|rnglists|loclists|aranges|macro)/ {n += $2} END {print n}')
cnt=$((MB * 1000000 / each + 1)) hit=$((cnt < 500 ? cnt : 500))
{ nm -g --defined-only part.o | awk '{print $3}'; readelf -gW part.o | sed -n 's/^COMDAT.*\[\(_.*\)\].*/\1/p'; } | sort -u >names # including COMDAT groups
for i in $(seq $cnt); do
	awk -v p="u${i}_" '{print $1, p $1}' names >map
	objcopy --redefine-syms=map part.o u$i.o
done
{
	for i in $(seq $hit); do echo "int u${i}__Z5entryv(void);"; done
	echo "int main(void) { for (;;) {"
	for i in $(seq $hit); do echo "u${i}__Z5entryv();"; done
	echo "} }"
} >main.c
gcc -O1 -g -c -o main.o main.c
g++ ${BENCH_LD:+-fuse-ld=$BENCH_LD} -Wl,--build-id -o prog main.o u*.o
rm -f u*.o
sz=$(size -A prog | awk '/^\.debug/ {n += $2} END {print n}')
cd "$OLDPWD"
head_row
start "$T/prog"; p=$!
sleep 1
for mode in symtab auto; do # readers are children of another process, so wait4() does not count them
	measured "$OBREC" -q -e cpu -F 499 --debuginfo $mode -d 5s -p $p -o "$T/$mode.obz"
	row "$mode, DWARF of $((sz / 1000000)) MB: CPU s without reader processes" "$cpu"
	row "$mode: wall s" "$wall"
	row "$mode: peak resident without reader processes, MiB" $((rss >> 10))
	row "$mode: archive, kB" $(($(stat -c %s "$T/$mode.obz") / 1000))
	row "$mode: addresses on stacks" "$(sql "$T/$mode.obz" "SELECT count(DISTINCT address || ' ' || binary_id) FROM frame")"
	row "$mode: frames with a line" "$(sql "$T/$mode.obz" "SELECT round(100.0 * sum(f.line > 0) / count(*), 1) || ' %' FROM frame f JOIN binary b ON b.id = f.binary_id WHERE b.path = '$T/prog'")"
	sql "$T/$mode.obz" "SELECT path, symbols, why FROM binary WHERE path = '$T/prog'"
done
