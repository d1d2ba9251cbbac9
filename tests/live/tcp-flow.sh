# Connections over a network that loses packets: round-trip times are those of the kernel's own tracepoint at each segment, retransmits by
# state those that the kernel counts (RetransSegs), at both ends. The server listens before the capture.
. tests/live/lib.inc
grep -q "^tcp .* yes" "$T/list" || skip "no probe 'tcp': $(grep '^tcp ' "$T/list")"
. tests/live/lossy.inc
events=/sys/kernel/tracing/instances/obrec-tcp-$$
trap 'lossy_end; [ ! -d $events ] || rmdir $events' EXIT
# also the first SYN of one client port, the first SYN-ACK of another
lossy_network 10.97.0 "tcp sport 40000 tcp flags & (syn | ack) == syn limit rate over 1/hour burst 1 packets accept" \
	"tcp sport 40000 tcp flags & (syn | ack) == syn drop" \
	"tcp dport 40001 tcp flags & (syn | ack) == (syn | ack) limit rate over 1/hour burst 1 packets accept" \
	"tcp dport 40001 tcp flags & (syn | ack) == (syn | ack) drop"
lossy_peers 10.97.0
mkdir $events 2>/dev/null || skip "no instances of tracefs here"
echo 20000 >$events/buffer_size_kb
obrec_start -q -p $server,$client -e tcp:rate=0 --debuginfo none -o "$T/a.obz"
for e in tcp_probe tcp_retransmit_skb tcp_retransmit_synack; do echo 1 >$events/events/tcp/$e/enable; done
lossy_through
echo 0 >$events/events/enable
again=$(($(resent $a) + $(resent $b)))
obrec_stop
grep -F 10.97.0. $events/trace >"$T/all" # other tests' connections are there, too
# BPF does not run over the threads of some hosts' PID 1: what the kernel did amid these may be missing.
grep -vE "^ *[^:]*-($(ls /proc/1/task | paste -sd '|')) +\[" "$T/all" >"$T/trace"
unseen=$(grep -c -e 'tcp_probe:.*srtt=[1-9]' -e tcp_retransmit "$T/all" || true)
unseen=$((unseen - $(grep -c -e 'tcp_probe:.*srtt=[1-9]' -e tcp_retransmit "$T/trace" || true)))
[ $unseen = 0 ] || skip "$unseen events amid threads of PID 1, where BPF may not run"
is "losses" "$(lost "$T/a.obz")" 0
of() { sql "$T/a.obz" "SELECT $1 WHERE probe = 'tcp' AND $2"; }
# Each peer's segments, and the sum of their srtt, which the tracepoint has in whole microseconds.
for peer in 10.97.0.1 10.97.0.2; do
	read -r cnt us <<<"$(awk -v d="dest=$peer:" '/: tcp_probe:/ && index($0, d) && match($0, / srtt=[0-9]+/) {v = substr($0, RSTART + 6, RLENGTH - 6); if (v) {n++; s += v}} END {print n + 0, s + 0}' "$T/trace")"
	within "segments received from $peer" "$cnt" 20 1000000
	is "round-trip times of $peer" "$(of "sum(count), sum(sum) / $cnt BETWEEN $us * 1000 / $cnt AND ($us + $cnt) * 1000 / $cnt FROM histogram" "series = 'rtt' AND key = '$peer'")" "$cnt,1"
done
is "peers" "$(of "count(DISTINCT key) FROM histogram" "series = 'rtt'")" 2
within "sent again" "$again" 1 100000
is "segments sent again, as the kernel counts" "$(of "sum(sum) FROM counter" "series = 'retransmits'")" "$again"
is "rows" "$(sql "$T/a.obz" "SELECT sum(segments) FROM tcp_retransmit")" "$again"
is "rows, and those counted" "$(sql "$T/a.obz" "SELECT count(*) FROM tcp_retransmit")" "$(of "sum(count) FROM counter" "series = 'retransmit_events'")"
names() { sed 's/TCP_ESTABLISHED/ESTAB/; s/TCP_SYN_SENT/SYN-SENT/; s/TCP_SYN_RECV/SYN-RECV/; s/TCP_FIN_WAIT1/FIN-WAIT-1/; s/TCP_FIN_WAIT2/FIN-WAIT-2/; s/TCP_CLOSE_WAIT/CLOSE-WAIT/; s/TCP_LAST_ACK/LAST-ACK/; s/TCP_CLOSING/CLOSING/; s/TCP_CLOSE/UNCONN/'; }
states() { # as the tracepoints say
	{ sed -n 's/.*: tcp_retransmit_skb:.* dport=\([0-9]*\) .* state=\([A-Z0-9_]*\).*/\2/p' "$T/trace"; sed -n 's/.*: tcp_retransmit_synack:.*/TCP_SYN_RECV/p' "$T/trace"; } | names | LC_ALL=C sort | uniq -c | awk '{print $2 "," $1}' | xargs
}
is "states" "$(sql "$T/a.obz" "SELECT state, count(*) FROM tcp_retransmit GROUP BY 1 ORDER BY 1" | xargs)" "$(states)"
is "states counted" "$(of "part(key, 'peer' || char(9) || 'state' || char(9) || 'congestion', 'state') AS s, sum(count) FROM counter" "series = 'retransmits' GROUP BY 1 ORDER BY 1" | xargs)" "$(states)"
is "whose, but for SYN-ACKs" "$(sql "$T/a.obz" "SELECT p.pid, local, count(*) > 0 FROM tcp_retransmit r LEFT JOIN thread t ON t.id = r.thread_id LEFT JOIN process p ON p.id = t.process_id WHERE state <> 'SYN-RECV' AND p.pid IS NOT NULL GROUP BY 1, 2 ORDER BY 2" | xargs)" "$client,10.97.0.1,1 $server,10.97.0.2,1"
for name in tcprtt tcp-rtt-by-peer tcpretrans tcp-retransmits-by-peer; do
	"$OBANA" show $name "$T/a.obz" >"$T/shown" && grep -q '10.97.0' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
