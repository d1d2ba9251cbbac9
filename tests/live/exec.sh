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
"$OBANA" report "$T/rated.obz" >"$T/shown"; is "the report says so" "$(grep -cE '^Events +ex(ec|it): [0-9]+ of [0-9]+ shown' "$T/shown")" 2

security_run exec failed 5 -e exec:failed,rate=0
is "only what failed" "$(sql "$T/failed.obz" "SELECT (SELECT count(*) FROM exec), (SELECT count(*) FROM exec WHERE error = 0), (SELECT count(*) FROM exit WHERE status = 0 AND signal = 0)")" "12,0,0"
