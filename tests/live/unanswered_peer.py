# unanswered_peer.py ROUNDS PORT: requests to a server in the same process, one connection each; what the path or key says is how the server
# ends it. "wait": the client gives up after 300 ms; "mute": nothing reaches the server (rules are the caller's: what it sends from PORT on is
# dropped once the connection stands), until the client's kernel gives up.
import socket
import struct
import subprocess
import sys
import threading

HOW = ("answer", "close", "reset", "wait", "mute")
rounds, mute_port = int(sys.argv[1]), int(sys.argv[2])
threads = []


def end(s):
    data = s.recv(4096)
    how = next((h for h in HOW if h.encode() in data), None)
    if how == "answer":
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" if data.startswith(b"GET") else b"+OK\r\n")
    elif how == "reset":
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif how == "wait":
        s.recv(1)
    s.close()


def serve(listener):
    while True:
        s, _ = listener.accept()
        threads.append(threading.Thread(target=end, args=(s,), daemon=True))
        threads[-1].start()


listener = socket.create_server(("127.0.0.1", 0))
address = listener.getsockname()
threading.Thread(target=serve, args=(listener,), daemon=True).start()


def ask(text, how, source):
    c = socket.create_connection(address, source_address=source)
    if how == "mute":
        subprocess.run(["nft", "add rule ip t out tcp sport %d drop" % source[1]], check=True)
        c.setsockopt(socket.IPPROTO_TCP, 18, 500)  # TCP_USER_TIMEOUT, ms
    c.settimeout(0.3 if how == "wait" else None)
    c.sendall(text.encode())
    try:
        while c.recv(4096):
            pass
    except (TimeoutError, ConnectionResetError):
        pass
    c.close()


for i in range(rounds):
    for how in HOW if mute_port else HOW[:-1]:
        for j, text in enumerate((f"GET /{how} HTTP/1.1\r\nHost: a\r\n\r\n", f"*2\r\n$3\r\nGET\r\n${len(how)}\r\n{how}\r\n")):
            ask(text, how, ("", mute_port + 2 * i + j) if how == "mute" else None)
for t in threads:
    t.join(None if not mute_port else 1)
