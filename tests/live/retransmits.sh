# A network that loses packets: what obrec says was sent again is what the kernel counts, at both ends.
. tests/live/lib.inc
. tests/live/lossy.inc
trap lossy_end EXIT
lossy_network 10.96.0
lossy_peers 10.96.0
obrec_start -q -p $server,$client -e l4 --debuginfo none -o "$T/a.obz"
lossy_through
obrec_stop
is "losses" "$(sql "$T/a.obz" "SELECT total(count) FROM loss")" 0.0
by() { sql "$T/a.obz" "SELECT role, count(*), sum(bytes_sent), sum(bytes_received), sum(closed_ns IS NOT NULL), sum(retransmits) FROM connection WHERE transport = 'tcp' GROUP BY 1 ORDER BY 1" | tr '\n' ' '; }
is "sent again, and all else" "$(by)" "client,4,1200000,1200000,4,$(resent $a) server,4,1200000,1200000,4,$(resent $b) "
within "sent again" $(($(resent $a) + $(resent $b))) 1 100000
is "by interval" "$(sql "$T/a.obz" "SELECT sum(retransmits) FROM connection_stat")" $(($(resent $a) + $(resent $b)))
