# How functions and their files are named: a library by several operands, by several paths and through links; a function by several of its
# names, whose operands add up; functions of C++ outside of namespaces, with and without their parameters; copies that compilers adapt.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "exits are found on x86-64"
command -v c++ >/dev/null || skip "needs a C++ compiler"
cat >"$T/lib.c" <<'C'
#define FN __attribute__((noinline, noclone))
FN int first(int i, int k) { asm volatile("" ::: "memory"); return i + k; }
FN int second(int i) { asm volatile("" ::: "memory"); return i + 2; }
int second_alias(int i) __attribute__((alias("second")));
C
cat >"$T/names.cc" <<'C'
#include <unistd.h>
extern "C" int first(int, int), second(int);
#define NI __attribute__((noinline, noclone))
NI int evex(int i) { asm volatile("" ::: "memory"); return i; }
NI int evex(long i) { asm volatile("" ::: "memory"); return i + 1; }
NI long dispatch(int i, long k) { asm volatile("" ::: "memory"); return i + k; }
template <class A, class B> NI A both(A a, B b) { asm volatile("" ::: "memory"); return a + b; }
extern "C" int copy(int) __asm__("helper.constprop.0");
extern "C" NI int copy(int i) { asm volatile("" ::: "memory"); return i; }
int main()
{
	int sum = 0;
	char c;
	if (read(0, &c, 1) != 1)
		return 1;
	for (int i = 0; i < 10; i++)
		sum += first(i, 7) + second(i) + evex(i) + evex(1L * i) + dispatch(i, i) + both(i, 2L) + copy(i) + getppid() + getuid();
	return sum == 0;
}
C
mkdir "$T/lib" "$T/other"
cc -O1 -shared -fPIC -o "$T/lib/libnamed.so.1" "$T/lib.c"
ln -s libnamed.so.1 "$T/lib/libnamed.so"
ln "$T/lib/libnamed.so.1" "$T/other/hard.so"
c++ -O1 -o "$T/names3.11" "$T/names.cc" -L"$T/lib" -lnamed -Wl,-rpath,"$T/lib"
ln -s names3.11 "$T/names3"
run=$T/names3.11

names() { # OPERANDS [start]: FUNCTION CALLS...
	if [ "${2-}" ]; then
		echo | "$OBREC" -q -e "func:$1" --debuginfo none -o "$T/a.obz" -- "$run" >"$T/out" 2>&1 || { cat "$T/out"; fail "$1"; }
	else
		start_held "$run"
		obrec_start -q -p $held -e "func:$1" --debuginfo none -o "$T/a.obz"
		let_go
		obrec_wait
	fi >&2
	is "$1: losses" "$(lost "$T/a.obz")" 0 >&2
	"$OBANA" show func "$T/a.obz" --json | python3 -c 'import json, sys
print(*sorted("%s %d/%d" % (r["function"], r["calls"], r["unfinished"]) for r in json.load(sys.stdin)), sep="; ")'
}
is "two of a library by its name" "$(names libnamed:first,libnamed:second)" "first 10/0; second 10/0"
is "by its name and path" "$(names "libnamed:first,$T/lib/libnamed.so.1:second")" "first 10/0; second 10/0"
is "by two links" "$(names "$T/lib/libnamed.so:first,$T/other/hard.so:second")" "first 10/0; second 10/0"
is "by two names of the function" "$(names libnamed:second_alias,libnamed:second)" "second 10/0"
is "two of a library to be loaded" "$(names libc:getppid,libc:getuid start)" "getppid 10/0; getuid 10/0"
is "two of a program to be started, by two links" "$(names "$T/names3:evex(int),$run:evex(long)" start)" "evex(int) 10/0; evex(long) 10/0"
values() { sql "$T/a.obz" "SELECT count(*), sum(arg1), sum(arg2), sum(ret) FROM func WHERE function = 'first'"; }
is "operands that overlap" "$(names "libnamed:f*,arg1:int,libnamed:first,arg2:int,ret:int,rate=0")" "first 10/0"
is "operands that overlap: values" "$(values)" 10,45,70,115
is "of them one results only" "$(names "libnamed:first:ret,libnamed:f*,arg1:int,arg2:int,rate=0")" "first 10/0"
is "of them one results only: values" "$(values)" 10,45,70,115

is "C++" "$(names "names3.11:evex")" "evex(int) 10/0; evex(long) 10/0"
is "C++, with parameters" "$(names "names3.11:evex(int),names3.11:dispatch(int, long)")" "dispatch(int, long) 10/0; evex(int) 10/0"
is "C++, templates" "$(names "$run:both<int, long>,rate=0,$run:disp*")" "dispatch(int, long) 10/0; int both<int, long>(int, long) 10/0"
is "copies" "$(names "$run:helper")" "helper.constprop.0 10/0"
is "a version behind the name" "$(names "names3:evex(int)")" "evex(int) 10/0"

# ---- static functions of two files with one name, and the variants of constructors and destructors, each called by another number of calls
cat >"$T/one.c" <<'C'
__attribute__((noinline, noclone)) static void same(void) { asm volatile("" ::: "memory"); }
void CALLS(int n) { while (n--) same(); }
C
cat >"$T/twice.cc" <<'C'
extern "C" void one(int), two(int);
#define NI __attribute__((noinline, noclone))
struct Base { virtual ~Base() {} };
struct Mid : virtual Base { NI Mid() { asm volatile("" ::: "memory"); } NI ~Mid() { asm volatile("" ::: "memory"); } };
struct Top : Mid {};
NI void end(Mid *m) { delete m; }
int main()
{
	one(2), two(3);
	for (int i = 0; i < 4; i++) end(new Mid);
	for (int i = 0; i < 5; i++) Top top;
}
C
cc -O1 -DCALLS=one -c -o "$T/one.o" "$T/one.c" && cc -O1 -DCALLS=two -c -o "$T/two.o" "$T/one.c"
c++ -O1 -o "$T/twice" "$T/twice.cc" "$T/one.o" "$T/two.o"
run=$T/twice
is "functions of one name" "$(names "$run:same" start | sed 's/@0x[0-9a-f]*/@/g')" "same@ 2/0; same@ 3/0"
is "variants" "$(names "$run:Mid::*" start | sed 's/; [^;]* \[unified\] 9[^;]*//g')" "Mid::Mid() 4/0; Mid::Mid() [base] 5/0; Mid::~Mid() 4/0; Mid::~Mid() [base] 5/0; Mid::~Mid() [deleting] 4/0"
status=0; "$OBREC" -q -e "func:$T:same" -o "$T/b.obz" -- true 2>"$T/err" || status=$?
is "a directory" "$status $(cat "$T/err")" "2 obrec: func: $T: Is a directory"

# ---- a program that runs already, by the name of a link to it
cat >"$T/held.c" <<'C'
#include <unistd.h>
__attribute__((noinline, noclone)) void once(void) { asm volatile("" ::: "memory"); }
__attribute__((noinline, noclone)) void again(void) { asm volatile("" ::: "memory"); }
int main(void) { char c; if (read(0, &c, 1) == 1) once(), again(), again(); }
C
cc -O1 -o "$T/held9.2" "$T/held.c"
ln -s held9.2 "$T/nap"
start_held "$T/held9.2"
PATH=$T:$PATH obrec_start -q -p $held -e "func:nap:once,held9:again" -o "$T/a.obz"
let_go
obrec_wait
is "exit" $status 0
is "by the name of a link" "$("$OBANA" show func "$T/a.obz" --csv | tail -n +2 | cut -d, -f1,7,8 | sort -t, -k3 | xargs)" "2,0,again 1,0,once"

# ---- a function whose implementation the dynamic linker chooses
libc=$(ldd "$run" | awk '$1 == "libc.so.6" {print $3}')
status=0; "$OBREC" -q -e "func:$libc:strlen" -o "$T/b.obz" -- true 2>"$T/err" || status=$?
is "an indirect function: exit" $status 2
grep -q "'strlen' in $libc is an indirect function" "$T/err" || { cat "$T/err"; fail "an indirect function"; }
