# A known number of TCP connections, of connects that are refused, time out or are given up: rows, cells by peer and error; what each
# connection moved in its life, from the kernel's counters. Counts are complete whatever the rate lets through.
. tests/live/lib.inc
. tests/live/security.inc
security_told tcp 30 -e tcpconnlat:rate=0
for name in tcp-connect-by-peer tcp-failed tcp-connect-latency tcp-limits tcpconnlat tcplife; do
	"$OBANA" show $name "$archive" >"$T/shown" && grep -q '127.0.0.1' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done

security_run tcp rated 60 -e tcp:rate=5
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'tcp' AND series = '$1'"; }
is "rows of connects, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of throttled) FROM tcp_connect")" "$(of events)"
is "rows of ends, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of close_throttled) FROM tcp_close")" "$(of close_events)"
"$OBANA" report "$T/rated.obz" >"$T/shown"; is "the report says so" "$(grep -cE '^Events +tcp_(connect|close): [0-9]+ of [0-9]+ recorded singly' "$T/shown")" 2
is "counted, beyond the rate" "$(sql "$T/rated.obz" "SELECT sum(count) FROM histogram WHERE probe = 'tcp' AND series = 'connect'")" 63

security_run tcp slow 5 -e tcp:rate=0,min=400ms
is "only those that took long" "$(sql "$T/slow.obz" "SELECT DISTINCT error FROM tcp_connect")" 110
