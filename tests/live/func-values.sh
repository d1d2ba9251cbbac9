# Arguments and results of functions on request: as the program passes them, of every call, escaped where they are printed; secrets in
# them masked; results alone; counted completely when rows are not; by instructions and uretprobes, with a link for each place.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "exits are found on x86-64"
values=$WORKLOAD/values N=40
[ -x "$values" ] || skip "needs make workload"

recorded() { # NAME OBREC-ARG...
	local name=$1
	shift
	echo | "$OBREC" -q "$@" --debuginfo none -o "$T/$name.obz" -- "$values" $N >"$T/$name.did" 2>"$T/$name.err" || { cat "$T/$name.err"; fail "$name: obrec"; }
	is "$name: losses" "$(lost "$T/$name.obz")" 0
}
# What values.c passes and returns, by call.
wanted=$(for ((i = 0; i < N; i++)); do
	text=(first "a longer text, with blanks" '\x1b[31mescaped\xff'$'\n' "(null)")
	printf '%s|%d|%u|%d|0x%x|%s|%d;' "${text[i % 4]}" -$i $((4000000000 + i)) $((-1000000000000 * i)) $((4096 + i)) "$(bc <<<"2^64 - 1 - $i")" $((i % 3 - 1))
done)
take=func:$values:value_take,arg1:str,arg2:int,arg3:uint,arg4:long,arg5:ptr,arg6:ulong,ret:int
results() { # ARCHIVE FUNCTION
	sql "$1" "SELECT sum(n) AS n, v FROM (SELECT count AS n, '' || low AS v FROM histogram WHERE probe = 'func' AND series = 'returned' AND key LIKE '%	$2	%'
		UNION ALL SELECT x.count, part(x.key, s.keys, 'result') FROM counter x JOIN series s USING (capture_id, probe, series) WHERE x.probe = 'func' AND x.series = 'returned_other'
		AND x.key LIKE '%	$2	%') GROUP BY v ORDER BY v" | tail -n +1 | xargs
}
third() { echo $(((N + 2 - $1) / 3)); } # how many of 0 to N - 1 are $1 modulo 3

for way in instructions uretprobe each; do
	case $way in instructions) option=() ;; uretprobe) option=(-e func:uretprobe) ;; each) option=(--attach func=each) ;; esac
	recorded $way "${option[@]}" -e "$take,rate=0" -e "func:$values:value_pick,arg1:int,ret:str,$values:value_tail,ret:str"
	got=$(sql "$T/$way.obz" "SELECT group_concat(arg1 || '|' || arg2 || '|' || arg3 || '|' || arg4 || '|' || arg5 || '|' || arg6 || '|' || ret, ';') || ';' FROM
		(SELECT * FROM func WHERE function = 'value_take' ORDER BY ts_ns)" | sed '1s/^"//; $s/"$//')
	is "$way: each call" "$got" "$wanted"
	is "$way: results" "$(results "$T/$way.obz" value_take)" "$(third 0),-1 $(third 1),0 $(third 2),1"
	is "$way: strings returned, and NULL" "$(results "$T/$way.obz" value_pick)" "$((N / 2)),0 $((N * 3 / 2)),1"
	[ $way = uretprobe ] && tail="$((N / 4)),0 $((N * 3 / 4)),1" || tail="$N,not known: ended in another function"
	is "$way: of a function that ends in another one" "$(results "$T/$way.obz" value_tail)" "$tail"
	is "$way: calls timed" "$(sql "$T/$way.obz" "SELECT sum(count) FROM histogram WHERE probe = 'func' AND series = 'latency'")" $((4 * N))
	is "$way: stacks" "$(sql "$T/$way.obz" "SELECT count(*), count(stack_id) FROM func")" $((4 * N)),$((4 * N))
done

# ---- results alone, by two words; the cells are of all calls, the rows of some
recorded alone -e "func:$values:value_take:ret,rate=7" -e "func:$values:value_pick:ret,ret:ptr"
is "results alone" "$(results "$T/alone.obz" value_take)" "$(third 0),-1 $(third 1),0 $(third 2),1"
is "not timed" "$(sql "$T/alone.obz" "SELECT count(*) FROM histogram WHERE series = 'latency'")" 0
"$OBANA" report "$T/alone.obz" | grep -E "^Events .*func: [0-9]+ of $((3 * N)) recorded singly" >/dev/null || fail "rows of all: $("$OBANA" report "$T/alone.obz" | grep Events)"
recorded alone-each --attach func=each -e "func:$values:value_take:ret"
is "results alone, a link each" "$(results "$T/alone-each.obz" value_take)" "$(third 0),-1 $(third 1),0 $(third 2),1"
is "not timed, a link each" "$(sql "$T/alone-each.obz" "SELECT count(*), sum(duration_ns) FROM func LEFT JOIN histogram ON series = 'latency'")" $N,0
# ---- narrow types
recorded narrow -e "func:$values:value_narrow,arg1:bool,arg2:int8,arg3:uint8,arg4:int16,arg5:uint16,ret:bool,rate=0"
is "narrow types" "$(sql "$T/narrow.obz" "SELECT arg1, arg2, arg3, arg4, arg5, ret FROM func ORDER BY ts_ns" | xargs)" \
	"$(for ((i = 0; i < N; i++)); do ((i % 2)) && b=true || b=false; echo "$b,-$i,$((200 + i)),-$((300 * i)),$((65000 + i)),$b"; done | sed 's/,-0/,0/g' | xargs)"
is "results of a bool" "$(results "$T/narrow.obz" value_narrow)" "$((N / 2)),0 $((N / 2)),1"
# ---- only long ones
recorded long -e "$take,min=10s"
is "rows of ten seconds and more" "$(sql "$T/long.obz" "SELECT count(*) FROM func")" 0
# ---- printed
"$OBANA" show func-calls "$T/instructions.obz" --limit 1000 >"$T/shown"
grep -q '\\x1b\[31mescaped\\xff\\x0a, -2, ' "$T/shown" || { head "$T/shown"; fail "escaped"; }
! grep -q $'\e' "$T/shown" || fail "escape sequences are printed"
"$OBANA" show func-results "$T/instructions.obz" | grep "$N  value_tail .* not known" >/dev/null || fail "func-results"

# ---- secrets in strings
cat >"$T/secret.c" <<'C'
__attribute__((noinline)) void take(const char *s) { asm volatile("" ::"r"(s) : "memory"); }
int main(void)
{
	static char text[3][40] = {"tool --password=hunter2 x", "mysql://user:hunter2@host/db", "plain hunter"};
	for (int i = 0; i < 3; i++) {
		text[i][39] = *(volatile char *)text[i];
		take(text[i]);
	}
}
C
if cc -O1 -o "$T/secret" "$T/secret.c" 2>/dev/null; then
	"$OBREC" -q -e "func:$T/secret:take,arg1:str" -o "$T/secret.obz" -- "$T/secret"
	is "secrets" "$(sql "$T/secret.obz" "SELECT arg1 FROM func ORDER BY ts_ns" | xargs -d '\n')" "tool --password=******* x mysql://user:*******@host/db plain hunter"
fi

# ---- --cpu-budget: fewer rows, as is told; all calls are counted
cat >"$T/busy.c" <<'C'
#include <signal.h>
#include <stdio.h>
static volatile int done, sink;
static void stop(int sig) { done = 1; }
__attribute__((noinline)) int busy_call(int i) { sink += i; return i & 1; }
int main(void)
{
	long n = 0;
	signal(SIGTERM, stop);
	getchar();
	while (!done)
		busy_call(n++);
	printf("%ld\n", n);
}
C
if cc -O1 -o "$T/busy" "$T/busy.c" 2>/dev/null; then
	mkfifo "$T/go"
	start sh -c 'exec "$1" <"$2" >"$3"' - "$T/busy" "$T/go" "$T/busy.did"; of=$!
	exec 5<>"$T/go"
	obrec_start -v --cpu-budget 0.1% -p $of -e "func:uretprobe,$T/busy:busy_call,arg1:int,ret:int,rate=0" --debuginfo none -o "$T/busy.obz"
	echo >&5
	throttled() { grep -q "cpu-budget: 'func' from" "$T/obrec.err"; }
	eventually "fewer rows" throttled
	kill -TERM $of
	wait $of
	obrec_wait
	is "budget: exit" $status 0
	is "budget: calls" "$(sql "$T/busy.obz" "SELECT sum(count) FROM histogram WHERE probe = 'func' AND series = 'latency'")" "$(<"$T/busy.did")"
	is "budget: results" "$(sql "$T/busy.obz" "SELECT sum(count) FROM histogram WHERE probe = 'func' AND series = 'returned'")" "$(<"$T/busy.did")"
	is "budget: rows, and those not sent" "$(sql "$T/busy.obz" "SELECT (SELECT count(*) FROM func) + sum(count) + (SELECT ifnull(sum(count), 0) FROM loss) FROM counter WHERE series = 'throttled'")" "$(<"$T/busy.did")"
	"$OBANA" report "$T/busy.obz" | grep 'rows of functions and USDT probes were throttled' >/dev/null || fail "the report does not say so"
fi

# ---- what cannot be
refused() { # PATTERN OPERAND
	status=0; "$OBREC" -q -o "$T/refused.obz" -e "func:$2" -- true 2>"$T/refused" || status=$?
	is "$2: exit" $status 2
	grep -q "$1" "$T/refused" || { cat "$T/refused"; fail "$2"; }
}
refused "arg1 to arg6" libc:malloc,arg7:int
refused "arg1 to arg6" libc:malloc,arg10:int
refused "its type is one of" libc:malloc,arg1:number
refused "does not probe" libc:malloc:ret,arg1:int
refused "neither a probe" libc:malloc,arg1
