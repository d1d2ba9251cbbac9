# USDT probes: each time a probe fires is counted, and is a row with its arguments and stack: with and without semaphore, of programs
# that run already or are started; with one link, and one for each place; of the headers of SystemTap, of python3; beside bpftrace.
. tests/live/lib.inc
grep -q '^func .* yes' "$T/list" || skip "no probe 'func': $(grep '^func ' "$T/list")"
values=$WORKLOAD/values N=40
[ -x "$values" ] || skip "needs make workload"

times() { # ARCHIVE: by probe
	sql "$1" "SELECT part(x.key, s.keys, 'probe') AS probe, sum(x.count) FROM counter x JOIN series s USING (capture_id, probe, series) WHERE x.probe = 'func' AND x.series = 'usdt' GROUP BY 1 ORDER BY 1" | xargs
}
all="values:asked,$N values:plain,$N values:three,$N"

is "nobody asks" "$(echo | "$values" $N)" 0
for way in multi each; do
	option=(); [ $way = multi ] || option=(--attach func=each)
	echo | "$OBREC" -q "${option[@]}" -e "usdt:$values:values:plain,arg1:int,arg2:str,rate=0,$values:values:*,arg1:int,arg2:uint,arg3:long" -o "$T/$way.obz" -- "$values" $N >"$T/$way.asked" ||
		fail "$way: obrec"
	is "$way: losses" "$(lost "$T/$way.obz")" 0
	is "$way: times" "$(times "$T/$way.obz")" "$all"
	is "$way: asked for" "$(<"$T/$way.asked")" $N
	is "$way: rows with stacks" "$(sql "$T/$way.obz" "SELECT count(*), count(stack_id) FROM usdt")" $((3 * N)),$((3 * N))
	is "$way: registers, strings" "$(sql "$T/$way.obz" "SELECT arg1, arg2 FROM usdt WHERE name = 'values:plain' ORDER BY ts_ns LIMIT 4" | xargs -d '\n')" \
		'0,first 1,"a longer text, with blanks" 2,"\x1b[31mescaped\xff " 3,(null)'
	is "$way: a constant, memory" "$(sql "$T/$way.obz" "SELECT count(*), count(*) FILTER (WHERE arg2 = '7' AND 0 + arg3 = -arg1 << 40), min(0 + arg1), max(0 + arg1) FROM usdt WHERE name = 'values:three'")" \
		"$N,$N,$((1 - N)),0"
done
"$OBANA" show usdt "$T/multi.obz" | grep "$N  values:asked  values  values" >/dev/null || fail "show usdt"
"$OBANA" show usdt-times "$T/multi.obz" --limit 1000 >"$T/shown"
grep -q 'values:plain .* 2, \\x1b\[31mescaped\\xff\\x0a$' "$T/shown" || { head "$T/shown"; fail "show usdt-times"; }

# ---- a process that runs already; rows are bounded, counts are not; when obrec has ended nobody asks any more
mkfifo "$T/go"
start sh -c 'exec "$1" 5000 <"$2" >"$3"' - "$values" "$T/go" "$T/attached"; of=$!
exec 5<>"$T/go"
obrec_start -q -p $of -e "usdt:values:values:*" --debuginfo none -o "$T/attached.obz"
echo >&5
wait $of
obrec_wait
is "exit" $status 0
is "by name: times" "$(times "$T/attached.obz")" "values:asked,5000 values:plain,5000 values:three,5000"
is "by name: asked for" "$(<"$T/attached")" 5000
is "by name: the function is known" "$("$OBANA" show usdt-times "$T/attached.obz" --limit 20000 --csv | tail -n +2 | cut -d, -f5,7 | sort -u | xargs)" \
	"values:asked,value_asked values:plain,value_fire values:three,value_fire"
is "by name: rows" "$(sql "$T/attached.obz" "SELECT count(*) BETWEEN 200 AND 14000 FROM usdt")" 1
"$OBANA" report "$T/attached.obz" | grep -E '^Events .*usdt: [0-9,]+ of 15,000 recorded singly' >/dev/null || fail "rows of all: $("$OBANA" report "$T/attached.obz" | grep Events)"
is "nobody asks any more" "$(echo | "$values" $N)" 0

# ---- the headers of SystemTap, whose strings compilers fill in
cat >"$T/sdt.c" <<'C'
#define _SDT_HAS_SEMAPHORES 1
#include <sys/sdt.h>
unsigned short sdt_asked_semaphore __attribute__((section(".probes"))), sdt_second_semaphore __attribute__((section(".probes")));
int main(int argc, char **argv)
{
	for (volatile int i = 0; i < 50; i++) {
		STAP_PROBE3(sdt, asked, i, argv[1], i * 1000L);
		if (sdt_asked_semaphore)
			STAP_PROBE1(sdt, second, 7);
	}
}
C
if cc -O1 -o "$T/sdt" "$T/sdt.c" 2>"$T/cc"; then
	"$OBREC" -q -e "usdt:$T/sdt:sdt:*,arg1:int,arg2:str,arg3:long" -o "$T/sdt.obz" -- "$T/sdt" text >"$T/out" 2>&1 || { cat "$T/out"; fail "sdt"; }
	is "<sys/sdt.h>" "$(times "$T/sdt.obz")" "sdt:asked,50 sdt:second,50"
	is "its arguments" "$(sql "$T/sdt.obz" "SELECT count(*) FILTER (WHERE arg2 = 'text' AND arg3 = arg1 * 1000), count(*) FILTER (WHERE arg1 = '7' AND arg2 = '') FROM usdt")" 50,50
else
	echo "no <sys/sdt.h>: $(head -n 1 "$T/cc")"
fi

# ---- Debian's python3, which fires function-entry for all functions only if it has to fire `line`
if readelf -n /usr/bin/python3 2>/dev/null | grep 'Name: function__entry' >/dev/null; then
	"$OBREC" -q -e "usdt:/usr/bin/python3:python:function-*,arg2:str,rate=0,/usr/bin/python3:python:line" -o "$T/python.obz" -- /usr/bin/python3 -I -S -B -c 'import time # at its pace: the start alone fires thousands in milliseconds, which the ring buffer may have no room for
def known(n): return n and known(n - 1)
for i in range(30): known(9); time.sleep(0.05)'
	is "python3: each function that was entered was left" "$(sql "$T/python.obz" "SELECT count(DISTINCT n), min(n) >= 300 FROM (SELECT key, sum(count) AS n FROM counter WHERE series = 'usdt' AND key LIKE '%function%' GROUP BY key)")" 1,1
	is "python3: names of functions" "$(sql "$T/python.obz" "SELECT count(*) > 0 FROM usdt WHERE arg2 = 'known'")" 1
fi

# ---- what cannot be
refused() { # PATTERN OPERAND
	status=0; "$OBREC" -q -o "$T/refused.obz" -e "usdt:$2" -- true 2>"$T/refused" || status=$?
	is "$2: exit" $status 2
	grep -q "$1" "$T/refused" || { cat "$T/refused"; fail "$2"; }
	[ ! -e "$T/refused.obz" ] || fail "$2: an archive"
}
refused "no USDT probe in $values is called 'values:none'" "$values:values:none"
refused "no USDT probe in /bin/true is called" "/bin/true:*:*"
refused "BINARY:PROVIDER:NAME" "$values:plain"
refused "arg1 to arg12" "$values:values:plain,arg13:int"
refused "no result" "$values:values:plain,ret:int"

# ---- bpftrace
command -v bpftrace >/dev/null || skip "ok so far; no bpftrace"
start sh -c 'exec "$1" 500 <"$2" >"$3"' - "$values" "$T/go" "$T/peer"; of=$!
bpftrace -p $of -e "usdt:$values:values:plain { @plain = count(); } usdt:$values:values:asked { @asked = count(); } BEGIN { printf(\"ready\\n\"); }" >"$T/bpftrace" 2>&1 & peer=$!
ready() { grep -q '^ready' "$T/bpftrace" || ! kill -0 $peer 2>/dev/null; }
eventually "bpftrace" ready
kill -0 $peer 2>/dev/null || skip "ok so far; bpftrace ends: $(tail -n 1 "$T/bpftrace")"
obrec_start -q -p $of -e "usdt:$values:values:*" --debuginfo none -o "$T/peer.obz"
echo >&5
wait $of
obrec_wait
wait $peer || true
is "bpftrace counts" "$(grep -o '@.*' "$T/bpftrace" | sort | xargs)" "@asked: 500 @plain: 500"
is "beside it" "$(times "$T/peer.obz")" "values:asked,500 values:plain,500 values:three,500"
