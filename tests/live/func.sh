# A known number of calls of functions that return, recurse, call each other, end in another one, jump or throw over their callers, end
# their thread: each is counted as what it is, and the time of those whose calls the program measured itself lies between what it read
# within the function and around its calls. By path, by name, with a link for each place, by uretprobe; children; libbpf-tools beside it.
. tests/live/lib.inc
. tests/live/security.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
[ "$(uname -m)" = x86_64 ] || skip "exits are found on x86-64"
funcs=$WORKLOAD/funcs
[ -x "$funcs" ] || skip "needs make workload"

recorded() { # NAME FUNCS-ARG OBREC-ARG...
	local name=$1 arg=$2
	shift 2
	echo | "$OBREC" -q "$@" --debuginfo none -o "$T/$name.obz" -- "$funcs" 20 $arg >"$T/$name.did" 2>"$T/$name.err" || { cat "$T/$name.err"; fail "$name: obrec"; }
	archive=$T/$name.obz did=$T/$name.did
	told_func 20
	is "losses" "$(lost "$archive")" 0
}

# ---- by path, by name; returns by instructions
recorded path "" -e "func:$funcs:fn_*"
recorded name "" -e 'func:funcs:fn_[a-l]*,funcs:fn_[m-z]*'
recorded each "" --attach func=each -e "func:$funcs:fn_*"
# ---- by uretprobe: a program that neither throws nor jumps
recorded uretprobe plain -e "func:uretprobe,$funcs:fn_*"
within "a function that ends in another one lasts longer" "$(func_total fn_tail)" "$(func_total fn_tail_end)" inf
recorded uretprobe-each plain --attach func=each -e "func:uretprobe,$funcs:fn_*"

# ---- rows, with the stack of the caller
is "rows of 10 ms and more, with stacks" "$(sql "$T/path.obz" "SELECT count(*) FILTER (WHERE function = 'fn_nap' AND binary = 'funcs' AND duration_ns >= 30000000) > 0,
	min(duration_ns) >= 10000000, count(*) - count(stack_id) FROM func" | tail -n 1)" 1,1,0
recorded rows plain -e "func:$funcs:fn_*,rate=0,min=1ms"
is "rows of 1 ms and more: naps" "$(sql "$T/rows.obz" "SELECT count(*) FROM func WHERE function = 'fn_nap'")" 21
for name in func func-latency func-latency-time func-longest func-calls; do
	"$OBANA" show $name "$T/rows.obz" >"$T/shown" || { cat "$T/shown"; fail "show $name"; }
	[ -s "$T/shown" ] || fail "show $name: nothing"
done
is "table" "$("$OBANA" show func "$T/path.obz" --csv --where "function = 'fn_recurse'" | tail -n +2 | cut -d, -f1,7-)" "$(awk '/^fn_recurse/ {print $2 "," $3 ",fn_recurse,funcs,funcs"}' "$T/path.did")"
is "reasons" "$("$OBANA" show func-unfinished "$T/path.obz" --csv | tail -n +2 | cut -d, -f1,3,4 | tr -d '"' | LC_ALL=C sort -t, -k3 | xargs -d '\n')" \
	"80,frame left without a return,fn_jump 20,thread ended,fn_leave 12,recursion too deep to follow,fn_recurse 60,frame left without a return,fn_through 20,frame left without a return,fn_throw"

# ---- a process that runs already, its libc by name, and a call that does not return before the end
mkfifo "$T/go"
start sh -c 'exec "$1" 20 <"$2" >"$3"' - "$funcs" "$T/go" "$T/attached.did"; of=$!
exec 5<>"$T/go"
obrec_start -q -p $of -e "func:funcs:fn_*,libc:getppid,rate=0" --debuginfo none -o "$T/attached.obz"
echo >&5
wait $of
obrec_wait
is "exit" $status 0
echo "getppid 40 0" >>"$T/attached.did"
LC_ALL=C sort -o "$T/attached.did" "$T/attached.did"
archive=$T/attached.obz did=$T/attached.did
told_func 20
cat >"$T/stay.c" <<'C'
#include <unistd.h>
__attribute__((noinline)) void stay(void) { for (;;) pause(); }
int main(void) { stay(); }
C
if cc -O1 -o "$T/stay" "$T/stay.c" 2>/dev/null; then
	obrec_start -q -e "func:$T/stay:stay" -o "$T/stay.obz" -- "$T/stay"
	at_pause() { grep -q "^$(case $(uname -m) in x86_64) echo 34 ;; esac) " /proc/"$(pgrep -P $obrec -x stay)"/syscall; }
	eventually "a call" at_pause
	obrec_stop
	is "a call in progress" "$("$OBANA" show func-unfinished "$T/stay.obz" --csv | tail -n +2 | cut -d, -f1,3- | tr -d '"')" "1,still running,stay,stay,stay"
fi

# ---- a thousand functions of a stripped program: as uretprobes see them
if [ -x /usr/bin/python3 ] && ! ldd /usr/bin/python3 | grep -q libpython; then
	cp "$(realpath /usr/bin/python3)" "$T/python"
	for way in instructions uretprobe; do
		[ $way = uretprobe ] && option=uretprobe, || option=
		PYTHONHASHSEED=0 "$OBREC" -q -e "func:$option$T/python:Py*" -o "$T/$way.obz" -- "$T/python" -I -S -B -c 'import json; print(len(json.dumps(list(range(100)))))' >"$T/printed"
		is "python3, by $way" "$(<"$T/printed")" 390
		"$OBANA" show func "$T/$way.obz" --csv --limit 5000 | cut -d, -f1,7,8 | LC_ALL=C sort >"$T/$way"
	done
	within "functions called" "$(wc -l <"$T/uretprobe")" 100 1100
	diff "$T/instructions" "$T/uretprobe" || fail "python3: calls by return instructions, by uretprobe"
fi

# ---- what cannot be
refused() { # WHAT STATUS PATTERN ARG...
	local what=$1 wanted=$2 pattern=$3
	shift 3
	status=0; "$OBREC" -q -o "$T/refused.obz" "$@" 2>"$T/refused" || status=$?
	is "$what: exit" $status $wanted
	is "$what: a line" "$(wc -l <"$T/refused")" 1
	grep -q "$pattern" "$T/refused" || { cat "$T/refused"; fail "$what"; }
	[ ! -e "$T/refused.obz" ] || fail "$what: an archive"
}
refused "no such function" 2 "no function in $funcs is called 'fn_none\*'" -e "func:$funcs:fn_none*" -- true
refused "no such file" 2 "$T/none: No such file" -e "func:$T/none:f" -- true
refused "no such name" 2 "no target maps a file 'none-such'" -e func:none-such:f -- true
refused "not mapped" 2 "no target maps a file 'funcs'" -e func:funcs:f -p $$
refused "nothing to record" 2 "func:BINARY:SYMBOL" -e func -- true
refused "no symbol" 2 "BINARY:SYMBOL" -e func:libc: -- true
refused "no such function of the kernel" 2 "no function of the kernel is called 'none_such'" -e func:kernel:none_such -- true
[ -e /sys/bus/event_source/devices/kprobe ] || refused "the kernel's" 4 "kernel has no kprobes" -e func:kernel:do_exit -- true

# ---- libbpf-tools' funclatency, which has a uretprobe
peers=''
start sh -c 'exec "$1" 500 plain <"$2" >"$3"' - "$funcs" "$T/go" "$T/peer.did"; of=$!
peer_start funclatency -p $of :fn_spin
[ -n "$peers" ] || skip "ok so far; no funclatency of libbpf-tools"
obrec_start -q -p $of -e "func:$funcs:fn_spin" --debuginfo none -o "$T/peer.obz"
echo >&5
wait $of
obrec_wait
for p in $peers; do kill -INT $p 2>/dev/null || true; wait $p || true; done
cat "$out/peer-funclatency"
is "calls, beside funclatency" "$(sql "$T/peer.obz" "SELECT sum(count) FROM histogram WHERE probe = 'func'")" "$(awk '$2 == "->" {n += $5} END {print n}' "$out/peer-funclatency")"
