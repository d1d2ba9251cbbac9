# A known number of addresses bound and sockets that listen, and of calls that fail, each with its error: rows with the address and port
# that the socket got, its options, as bindsnoop tells. Counts are complete whatever the rate lets through.
. tests/live/lib.inc
. tests/live/security.inc
security_told bind 30 -e bindsnoop:rate=0,stack
is "stacks" "$(sql "$archive" "SELECT DISTINCT stack_id > 0 FROM bind")" 1
"$OBANA" show bindsnoop "$archive" >"$T/shown" && grep -q 'bind  *EADDRINUSE  *TCP .* 127.0.0.1' "$T/shown" || fail "show bindsnoop: $(head -n 3 "$T/shown")"

security_run bind rated 60 -e bind:rate=5
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'bind' AND series = '$1'"; }
is "counted, beyond the rate" "$(of events)" $((3 * 60 + 11))
is "rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of throttled) FROM bind")" "$(of events)"

security_run bind failed 5 -e bind:failed,rate=0
is "only what failed" "$(sql "$T/failed.obz" "SELECT count(*), count(*) FILTER (WHERE error = 0) FROM bind")" "10,0"
