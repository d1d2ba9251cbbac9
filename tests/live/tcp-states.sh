# Time in each TCP state, by the transitions of a known connection and by how long its program stayed in them at least and at most; of one
# that is open when the capture starts, and when it ends. The same transitions as tcpstates of libbpf-tools sees.
. tests/live/lib.inc
. tests/live/peers.inc
. tests/live/probes.inc
grep -q "^tcp .* yes" "$T/list" || skip "no probe 'tcp': $(grep '^tcp ' "$T/list")"
PATH=$PATH:/usr/sbin out=$T tmp=$T
result() { echo "ok: $1: $2"; }
wrong() { fail "$1: $2"; }
cat >"$T/ends.py" <<'P'
import socket, sys, time
l = socket.create_server(("127.0.0.1", 0))
def pair():
    c = socket.create_connection(l.getsockname())
    return c, l.accept()[0]
old = pair()
print("ready", flush=True)
sys.stdin.readline()
t = [time.monotonic_ns()]
c, s = pair()
t.append(time.monotonic_ns())
time.sleep(0.3)
t.append(time.monotonic_ns())
c.shutdown(socket.SHUT_WR)
s.recv(1)
t.append(time.monotonic_ns())
time.sleep(0.2)
t.append(time.monotonic_ns())
s.close()
c.recv(1)
t.append(time.monotonic_ns())
c.close()
old[0].shutdown(socket.SHUT_WR)
old[1].recv(1)
while old[0].getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) != b"\x05": time.sleep(0.01) # FIN-WAIT-2
print("times", t[2] - t[1], t[3] - t[0], t[4] - t[3], t[5] - t[2], flush=True)
sys.stdin.readline()
P
mkfifo "$T/go"; exec 8<>"$T/go"
python3 "$T/ends.py" <"$T/go" >"$T/ends" & ends=$!; pids+=($ends)
eventually "the program" written "$T/ends" ready
peer_start tcpstates
pids+=($peers)
obrec_start -q -p $ends -e tcpstates:rate=0 --debuginfo none -o "$T/a.obz"
echo >&8
eventually "the connections" written "$T/ends" times
obrec_stop
for p in $peers; do kill -INT $p; wait $p || true; done
is "losses" "$(lost "$T/a.obz")" 0
of() { sql "$T/a.obz" "SELECT $1 FROM histogram WHERE probe = 'tcp' AND series = 'state' AND $2"; }
is "transitions" "$(of "replace(replace(key, char(9), ' '), 'python3 ', '') AS k, sum(count)" "1 GROUP BY 1 ORDER BY 1" | xargs -d '\n')" \
	"CLOSE-WAIT (end of capture),1 CLOSE-WAIT LAST-ACK,1 ESTAB CLOSE-WAIT,2 ESTAB FIN-WAIT-1,2 FIN-WAIT-1 FIN-WAIT-2,2 FIN-WAIT-2 (end of capture),1 FIN-WAIT-2 UNCONN,1 LAST-ACK UNCONN,1 LISTEN (end of capture),1 SYN-RECV ESTAB,1 SYN-SENT ESTAB,1"
read -r _ open_least open_most half_least half_most <<<"$(grep times "$T/ends")"
all=$(sql "$T/a.obz" "SELECT duration_ns FROM capture")
# The other one to leave ESTAB so was open before, for less than the capture.
within "time in CLOSE-WAIT" "$(of "sum(sum)" "key LIKE '%CLOSE-WAIT_LAST-ACK'")" $half_least $half_most
within "time in FIN-WAIT-2" "$(of "sum(sum)" "key LIKE '%FIN-WAIT-2_UNCONN'")" 1 $half_most
# The ACK of the FIN may be delayed.
within "with that in FIN-WAIT-1, of both" "$(of "sum(sum)" "(key LIKE '%FIN-WAIT-2_UNCONN' OR key LIKE '%FIN-WAIT-1_FIN-WAIT-2')")" $half_least $((half_most + all))
for next in FIN-WAIT-1 CLOSE-WAIT; do
	within "time in ESTAB, before $next" "$(of "sum(sum)" "key LIKE '%ESTAB_$next'")" $((open_least * 2)) $((open_most + all))
	within "of the longer one" "$(of "max(high)" "key LIKE '%ESTAB_$next'")" $open_least $((all * 9 / 8))
done
if peer tcpstates; then
	# SKADDR PID COMM LADDR LPORT RADDR RPORT OLDSTATE -> NEWSTATE MS; of both ends, by the server's port
	port=$(awk -v of=$ends '$2 == of && $8 == "CLOSE" && $10 == "SYN_SENT" {print $7; exit}' "$T/peer-tcpstates")
	while read -r old new state next; do
		theirs "tcpstates: $old to $new" "$(awk -v p="$port" -v old=$old -v new=$new '($5 == p || $7 == p) && $8 == old && $10 == new {n++} END {print n + 0}' "$T/peer-tcpstates")" \
			"$(of "sum(count)" "key LIKE '%${state}_$next'" | sed 's/\..*//')"
	done <<-'S'
		SYN_SENT ESTABLISHED SYN-SENT ESTAB
		SYN_RECV ESTABLISHED SYN-RECV ESTAB
		ESTABLISHED FIN_WAIT1 ESTAB FIN-WAIT-1
		ESTABLISHED CLOSE_WAIT ESTAB CLOSE-WAIT
		FIN_WAIT1 FIN_WAIT2 FIN-WAIT-1 FIN-WAIT-2
		FIN_WAIT2 CLOSE FIN-WAIT-2 UNCONN
		CLOSE_WAIT LAST_ACK CLOSE-WAIT LAST-ACK
		LAST_ACK CLOSE LAST-ACK UNCONN
	S
fi
for name in tcpstates tcp-state-time; do
	"$OBANA" show $name "$T/a.obz" >"$T/shown" && grep -q CLOSE-WAIT "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
