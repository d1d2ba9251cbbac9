# A target killed in the middle of a request, and one that becomes another program while a connection is open: the request is there and
# unpaired, the connection closed, the archive complete; what the next program answers is on the same connection.
. tests/live/l7.inc
command -v python3 >/dev/null || skip "needs python3"
cat >"$T/peer.py" <<'P'
import os, socket, sys
# peer.py serve FILE: answers one request, reads a second and waits. peer.py exec FILE: reads a request, and becomes `answer`.
def head(c):
    got = b""
    while not got.endswith(b"\r\n\r\n"):
        piece = c.recv(4096)
        if not piece: return got
        got += piece
    return got
ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
if sys.argv[1] == "answer":
    c = socket.socket(fileno=int(sys.argv[2]))
    c.sendall(ok); head(c); c.sendall(ok); head(c); sys.exit(0)
s = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[2] + ".new", "w") as f: f.write(str(s.getsockname()[1]))
os.rename(sys.argv[2] + ".new", sys.argv[2])
c, _ = s.accept()
head(c)
if sys.argv[1] == "exec":
    os.set_inheritable(c.fileno(), True)
    os.execv(sys.executable, [sys.executable, sys.argv[0], "answer", str(c.fileno())])
c.sendall(ok); head(c)
open(sys.argv[2] + ".read", "w").close()
head(c)
P
serve_mode() { # MODE: records it; its port in $port
	rm -f "$T/port"*
	start python3 "$T/peer.py" $1 "$T/port"
	peer=$!
	eventually "its port" [ -e "$T/port" ]
	port=$(cat "$T/port")
	obrec_start -q -p $peer${keeper:+,$keeper} -e l4,l7 --debuginfo none -o "$T/a.obz"
	exec 5<>/dev/tcp/127.0.0.1/$port
}
request() { printf 'GET /%s HTTP/1.1\r\nHost: x\r\n\r\n' $1 >&5; }
answered() { local line; for _ in 1 2 3 4; do IFS= read -r -t 20 line <&5 || fail "no answer"; [ "$line" = $'\r' ] && break; done; head -c 2 <&5 >/dev/null; }

# Another target keeps obrec going until the kernel has ended the dead one's connection: its FIN is to be acknowledged.
start sleep 100
keeper=$!
serve_mode serve
request first; answered; request second
eventually "the second request is read" [ -e "$T/port.read" ]
kill -9 $peer; wait $peer 2>/dev/null || true
exec 5>&-
ended() { ! sockets $port "0[134589B]"; } # what rests for a minute is one that ended
eventually "the kernel has ended the connection" ended
kill $keeper
obrec_wait # the last target is gone
keeper=
is "killed: exit" $status 0
is "killed: archive" "$(sql "$T/a.obz" "SELECT complete, stop_reason FROM capture")" "1,target-exit"
is "killed: losses" "$(lost "$T/a.obz")" 0
is "killed: requests" "$(sql "$T/a.obz" "SELECT method, target, substr(status, 1, 17), paired, latency_ns IS NULL FROM message ORDER BY request_ns" | tr '\n' ' ')" "GET,/first,200,1,0 GET,/second,no answer: closed,0,1 "
is "killed: connection" "$(sql "$T/a.obz" "SELECT role, closed_ns IS NOT NULL, sends, bytes_received FROM connection")" "server,1,1,65"

serve_mode exec
request before; answered; request after; answered
exec 5>&-
obrec_wait
is "exec: exit" $status 0
is "exec: losses" "$(lost "$T/a.obz")" 0
is "exec: requests" "$(sql "$T/a.obz" "SELECT target, status, paired FROM message ORDER BY request_ns" | tr '\n' ' ')" "/before,200,1 /after,200,1 "
is "exec: connections" "$(sql "$T/a.obz" "SELECT role, closed_ns IS NOT NULL, sends, bytes_received FROM connection")" "server,1,2,65"
