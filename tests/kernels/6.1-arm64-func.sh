# The probe func on arm64: functions, which have uretprobes there, of the kernel too; arguments, results, USDT probes. Built here for
# the other processor, recorded there, judged by this machine's obana.
set -euo pipefail
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "needs aarch64-linux-gnu-gcc (scripts/deps test)"; exit 77; }
sysroot=$(scripts/sysroot arm64) || { rc=$?; echo "$sysroot"; exit $rc; }
OBANA=$PWD/${B:-build}/obana
B=build/aarch64-linux-gnu
T=$(mktemp -d)
trap '[ -n "${KEEP-}" ] || rm -rf "$T"' EXIT
export XDG_CACHE_HOME=${XDG_CACHE_HOME:-$HOME/.cache}
mkdir -p $B; flock $B/lock make -s -j"$(nproc)" CROSS=aarch64-linux-gnu B=$B static $B/workload/values-static $B/workload/funcs-static $B/workload/crossing-static
dir=$(scripts/kernels 6.1-arm64) || { rc=$?; echo "$dir"; exit $rc; }
sql() { "$OBANA" query "$1" "$2" --csv | tail -n +2; }
same() { [ "$2" = "$3" ] && echo "ok: $1 = $2" || echo "$1: got '$2', expected '$3'" | tee -a "$T/wrong"; } # WHAT GOT WANTED
. tests/live/security_told.inc

cat >"$T/guest.sh" <<'SH'
run() { # NAME PROGRAM OPERANDS...
	local name=$1 program=$2
	shift 2
	for e; do set -- "$@" -e "$e"; shift; done
	echo | obrec -q "$@" --debuginfo none -o /out/$name.obz -- $program >/out/$name.did 2>/out/$name.txt || echo "$name: $?" >>/out/failed
}
run usdt-each "/w/values 40" usdt:values:values:plain,arg1:int,arg2:str,rate=0 usdt:values:values:*,arg1:int,arg2:uint,arg3:long
run values "/w/values 40" func:values:value_take,arg1:str,arg2:int,arg3:uint,arg4:long,arg5:ptr,arg6:ulong,ret:int,rate=0 func:values:value_pick:ret,ret:str func:values:value_tail,ret:str
run funcs "/w/funcs 20 plain" func:funcs:fn_* func:kernel:__arm64_sys_getppid,ret:int func:kernel:hrtimer_nanosleep
mv /out/usdt-each.did /out/usdt-each.asked
run crossing "/w/crossing 60 3" func:kernel:hrtimer_nanosleep,arg1:long,arg2:int,ret:int,rate=0
dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|lockup' >/out/complaints || true
SH
rc=0
scripts/vm -t "${VM_TIMEOUT:-600}" -o "$T/out" -f "$B/static/obrec" -f "$B/workload/values-static:/w/values" -f "$B/workload/funcs-static:/w/funcs" -f "$B/workload/crossing-static:/w/crossing" -f "$T/guest.sh:/w/guest.sh" \
	"$dir" -- sh guest.sh >"$T/vm" 2>&1 || rc=$?
[ $rc != 77 ] || { cat "$T/vm"; exit 77; }
[ $rc = 0 ] || { cat "$T/vm"; echo "FAILED: the guest ended with $rc"; exit 1; }
same "runs that failed" "$(cat "$T/out/failed" "$T"/out/*.txt 2>/dev/null | head -n 3)" ""
same "kernel complaints" "$(head -n 3 "$T/out/complaints")" ""

way=each told_usdt 40
archive=$T/out/funcs.obz
same "func: calls, and those that did not return" "$(func_counts "<> '[kernel]'")" "$(cut -d' ' -f1-3 "$T/out/funcs.did" | xargs)"
same "func: of the kernel" "$(func_counts "= '[kernel]'")" "__arm64_sys_getppid 40 0 hrtimer_nanosleep 21 0"
same "func: results of getppid()" "$(asked "SELECT sum(count) FROM histogram WHERE series = 'returned' AND low > 0")" 40
archive=$T/out/crossing.obz
missed=$(asked "SELECT sum(x.count) FROM counter x JOIN series s USING (capture_id, probe, series) WHERE series = 'unfinished' AND part(x.key, s.keys, 'reason') LIKE 'return not seen:%'")
same "func: more calls at a time than returns are seen of" "$((${missed:-0} > 0)) $(func_counts "= '[kernel]'")" "1 hrtimer_nanosleep $((180 - missed)) $missed"
same "func: arguments and result of the others" "$(asked "SELECT count(*) FROM func WHERE arg1 BETWEEN 1000000000000 AND 1000000000059 AND arg2 = 1 AND ret = -516")" $((180 - missed))
archive=$T/out/values.obz
same "func: arguments and result of each call" "$(asked "SELECT count(*), count(*) FILTER (WHERE 0 + arg3 = 4000000000 - arg2 AND 0 + arg4 = 1000000000000 * arg2 AND arg5 = printf('0x%x', 4096 - arg2)
	AND 0 + ret = -arg2 % 3 - 1 AND arg1 = CASE -arg2 % 4 WHEN 0 THEN 'first' WHEN 3 THEN '(null)' ELSE arg1 END) AS good FROM func WHERE function = 'value_take'")" 40,40
same "func: strings returned" "$(asked "SELECT function, count(*) FILTER (WHERE ret = 'first') FROM func WHERE function <> 'value_take' GROUP BY function" | xargs)" "value_pick,20 value_tail,10"
[ ! -s "$T/wrong" ] || { echo "FAILED: $(head -n 1 "$T/wrong")"; exit 1; }
