# Accept queues: a listening socket that accepts nothing for a while, so that its queue overflows; one of IPv6 that IPv4 comes to as well; one
# from before the capture. What waits is what ss(8) shows, what is dropped is what the kernel counts (ListenOverflows of the namespace).
. tests/live/lib.inc
grep -q "^tcp .* yes" "$T/list" || skip "no probe 'tcp': $(grep '^tcp ' "$T/list")"
cat >"$T/queues.py" <<'P'
import signal, socket, subprocess, sys
def counted(name):
    lines = [l.split() for l in open("/proc/net/netstat") if l.startswith("TcpExt")]
    return lines[1][lines[0].index(name)]
def started(to):
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(to)
    return c
queue = socket.socket()
queue.bind(("127.0.0.1", 4000))
queue.listen(3)
print("ready", flush=True)
sys.stdin.readline()
both = socket.create_server(("::", 4001), family=socket.AF_INET6, dualstack_ipv6=True)
clients = [started(("127.0.0.1", 4000)) for i in range(10)]
clients += [socket.create_connection((to, 4001)) for to in ("127.0.0.1", "::1")]
# again a second later, at least
while int(counted("ListenOverflows")) < 12: sys.stdin.readline()
for c in clients[4:10]: c.close()
print("full", counted("ListenOverflows"), counted("ListenDrops"), flush=True)
sys.stdin.readline()
queue.accept(), queue.accept()
clients.append(socket.create_connection(("127.0.0.1", 4000)))
print("shown", *(f for l in subprocess.run(["ss", "-Hltn"], capture_output=True, text=True).stdout.splitlines() for f in l.split()[1:4]), flush=True)
signal.pause()
P
unshare -n true 2>/dev/null || skip "no network namespaces here"
command -v ss >/dev/null || skip "needs ss"
mkfifo "$T/go"; exec 8<>"$T/go"
unshare -n sh -c 'ip link set lo up; exec python3 "$1"' sh "$T/queues.py" <"$T/go" >"$T/queues" & queues=$!; pids+=($queues)
eventually "the program" written "$T/queues" ready
obrec_start -q -p $queues -e tcp --debuginfo none -o "$T/a.obz"
echo >&8
full() { echo >&8; written "$T/queues" full; }
eventually "a full queue" full
echo >&8
eventually "the accepts" written "$T/queues" shown
obrec_stop
is "losses" "$(lost "$T/a.obz")" 0
of() { sql "$T/a.obz" "SELECT $1 FROM ${3:-histogram} WHERE probe = 'tcp' AND series = '$2' GROUP BY 1 ORDER BY 1" | xargs -d '\n'; }
read -r _ overflows drops <<<"$(grep full "$T/queues")"
is "overflows, as the kernel counts" "$drops" "$overflows"
is "dropped" "$(of "replace(key, char(9), ' '), sum(sum)" listen_drops counter)" "127.0.0.1 4000 3,$overflows"
is "waiting at each added" "$(of "replace(key, char(9), ' ') || ' ' || low, sum(count)" accept_queue)" \
	"127.0.0.1 4000 3 1,1 127.0.0.1 4000 3 2,1 127.0.0.1 4000 3 3,2 127.0.0.1 4000 3 4,1 :: 4001 128 1,1 :: 4001 128 2,1"
is "waiting at the end, as ss shows" "$(sed -n 's/^shown //p' "$T/queues" | xargs -n 3 | LC_ALL=C sort | xargs)" "2 128 *:4001 3 3 127.0.0.1:4000"
last() { sql "$T/a.obz" "SELECT low FROM histogram WHERE probe = 'tcp' AND series = 'accept_waiting' AND key LIKE '$1' ORDER BY start_ns DESC, low = $2 DESC LIMIT 1"; }
is "waiting, each second: at last" "$(last '127.0.0.1%' 3) $(last ::% 2)" "3 2"
is "LISTEN" "$(sql "$T/a.obz" "SELECT sum(count) FROM histogram WHERE probe = 'tcp' AND series = 'state' AND key LIKE '%LISTEN%(end of capture)'")" 2
case $("$OBANA" info "$T/a.obz" --json | tr -d ' \n') in
*'"tcp":"fentry"'* | *'"tcp":"kprobe"'*) is "overflows" "$(of "replace(key, char(9), ' '), sum(count)" overflows counter)" "127.0.0.1 4000 3 SYN,$overflows" ;;
esac
"$OBANA" show tcp-accept-queue "$T/a.obz" >"$T/shown" && grep -q '127.0.0.1  4000' "$T/shown" || { cat "$T/shown"; fail "show"; }
