# --direction, of a process that is a server to some and a client to others, over TCP and UDP and Unix sockets, on connections older than the
# recording and new ones: the messages of one side only, the bytes and calls of both.
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
cat >"$T/peer.py" <<'P'
# The process between: serves HTTP at one end, asks for each request at the other. Its clients and servers are other processes.
#   peer.py DIR      prints its pid and listens; a line on stdin begins the second half
import os, socket, sys, threading
KINDS = "tcp", "udp", "unix"
HALF = 20 # requests a connection and half
d = sys.argv[1]

def listener(kind, name):
    if kind == "unix":
        path = "%s/%s" % (d, name)
        s = socket.socket(socket.AF_UNIX)
        s.bind(path)
        s.listen()
        return s, path
    s = socket.socket(type=socket.SOCK_STREAM if kind == "tcp" else socket.SOCK_DGRAM)
    s.bind(("127.0.0.1", 0))
    if kind == "tcp":
        s.listen()
    else: # a server of datagrams is known by a port of its own choice
        s, chosen = socket.socket(type=socket.SOCK_DGRAM), s.getsockname()
        s.bind(chosen)
    return s, s.getsockname()

def connected(kind, to):
    s = socket.socket(socket.AF_UNIX if kind == "unix" else socket.AF_INET, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM)
    s.connect(to)
    return s

def query(name): # RFC 1035, 4.1
    return b"\0\7\1\0\0\1\0\0\0\0\0\0" + bytes([len(name)]) + name + b"\0\0\1\0\1"
def answer(q):
    return q[:2] + b"\x81\x80" + q[4:6] + b"\0\0\0\0\0\0" + q[12:]

def ask(kind, s, name):
    if kind == "udp":
        s.send(query(name))
        s.recv(1000)
    else:
        s.sendall(b"GET /%s HTTP/1.1\r\nHost: x\r\n\r\n" % name)
        s.recv(1000)

def serve(kind, s, meanwhile=lambda: None):
    """One connection, to its end; datagrams until the process ends."""
    if kind != "udp": s = s.accept()[0]
    while True:
        got, sender = s.recvfrom(1000)
        if not got: return
        meanwhile()
        if kind == "udp": s.sendto(answer(got), sender)
        else: s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

def child(body):
    if not os.fork():
        body()
        os._exit(0)

go, step = os.pipe(), os.pipe()
def client(kind, to):
    old = connected(kind, to)
    for _ in range(HALF): ask(kind, old, b"served")
    os.write(step[1], b".")
    os.read(go[0], 1)
    for _ in range(HALF): ask(kind, old, b"served")
    old.close()
    new = connected(kind, to)
    for _ in range(HALF): ask(kind, new, b"served")
    new.close()
    os.write(step[1], b".")

def behind(kind, back):
    while True: serve(kind, back)

def between(kind, front, back_at):
    while True:
        up, cnt = None, 0
        def meanwhile():
            nonlocal up, cnt
            if cnt % (2 * HALF) == 0: up = connected(kind, back_at)
            ask(kind, up, b"asked")
            cnt += 1
        serve(kind, front, meanwhile)

# All processes before the threads, which have connections that none may inherit.
threads = []
for kind in KINDS:
    back, back_at = listener(kind, "back")
    front, front_at = listener(kind, "front")
    child(lambda: behind(kind, back))
    child(lambda: client(kind, front_at))
    threads.append(threading.Thread(target=between, args=(kind, front, back_at), daemon=True))
for t in threads: t.start()
for _ in KINDS: os.read(step[0], 1)
print(os.getpid(), flush=True)
sys.stdin.readline()
os.write(go[1], b"..." )
for _ in KINDS: os.read(step[0], 1)
print("done", flush=True)
sys.stdin.readline()
P
mkfifo "$T/go"; exec 8<>"$T/go"
rows() { sql "$a" "$1" | tr '\n' ' '; }
messages_of() { # DIRECTION
	[ $1 = in ] || printf '%s ' tcp,client,GET,/asked,40,40,2 udp,client,A,asked,40,40,2 unix,client,GET,/asked,40,40,2
	[ $1 = out ] || printf '%s ' tcp,server,GET,/served,40,40,2 udp,server,A,served,40,40,1 unix,server,GET,/served,40,40,2
}
for direction in in out both; do
	a=$T/$direction.obz
	mkdir "$T/$direction.d"
	python3 "$T/peer.py" "$T/$direction.d" <&8 >"$T/out" & pids+=($!)
	eventually "the first half" written "$T/out"
	obrec_start -q -p "$(head -n 1 "$T/out")" --no-inherit -e l4,l7 --debuginfo none --direction $direction -o "$a"
	echo >&8
	eventually "the second half" written "$T/out" "done"
	obrec_stop $direction
	echo >&8
	is "$direction: losses" "$(lost "$a")" 0
	is "$direction: messages" "$(rows "SELECT transport, c.role, method, target, count(*), sum(paired), count(DISTINCT c.id) FROM message m
		JOIN connection c ON c.id = connection_id GROUP BY 1, 2, 3, 4 ORDER BY 2, 1")" "$(messages_of $direction)"
	is "$direction: connections, calls" "$(rows "SELECT transport, role, count(*), sum(sends), sum(receives) FROM connection GROUP BY 1, 2 ORDER BY 2, 1")" \
		"tcp,client,2,40,40 udp,client,2,40,40 unix,client,2,40,40 tcp,server,2,40,40 udp,server,1,40,40 unix,server,2,40,40 "
	is "$direction: TCP connections older than the recording" "$(rows "SELECT role, count(*) FROM connection WHERE transport = 'tcp' AND opened_ns IS NULL GROUP BY 1")" "client,1 server,1 "
done
