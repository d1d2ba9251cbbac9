# HTTP over TLS, blocking, by asyncio, or with the TLS module imported only when told:
#   tls_peer.py serve PORT CERT KEY [ADDRESS] | get PORT COUNT TAG [ADDRESS] | aserve PORT CERT KEY | aget PORT COUNT TAG | late FIFO PORT COUNT TAG
import sys


def server_context(cert, key):
    import ssl
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain(cert, key)
    return c


def client_context():
    import ssl
    c = ssl.create_default_context()
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    return c


def serve(port, cert, key, host="127.0.0.1"):
    import http.server

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *args):
            pass

    s = http.server.ThreadingHTTPServer((host, port), Handler)
    s.socket = server_context(cert, key).wrap_socket(s.socket, server_side=True)
    s.serve_forever()


def get(port, count, tag, host="127.0.0.1"):
    import socket
    with client_context().wrap_socket(socket.create_connection((host, port))) as s:
        for i in range(count):
            s.sendall(b"GET /%s/%d HTTP/1.1\r\nHost: x\r\n\r\n" % (tag.encode(), i))
            answer = b""
            while not answer.endswith(b"\r\n\r\nok"):
                answer += s.recv(65536)


def late(fifo, port, count, tag):
    with open(fifo) as f:
        f.read()
    get(port, count, tag)


def aserve(port, cert, key):
    import asyncio

    async def talk(r, w):
        try:
            while True:
                await r.readuntil(b"\r\n\r\n")
                w.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except (asyncio.IncompleteReadError, ConnectionError):
            w.close()

    async def main():
        s = await asyncio.start_server(talk, "127.0.0.1", port, ssl=server_context(cert, key))
        await s.serve_forever()

    asyncio.run(main())


def aget(port, count, tag):
    import asyncio

    async def one(n):
        r, w = await asyncio.open_connection("127.0.0.1", port, ssl=client_context())
        for i in range(count):
            w.write(b"GET /%s/%d/%d HTTP/1.1\r\nHost: x\r\n\r\n" % (tag.encode(), n, i))
            await r.readuntil(b"\r\n\r\n")
            await r.readexactly(2)
        w.close()

    async def main():
        await asyncio.gather(*[one(n) for n in range(5)])

    asyncio.run(main())


what, args = sys.argv[1], sys.argv[2:]
if what in ("serve", "aserve"):
    {"serve": serve, "aserve": aserve}[what](int(args[0]), *args[1:])
elif what == "late":
    late(args[0], int(args[1]), int(args[2]), args[3])
else:
    {"get": get, "aget": aget}[what](int(args[0]), int(args[1]), *args[2:])
