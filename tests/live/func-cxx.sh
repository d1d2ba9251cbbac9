# Functions of C++, which symbols name in their mangled form: they and their callers are shown as the programmer writes them.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
command -v c++ >/dev/null || skip "needs a C++ compiler"
cat >"$T/serve.cc" <<'P'
#include <vector>
namespace app {
struct Server {
	template <class T> __attribute__((noinline)) int handle(const std::vector<T> &v)
	{
		for (volatile int i = 0; i < 1000; i++) ;
		return v.size();
	}
	int run(int times);
};
__attribute__((noinline)) int Server::run(int times)
{
	std::vector<int> v(3);
	int sum = 0;
	for (int i = 0; i < times; i++)
		sum += handle(v);
	return sum;
}
}
int main() { app::Server s; return s.run(50) != 150; }
P
c++ -O1 -o "$T/serve" "$T/serve.cc"
"$OBREC" -q -e "func:$T/serve:*6handle*,func:$T/serve:*3run*" -e func:rate=0,min=0s -o "$T/a.obz" -- "$T/serve"
is "losses" "$(lost "$T/a.obz" "cause NOT LIKE 'mappings %'")" 0
shown() { "$OBANA" show $1 "$T/a.obz" --json | python3 -c 'import json, sys
for row in json.load(sys.stdin): print(*(row[k] for k in sys.argv[1:]), sep=";")' "${@:2}" | LC_ALL=C sort | uniq -c | sed 's/^ *//'; }
handle="int app::Server::handle<int>(std::vector<int, std::allocator<int> > const&)" run="app::Server::run(int)"
is "functions" "$(shown func calls function)" "1 1;$run
1 50;$handle"
is "calls" "$(shown func-calls function caller)" "1 $run;main
50 $handle;$run"
