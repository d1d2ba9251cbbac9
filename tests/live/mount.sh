# A known number of file systems mounted and unmounted, by one call and in steps, and of calls that fail, each with its error: rows with
# source, target, type, flags and data (secrets masked), as mountsnoop tells. Counts are complete whatever the rate lets through.
. tests/live/lib.inc
. tests/live/security.inc
security_told mount 30 -e mountsnoop:rate=0,stack
! grep "^skip: " "$T/mount.did" || exit 77
is "the secret in the archive" "$(raw "$archive" | grep -ac hidden)" 0
is "stacks" "$(sql "$archive" "SELECT DISTINCT stack_id > 0 FROM mount")" 1
"$OBANA" show mountsnoop "$archive" >"$T/shown" && grep -q ' mount .* tmpfs  *nodev noexec .* known .*size=64k,mode=700' "$T/shown" || fail "show mountsnoop: $(head -n 3 "$T/shown")"

security_run mount rated 60 -e mount:rate=5
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'mount' AND series = '$1'"; }
is "counted, beyond the rate" "$(of events)" $((3 * 60 + 25))
is "rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of throttled) FROM mount")" "$(of events)"

security_run mount failed 5 -e mount:failed,rate=0
is "only what failed" "$(sql "$T/failed.obz" "SELECT count(*), count(*) FILTER (WHERE error = 0) FROM mount")" "$((5 + 9)),0"
