#!/bin/bash
# archives.sh DIR: archives for seeds, made once: the descriptions of tests/cli, and a short capture of a process with traffic of several
# protocols where obrec may record. From the top directory.
B=${B:-build}
mkdir -p "$1"
for t in tests/cli/*.obt; do
	out=$1/$(basename "$t" .obt).obz
	[ "$out" -nt "$t" ] || "$B/tests/tools/mkobz" "$out" <"$t" || exit 1
done
[ ! -e "$1/captured.obz" ] || exit 0
[ "$(id -u)" = 0 ] && [ -x "$B/obrec" ] && [ -x /usr/bin/python3 ] || exit 0
rm -f "$1/new.obz"
timeout -s INT -k 10 30 "$B/obrec" -q -F 499 --debuginfo symtab -o "$1/new.obz" -- /usr/bin/python3 - <<'P' >/dev/null 2>&1
import socket, subprocess, threading, time

def serve(listener, answer):
    c, _ = listener.accept()
    while c.recv(4096):
        c.sendall(answer)

def ask(question, answer, cnt):
    listener = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=serve, args=(listener, answer), daemon=True).start()
    c = socket.create_connection(listener.getsockname())
    for _ in range(cnt):
        c.sendall(question)
        c.recv(4096)
    c.close()

ask(b"GET /a?b=c HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 5)
ask(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", b"-ERR no\r\n", 3)
ask(b"get k\r\n", b"END\r\n", 2)
a, b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
b.bind(("127.0.0.1", 0))
a.sendto(b"\x12\x34\1\0\0\1\0\0\0\0\0\0\1a\2de\0\0\1\0\1", b.getsockname())
b.recv(512)
a, b = socket.socketpair()
a.sendall(b"between")
b.recv(10)
subprocess.run(["true"])
until = time.monotonic() + 0.5
while time.monotonic() < until:
    sum(range(1000))
    time.sleep(0.001)
P
[ ! -s "$1/new.obz" ] || mv "$1/new.obz" "$1/captured.obz"
