# DWARF in .dwo files and in a .dwp package: the archive's excerpts say of every address that was hit what llvm-symbolizer says of the
# program where it was built: inline chains, names, files and lines. Where .dwo files are gone, a line says so and how many.
. tests/live/lib.inc
for t in g++ python3 llvm-symbolizer; do command -v $t >/dev/null || skip "needs $t"; done
cat >"$T/part.cc" <<'C'
#include <algorithm>
#include <map>
#include <string>
#include <vector>
namespace shop {
struct Order { std::string name; int n; };
template <class T> struct Feed {
	std::map<std::string, T> seen;
	static inline __attribute__((always_inline)) int weigh(const T &t) { return t.n * 3 + 1; }
	int parse(std::vector<T> &v, volatile int *out) {
		struct Less { bool operator()(const T &a, const T &b) { return weigh(a) < weigh(b); } };
		std::sort(v.begin(), v.end(), Less());
		for (auto &t : v) { seen[t.name] = t; *out = *out + weigh(t); }
		return seen.size();
	}
};
}
static volatile int out;
int PART(int n) {
	shop::Feed<shop::Order> f;
	std::vector<shop::Order> v;
	for (int i = 0; i < n; i++) v.push_back({std::to_string(i * 7919 % 101), i});
	return f.parse(v, &out);
}
C
parts="one two three four"
cat >"$T/main.cc" <<'C'
int one(int), two(int), three(int), four(int);
int main() { for (;;) { one(500); two(400); three(300); four(200); } }
C

# build DIR COMPILER FLAG...: DIR/prog, each unit's .dwo beside its object
build() {
	local dir=$T/$1
	shift
	mkdir -p "$dir"
	(
		cd "$dir"
		cp ../part.cc ../main.cc .
		for p in $parts; do "$@" -O2 -g -gsplit-dwarf -DPART=$p -c -o $p.o part.cc; done
		"$@" -O2 -g -gsplit-dwarf -c -o main.o main.cc
		"$@" -Wl,--build-id -o prog *.o
		rm -f *.o
	) || fail "building $1"
}

# record NAME DIR: DIR/prog into NAME.obz
record() {
	local prog
	"$T/$2/prog" & prog=$!
	pids+=($prog)
	capture 150 $prog -e cpu -F 499 -o "$T/$1.obz"
	kill $prog
}

# agree NAME DIR [FILE]: all addresses of the program on stacks, as llvm-symbolizer has them of it, or of the FILE it was made of
agree() {
	"$OBANA" query "$T/$1.obz" "SELECT s.stack_id, s.depth, printf('%d', f.address), fn.name, f.file, f.line, f.inlined
		FROM stack_frame s JOIN frame f ON f.id = s.frame_id JOIN binary b ON b.id = f.binary_id LEFT JOIN function fn ON fn.id = f.function_id
		WHERE b.path = '$T/$2/prog' ORDER BY 1, 2" --json >"$T/frames"
	python3 - "$T/frames" "$T/$2/${3:-prog}" <<'PY' || fail "$1: chains differ"
import json, re, subprocess, sys
rows, program = json.load(open(sys.argv[1])), sys.argv[2]
chains, chain = {}, []
for r in rows:
    r = list(r.values())
    chain.append("%s\n%s:%s" % (r[3] or "??", r[4] or "??", r[5] or 0))
    if not r[6]:
        chains[int(r[2])] = "\n".join(chain)
        chain = []
addrs = sorted(chains)
def run(input, *command): return subprocess.run(command, input=input, capture_output=True, text=True, check=True).stdout
said = run("\n".join(map(hex, addrs)), "llvm-symbolizer", "--no-demangle", "--obj=" + program)
said = run(re.sub(r"(?m)^(.*:\d+):\d+$", r"\1", said), "c++filt")
said = re.sub(r"\[clone (.*?)\]", r"(\1)", said).split("\n\n")
bad = [(a, chains[a].split("\n"), s.split("\n")) for a, s in zip(addrs, said) if chains[a] != s]
inlined = sum(c.count("\n") // 2 for c in chains.values())
print("%d addresses, %d inlined, %d differ" % (len(addrs), inlined, len(bad)))
for a, ours, llvm in bad[:3]:
    n = next((n for n, (o, l) in enumerate(zip(ours, llvm)) if o != l), min(len(ours), len(llvm)) - 1)
    print("at %#x, line %d of %d, llvm's %d:\n%s\n%s" % (a, n, len(ours), len(llvm), ours[n], llvm[n]))
sys.exit(bool(bad) or len(addrs) < 30 or inlined < 30)
PY
}

kind() { sql "$T/$1.obz" "SELECT symbols, ifnull(why, '') FROM binary WHERE path = '$T/$2/prog'"; }


split() { # NAME DIR [FILE]
	record $1 $2
	is "$1: symbols" "$(kind $1 $2)" "dwarf,"
	agree $*
}
build gcc g++
split gcc gcc
if command -v llvm-dwp >/dev/null; then
	(cd "$T/gcc" && llvm-dwp -e prog -o prog.dwp && rm ./*.dwo) || fail "llvm-dwp"
	split package gcc
fi
if command -v dwp >/dev/null; then
	build gcc4 g++ -gdwarf-4
	(cd "$T/gcc4" && dwp -e prog -o prog.dwp && rm ./*.dwo) || fail "dwp"
	split package4 gcc4
fi
if command -v clang++ >/dev/null; then
	build clang clang++
	split clang clang
fi

# a separate debug file, which has the skeletons; type units in the .dwo files
build apart g++ -fdebug-types-section
(cd "$T/apart" && cp prog whole && objcopy --only-keep-debug whole prog.debug && strip prog && objcopy --add-gnu-debuglink=prog.debug prog) || fail "objcopy"
split apart apart whole

# the program has a root of its own, where its .dwo files are; the host has no such directory
build inner g++ -static -ffile-prefix-map="$T/inner=/built-here"
mkdir -p "$T/root/built-here" "$T/root/bin"
mv "$T"/inner/*.dwo "$T/root/built-here"
cp "$T/inner/prog" "$T/root/bin"
chroot "$T/root" /bin/prog & pids+=($!)
capture 150 $! -e cpu -F 499 -o "$T/inner.obz"
is "in a root: symbols" "$(sql "$T/inner.obz" "SELECT symbols, ifnull(why, '') FROM binary WHERE path LIKE '%/bin/prog'")" "dwarf,"
within "inlined frames of the program's own" "$(sql "$T/inner.obz" "SELECT count(*) FROM frame JOIN function ON function.id = function_id WHERE inlined AND name LIKE 'shop::%'")" 3 100000

# .dwo files that are gone: all five units, told by number
record gone inner
is "gone" "$(kind gone inner)" "dwarf,5 .dwo files not found (split DWARF): only functions and lines there"
"$OBANA" report "$T/gone.obz" >"$T/report"
grep -q "5 .dwo files not found" "$T/report" || fail "not in the report: $(grep -A 9 "without full symbols" "$T/report")"
within "lines of the skeletons" "$(sql "$T/gone.obz" "SELECT count(*) FROM frame WHERE line AND file LIKE '%part.cc'")" 1 100000
