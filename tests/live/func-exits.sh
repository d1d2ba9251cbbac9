# How functions end, and where they begin: with hundreds of returns, by a conditional jump into another function, with a loop at their
# first instruction. Functions whose ends are not all known are left out, as a uretprobe ends a program whose exceptions pass them, and
# uretprobes spare what has no return address.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "exits are found on x86-64"
command -v c++ >/dev/null || skip "needs a C++ compiler"
cat >"$T/ends.cc" <<'C'
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#define FN extern "C" __attribute__((noinline, noclone, used))
volatile int sink;
FN void thrower(int i) { if (i & 1) throw i; sink = i; }
FN int many_ends(int i)
{
	switch (i) {
#define C(n) case n: sink = n * 3; asm volatile("cmp $12345, %0; jne 1f; ret; 1:" ::"r"(i) : "cc"); return n + sink;
#define C10(n) C(n##0) C(n##1) C(n##2) C(n##3) C(n##4) C(n##5) C(n##6) C(n##7) C(n##8) C(n##9)
#define C100(n) C10(n##0) C10(n##1) C10(n##2) C10(n##3) C10(n##4) C10(n##5) C10(n##6) C10(n##7) C10(n##8) C10(n##9)
		C100(1) C100(2) C100(3)
	}
	thrower(i);
	sink++;
	return 0;
}
FN int data_inside(int i)
{
	asm volatile("jmp 1f; .byte 0x06, 0x07, 0x62, 0x60; 1:");
	thrower(i);
	sink++;
	return 0;
}
/* As compilers write them. */
asm(".text\n.globl loop_first, far_end, sort_end\n"
    ".type loop_first, @function\nloop_first: mov (%rdi), %eax; lea -1(%rax), %edx; mov %edx, (%rdi); test %eax, %eax; jne loop_first; ret\n.size loop_first, .-loop_first\n"
    ".type loop_always, @function\nloop_always: mov (%rdi), %eax; lea -1(%rax), %edx; mov %edx, (%rdi); test %eax, %eax; je 1f; jmp loop_always; 1: ret\n.size loop_always, .-loop_always\n"
    ".type near_end, @function\nnear_end: test $1, %dil; jne near_to; lea 10(%rdi), %eax; ret\n.size near_end, .-near_end\n"
    ".type near_to, @function\nnear_to: lea 1(%rdi), %eax; ret\n.size near_to, .-near_to\n"
    ".type far_end, @function\nfar_end: cmp $4, %edi; .byte 0x0f, 0x8d; .long far_to - . - 4; lea 10(%rdi), %eax; ret\n.size far_end, .-far_end\n"
    ".type far_below, @function\nfar_below: cmp $4, %edi; .byte 0x0f, 0x86; .long far_to - . - 4; lea 10(%rdi), %eax; ret\n.size far_below, .-far_below\n"
    ".type far_to, @function\nfar_to: lea 1(%rdi), %eax; ret\n.size far_to, .-far_to\n");
extern "C" void loop_first(int *), loop_always(int *);
extern "C" int near_end(int), far_end(int), far_below(int);
static jmp_buf there;
FN void jumps_back(int i) { if (i) longjmp(there, i); }
int main(int argc, char **argv)
{
	int caught = 0, sum = 0;
	for (int i = 0; i < 10; i++) {
		int times = 50, again = 20;
		if (argc > 1) {
			try { many_ends(i); } catch (int) { caught++; }
			try { data_inside(i); } catch (int) { caught++; }
		}
		many_ends(100 + i);
		loop_first(&times);
		loop_always(&again);
		sum += near_end(i) + far_end(i) + far_below(i);
		if (!setjmp(there))
			jumps_back(argc == 1);
	}
	printf("%d %d %d\n", argc, caught, sum);
}
C
c++ -O1 -fcf-protection=none -o "$T/ends" "$T/ends.cc"

ends() { # NAME OPERANDS ARG OBREC-ARG...
	local name=$1 operands=$2 arg=$3
	shift 3
	"$OBREC" "$@" -e "func:$operands" --debuginfo none -o "$T/$name.obz" -- "$T/ends" $arg >"$T/$name.did" 2>"$T/$name.err" || { cat "$T/$name.err"; fail "$name: exit"; }
}
counted() { "$OBANA" show func "$T/$1.obz" --csv --limit 1000 | tail -n +2 | cut -d, -f1,7-9 | grep -E ",($2)," | cut -d, -f1-3 | LC_ALL=C sort -t, -k3 | xargs; }
asked="many_ends|data_inside|loop_first|loop_always|near_end|near_to|far_end|far_below|far_to"

"$T/ends" x >"$T/alone"
for way in multi each; do
	[ $way = multi ] && of="*" some=$asked || of="[dfln]*" some=${asked#many_ends|}
	ends $way "$T/ends:$of" x --attach func=$way
	is "$way: as without obrec" "$(<"$T/$way.did")" "$(<"$T/alone")"
	# Without cookies a short conditional jump is not known from what is behind its first byte.
	[ $way = multi ] && near="10,0,near_end 5,0,near_to" many="15,5,many_ends " || near="5,5,near_end 5,0,near_to" many=""
	is "$way: calls" "$(counted $way "$some")" "10,0,far_below 10,0,far_end 11,0,far_to 10,0,loop_always 10,0,loop_first $many$near"
	is "$way: left out" "$(lost "$T/$way.obz" "cause = 'function: return instructions not found'")" 1
	is "$way: a line" "$(grep -c "not recorded: data_inside: not all return instructions" "$T/$way.err")" 1
done
# ---- arguments of loops are those of the call
ends arguments "$T/ends:near_end,arg1:int,ret:int,rate=0" x
is "results" "$(sql "$T/arguments.obz" "SELECT group_concat(arg1 || ':' || coalesce(ret, ''), ' ') FROM (SELECT * FROM func ORDER BY ts_ns)")" "0:10 1: 2:12 3: 4:14 5: 6:16 7: 8:18 9:"

# ---- uretprobes at all functions of a program that does not throw
"$T/ends" >"$T/alone"
ends uretprobe "uretprobe,$T/ends:*,libc:_setjmp,libc:__sigsetjmp" ""
is "uretprobes: as without obrec" "$(<"$T/uretprobe.did")" "$(<"$T/alone")"
is "uretprobes: calls" "$(counted uretprobe "loop_first|loop_always|many_ends|near_end|far_end")" "10,0,far_end 10,0,loop_always 10,0,loop_first 10,0,many_ends 10,0,near_end"
is "uretprobes: not where the program begins" "$(counted uretprobe _start)" ""
