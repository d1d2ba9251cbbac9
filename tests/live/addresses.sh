# Who a connection is with, as its process sees it, in the host's network and in one of its own: IPv4, IPv6, v4-mapped at either end, the sender
# of each datagram, the peer's process of a Unix socket. The processes say themselves what is to be in the table.
. tests/live/lib.inc
for c in python3 unshare ip; do command -v $c >/dev/null || skip "needs $c"; done
cat >"$T/peer.py" <<'P'
# peer.py DIR: two processes, which print their pids, begin with a line on stdin, and write to DIR/truth what they talked over:
#   PID,TRANSPORT,ROLE,LOCAL_ADDR,LOCAL_PORT,REMOTE_ADDR,REMOTE_PORT,PEER_PID,NETNS
# and to DIR/senders the sender of each datagram its server got: PID,QUESTION,ADDRESS:PORT
import os, socket, sys
d = sys.argv[1]
KINDS = ("tcp", "127.0.0.1", "127.0.0.1"), ("tcp", "::1", "::1"), ("tcp", "::", "127.0.0.1"), ("tcp", "::", "::ffff:127.0.0.1"), \
    ("udp", "127.0.0.1", "127.0.0.1"), ("udp", "::1", "::1"), ("unix", d + "/socket", None) # server's address, what the client is told

def plain(address):
    host, port = address[:2]
    return host.removeprefix("::ffff:"), port

def say(s, transport, role, connected=True):
    local, remote, pid = (d + "/socket", 0), ("", 0), 0
    if transport == "unix":
        pid = int.from_bytes(s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)[:4], sys.byteorder)
    else:
        local = plain(s.getsockname())
        if connected: remote = plain(s.getpeername())
    with open(d + "/truth", "a") as f:
        print(os.getpid(), transport, role, *local, *remote, pid, os.stat("/proc/self/ns/net").st_ino, sep=",", file=f)

def opened(kind):
    transport, address, _ = kind
    family = socket.AF_UNIX if transport == "unix" else socket.AF_INET6 if ":" in address else socket.AF_INET
    s = socket.socket(family, socket.SOCK_DGRAM if transport == "udp" else socket.SOCK_STREAM)
    if transport == "unix":
        s.bind(address)
    else:
        if family == socket.AF_INET6: s.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, address != "::")
        s.bind((address, 0))
    if transport == "udp": # a server of datagrams is known by a port of its own choice
        chosen = s.getsockname()
        s.close()
        s = socket.socket(family, socket.SOCK_DGRAM)
        s.bind(chosen)
    else: s.listen()
    return s

def serve(kind, s):
    if kind[0] == "udp":
        for _ in range(3):
            query, sender = s.recvfrom(1000)
            s.sendto(query[:2] + b"\x81\x80" + query[4:6] + b"\0\0\0\0\0\0" + query[12:], sender)
            with open(d + "/senders", "a") as f:
                print(os.getpid(), query[13:15].decode(), ("[%s]:%d" if ":" in sender[0] else "%s:%d") % sender[:2], sep=",", file=f)
        return say(s, kind[0], "server", False)
    c = s.accept()[0]
    c.recv(100)
    c.sendall(b"answer")
    say(c, kind[0], "server")
    c.recv(100)

def ask(kind, s):
    transport, to = kind[0], kind[2]
    if transport == "udp": # from three sockets
        for i in range(3):
            c = socket.socket(s.family, socket.SOCK_DGRAM)
            c.connect(s.getsockname())
            c.send(b"\0\7\1\0\0\1\0\0\0\0\0\0\2q%d\0\0\1\0\1" % i)
            c.recv(100)
            say(c, transport, "client")
        return
    c = socket.socket(socket.AF_UNIX if transport == "unix" else socket.AF_INET6 if ":" in to else socket.AF_INET)
    c.connect(kind[1] if transport == "unix" else (to, s.getsockname()[1]))
    c.sendall(b"question")
    c.recv(100)
    say(c, transport, "client")

sockets = [opened(k) for k in KINDS]
begin = os.pipe()
client = os.fork()
if client:
    print(os.getpid(), client, sep=",", flush=True)
    os.read(0, 1)
    os.write(begin[1], b".")
else: os.read(begin[0], 1)
for kind, s in zip(KINDS, sockets): (serve if client else ask)(kind, s)
if client: os.wait(); print("done", flush=True); os.read(0, 1)
P
mkfifo "$T/go"; exec 8<>"$T/go"
mkdir "$T/host" "$T/own"
python3 "$T/peer.py" "$T/host" <&8 >"$T/host/out" & pids+=($!)
unshare -n sh -c 'ip link set lo up && exec python3 "$0" "$1"' "$T/peer.py" "$T/own" <&8 >"$T/own/out" 2>"$T/own/err" & pids+=($!)
both() { written "$T/host/out" "${1-.}" && written "$T/own/out" "${1-.}"; }
eventually "both pairs" both
obrec_start -q -p "$(head -qn 1 "$T"/*/out | paste -sd,)" -e l4,l7 --debuginfo none -o "$T/a.obz"
echo >&8; echo >&8
eventually "both are through" both "done"
obrec_stop
a=$T/a.obz
is "losses" "$(lost "$a")" 0
# as_said WHAT "SELECT ...": the same rows as the processes wrote to the files WHAT
as_said() {
	sort "$T"/*/$1 >"$T/want"
	sql "$a" "$2" | sort >"$T/got"
	diff "$T/want" "$T/got" >"$T/diff" || fail "$1 (programs <, obana >): $(cat "$T/diff")"
	echo "ok: $1: $(wc -l <"$T/got") rows"
}
as_said truth "SELECT p.pid, transport, role, local_addr, local_port, remote_addr, remote_port, peer_pid, c.netns
	FROM connection c JOIN process p ON p.id = c.process_id"
as_said senders "SELECT p.pid, m.target, m.peer_addr FROM message m JOIN connection c ON c.id = m.connection_id JOIN process p ON p.id = c.process_id
	WHERE role = 'server' AND m.protocol = 'dns'"
is "networks" "$(sql "$a" "SELECT count(DISTINCT netns) FROM connection")" 2
