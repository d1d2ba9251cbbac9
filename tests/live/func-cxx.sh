# Functions of C++, which symbols name in their mangled form: they are asked for, and they and their callers shown, as programmers write
# them.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
command -v c++ >/dev/null || skip "needs a C++ compiler"
cat >"$T/serve.cc" <<'P'
#include <unistd.h>
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
int main()
{
	char c;
	app::Server s;
	return read(0, &c, 1) != 1 || s.run(50) != 150;
}
P
c++ -O1 -o "$T/serve" "$T/serve.cc"
start_held "$T/serve"
obrec_start -q -p $held -e "func:$T/serve:app::Server::handle,func:$T/serve:app::*::run" -e func:rate=0,min=0s -o "$T/a.obz"
let_go
obrec_wait # it ends with its target
is "exit" $status 0
is "losses" "$(lost "$T/a.obz" "cause NOT LIKE 'mappings %'")" 0
shown() { "$OBANA" show $1 "$T/a.obz" --json | python3 -c 'import json, sys
for row in json.load(sys.stdin): print(*(row[k] for k in sys.argv[1:]), sep=";")' "${@:2}" | LC_ALL=C sort | uniq -c | sed 's/^ *//'; }
handle="int app::Server::handle<int>(std::vector<int, std::allocator<int> > const&)" run="app::Server::run(int)"
is "functions" "$(shown func calls function)" "1 1;$run
1 50;$handle"
is "calls" "$(shown func-calls function caller)" "1 $run;main
50 $handle;$run"

# A pattern that is compared with many names: reading them takes longer than obrec waits for one answer.
python3 -c 'for i in range(400000):
    name = "_ZN3app%dstep%dEv" % (len("step%d" % i), i)
    print(f".globl {name}\n.type {name}, @function\n{name}: ret\n.size {name}, 1")
print(".section .note.GNU-stack")' >"$T/steps.s"
echo 'void step(void) __asm__("_ZN3app10step399999Ev"); int main(void) { for (int i = 0; i < 30; i++) step(); return 0; }' >"$T/main.c"
cc -o "$T/steps" "$T/main.c" "$T/steps.s"
"$OBREC" -q -e "func:$T/steps:*::step*99999" -o "$T/a.obz" -- "$T/steps"
is "functions of many" "$(shown func calls function)" "1 30;app::step399999()"
status=0; "$OBREC" -q -e "func:$T/steps:*::stop*" -o "$T/a.obz" -- "$T/steps" 2>"$T/err" || status=$?
is "none of many" "$status $(cat "$T/err")" "2 obrec: func: no function in $T/steps is called '*::stop*'"
