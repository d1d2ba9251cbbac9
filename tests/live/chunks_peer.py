"""python3 chunks_peer.py server PORT | client PORT ROUNDS: bodies in chunks of 20,000 bytes over a connection that stays, /down ten of them in the
response, each in a call, /up fifty in the request, read as they come. The client prints each exchange: TARGET REQUEST-BYTES RESPONSE-BYTES."""
import socket, sys

CHUNK = b"4e20\r\n" + b"x" * 20000 + b"\r\n"
END = b"0\r\n\r\n"
HEAD = b"Host: h\r\nTransfer-Encoding: chunked\r\n\r\n"


def message(s, end):
    data = b""
    while not (data.endswith(end(data))):
        more = s.recv(65536)
        if not more:
            return data
        data += more
    return data


def body_end(data):
    return b"\r\n" + END if b"chunked" in data[:200] else b"\r\n\r\n"


def serve(port):
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        s, _ = listener.accept()
        while True:
            asked = message(s, body_end)
            if not asked:
                break
            if asked.startswith(b"GET /down"):
                s.sendall(b"HTTP/1.1 200 OK\r\n" + HEAD + CHUNK)
                for _ in range(9):
                    s.sendall(CHUNK)
                s.sendall(END)
            else:
                s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        s.close()


def ask(port, rounds):
    s = socket.create_connection(("127.0.0.1", port))
    for _ in range(rounds):
        for target, request in ("/down", b"GET /down HTTP/1.1\r\nHost: h\r\n\r\n"), ("/up", b"POST /up HTTP/1.1\r\n" + HEAD + CHUNK * 50 + END), ("/last", b"GET /last HTTP/1.1\r\nHost: h\r\n\r\n"):
            s.sendall(request)
            print(target, len(request), len(message(s, body_end)))
    s.close()


serve(int(sys.argv[2])) if sys.argv[1] == "server" else ask(int(sys.argv[2]), int(sys.argv[3]))
