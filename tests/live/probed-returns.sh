# A function whose return is probed returns to the kernel's trampoline: stacks within go on to its caller, through functions that were
# jumped to from others and through recursion, as they do when its instructions are executed out of line.
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/nested.c" <<'C'
#include <stdlib.h>
#define FUNC __attribute__((noinline, noipa))
static volatile unsigned long sink;

FUNC void spin(long n) { for (long i = 0; i < n; i++) sink += i; }
FUNC int work(long n) { spin(n); return sink & 1; }
FUNC int jumps(long n) { return work(n); }
FUNC int again(long n, int depth)
{
	int odd = depth ? again(n, depth - 1) : jumps(n);
	sink += odd; /* after the call: no jump */
	return odd;
}
FUNC int asks(long n) { int odd = again(n, 5); sink += odd; return odd; }
int main(int argc, char **argv)
{
	for (int i = 0; i < atoi(argv[1]); i++) asks(50000000);
	return argc == 0;
}
C
cc -O2 -fno-omit-frame-pointer -o "$T/nested" "$T/nested.c" || fail "cc"
for how in "func:uretprobe,$T/nested:work,$T/nested:jumps,$T/nested:again" "func:$T/nested:work,$T/nested:jumps,$T/nested:again"; do
	"$OBREC" -q -F 499 -e cpu -e "$how" -o "$T/a.obz" -- "$T/nested" 12 || fail "obrec -e $how: $?"
	asked() { sql "$T/a.obz" "WITH st AS (SELECT sf.stack_id, group_concat(f.name, ' ') AS names FROM (SELECT * FROM stack_frame ORDER BY stack_id, depth) sf
		JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id GROUP BY 1) $1"; }
	is "${how%%[:,]*}: calls" "$(asked "SELECT sum(count) FROM histogram WHERE probe = 'func' AND series = 'latency'")" $((12 * 8))
	all=$(asked "SELECT sum(s.count) FROM sample s JOIN st USING (stack_id) WHERE s.kind = 'cpu' AND ' ' || st.names LIKE '% spin %'")
	whole=$(asked "SELECT sum(s.count) FROM sample s JOIN st USING (stack_id) WHERE s.kind = 'cpu' AND ' ' || st.names LIKE '% spin work again again again again again again asks main %'")
	within "$how: samples of the loop" "$all" 20 100000
	within "$how: of these, up to main, of $all" "$whole" $((all * 95 / 100)) "$all" # a few instructions are between the trampoline and what is known of it
done
