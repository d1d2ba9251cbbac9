# A known number of checks of capabilities, allowed and denied, in the first user namespace and in another: rows and counts by process,
# capability and verdict, as capable tells. Counts are complete whatever the rate lets through.
. tests/live/lib.inc
. tests/live/security.inc
security_told cap 30 -e capable:rate=0,stack
is "stacks" "$(sql "$archive" "SELECT DISTINCT stack_id > 0 FROM cap")" 1
"$OBANA" show capable "$archive" >"$T/shown" && grep -q ' own  *0  *CAP_SYS_BOOT  *denied ' "$T/shown" || fail "show capable: $(head -n 3 "$T/shown")"

security_run cap rated 60 -e cap:rate=5
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'cap' AND series = '$1'"; }
is "counted, beyond the rate" "$(sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE series = 'checks' AND (key LIKE '%SYS_BOOT%' OR key LIKE '%SYS_CHROOT%')")" $((4 * 60))
is "rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of throttled) FROM cap")" "$(of events)"

security_run cap denied 5 -e cap:denied,rate=0
is "only what was denied" "$(sql "$T/denied.obz" "SELECT count(*) FILTER (WHERE cap = 22), count(*) FILTER (WHERE error = 0) FROM cap")" "10,0"
