"""python3 chunks_peer.py server PORT | client PORT ROUNDS [CHUNKS]: bodies in chunks of 20,000 bytes over a connection that stays, /down ten of them in
the response, each in a call, /up fifty (CHUNKS) in the request, read as they come. Both print each exchange: TARGET REQUEST-BYTES RESPONSE-BYTES."""
import socket, sys

CHUNK = b"4e20\r\n" + b"x" * 20000 + b"\r\n"
END = b"0\r\n\r\n"
HEAD = b"Host: h\r\nTransfer-Encoding: chunked\r\n\r\n"


def message(s):
    """First bytes of a message and its size; of none, b"" and 0."""
    data = s.recv(65536)
    start, size = data[:200], len(data)
    while not data.endswith(b"\r\n" + END if b"chunked" in start.lower() else b"\r\n\r\n"):
        more = s.recv(65536)
        if not more:
            break
        size += len(more)
        data = data[-8:] + more
    return start, size


def serve(port):
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        s, _ = listener.accept()
        while True:
            asked, size = message(s)
            if not asked:
                break
            calls = [b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"]
            if asked.startswith(b"GET /down"):
                calls = [b"HTTP/1.1 200 OK\r\n" + HEAD + CHUNK] + [CHUNK] * 9 + [END]
            for call in calls:
                s.sendall(call)
            print(asked.split()[1].decode(), size, sum(map(len, calls)), flush=True)
        s.close()


def ask(port, rounds, chunks):
    s = socket.create_connection(("127.0.0.1", port))
    for _ in range(rounds):
        for target, request in ("/down", b"GET /down HTTP/1.1\r\nHost: h\r\n\r\n"), ("/up", b"POST /up HTTP/1.1\r\n" + HEAD + CHUNK * chunks + END), ("/last", b"GET /last HTTP/1.1\r\nHost: h\r\n\r\n"):
            s.sendall(request)
            print(target, len(request), message(s)[1])
    s.close()


serve(int(sys.argv[2])) if sys.argv[1] == "server" else ask(int(sys.argv[2]), int(sys.argv[3]), int((sys.argv + [50])[4]))
