# A known number of programs run and of calls that fail, each with its error: rows with arguments (secrets masked), directory, parent and
# result; ends of processes with status or signal, lifetime, CPU time and memory; as execsnoop and exitsnoop tell. Counts are complete
# whatever the rate lets through.
. tests/live/lib.inc
. tests/live/security.inc
load_dir=/sys/kernel/tracing # on a mount of its own
[ -d $load_dir ] || load_dir=/proc
security_told exec 30 -e execsnoop:rate=0
is "the secret in the archive" "$(raw "$archive" | grep -ac hidden)" 0
"$OBANA" show execsnoop "$archive" >"$T/shown" && grep -q 'ENOENT.*/missing/known *known exit 3 --password \*' "$T/shown" || fail "show execsnoop: $(head -n 3 "$T/shown")"
"$OBANA" show exitsnoop "$archive" >"$T/shown" && grep -q 'SIGKILL.* killed' "$T/shown" || fail "show exitsnoop: $(head -n 3 "$T/shown")"

security_run exec rated 60 -e exec:rate=5
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'exec' AND series = '$1'"; }
is "counted, beyond the rate" "$(of events) $(of exit_events)" "$((3 * 60 + 5)) $((3 * 60 + 9))"
for what in exec,events,throttled exit,exit_events,exit_throttled; do
	IFS=, read -r table all left <<<"$what"
	is "$table: rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of $left) FROM $table")" "$(of $all)"
	within "$table: left out" "$(of $left)" 60 "$(of $all)" # both kinds share the rate
done
"$OBANA" report "$T/rated.obz" >"$T/shown"; is "the report says so" "$(grep -cE '^Events +ex(ec|it): [0-9]+ of [0-9]+ recorded singly' "$T/shown")" 2

# Threads that end at the same time: one end each. CPU time is counted beyond the rate, also of processes that end before the first tick;
# what wait(2) tells includes the rest of the exit.
cat >"$T/ends.py" <<'PY'
import os, signal, sys, threading
used = 0
for i in range(100):
    p = os.fork()
    if not p:
        sum(range(100000))
        os._exit(9)
    usage = os.wait4(p, 0)[2]
    used += usage.ru_utime + usage.ru_stime
print(int(used * 1e9), file=open(sys.argv[1], "w"))
for i in range(200):
    p = os.fork()
    if not p:
        for t in range(3): threading.Thread(target=signal.pause).start()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(p, 0)
PY
status=0
"$OBREC" -q -e exec:rate=5 -o "$T/ends.obz" -- python3 "$T/ends.py" "$T/used" 2>"$T/ends.err" || status=$?
is "exit" $status 0
is "ends" "$(sql "$T/ends.obz" "SELECT sum(count) FILTER (WHERE key LIKE '%SIGKILL'), sum(sum) > (SELECT sum(cpu_ns) FROM exit) FROM counter WHERE probe = 'exec' AND series = 'exits'")" "200,1"
used=$(<"$T/used")
within "CPU time of short processes" "$(sql "$T/ends.obz" "SELECT sum(sum) FROM counter WHERE probe = 'exec' AND series = 'exits' AND key LIKE '%' || char(9) || '9'")" $((used / 2)) "$used"

security_run exec failed 5 -e exec:failed,rate=0
is "only what failed" "$(sql "$T/failed.obz" "SELECT (SELECT count(*) FROM exec), (SELECT count(*) FROM exec WHERE error = 0), (SELECT count(*) FROM exit WHERE status = 0 AND signal = 0)")" "12,0,0"
