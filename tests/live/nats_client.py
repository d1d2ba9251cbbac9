# nats_client.py PORT N [user password]: a NATS client and a responder in one process, each on a connection of its own; prints what the
# server's side has to show, counted by what was sent and what arrived: method,status,paired,oneway,is_error,count.
import collections
import json
import socket
import sys

port, n, login = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
seen = collections.Counter()


class Connection:
    def __init__(self):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.lines = self.socket.makefile("rb")
        assert self.lines.readline().startswith(b"INFO ")
        seen["INFO", "", 0, 1, 0] += 1
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True, "name": "test", "lang": "python"}
        if login:
            options.update({"user": login[0], "pass": login[1]})
        self.send("CONNECT " + json.dumps(options) + "\r\n")
        seen["CONNECT", "", 0, 1, 0] += 1
        self.flush()

    def send(self, text):
        self.socket.sendall(text.encode())

    def line(self):
        """The next one that is not the server's PING, which comes when it likes."""
        while (line := self.lines.readline()) == b"PING\r\n":
            self.send("PONG\r\n")
        return line

    def flush(self):
        self.send("PING\r\n")
        assert self.line() == b"PONG\r\n"

    def receive(self):
        words = self.line().split()
        body = self.lines.read(int(words[-1]) + 2)
        return [w.decode() for w in words], body


ask, serve = Connection(), Connection()
ask.send("SUB _INBOX.me.* 1\r\n")
serve.send("SUB service.* workers 1\r\nSUB news 2\r\n")
seen["SUB", "", 0, 1, 0] += 3
ask.flush(), serve.flush()
for i in range(n):
    # Published: one-way, delivered once; every tenth with a body longer than what is kept of it.
    body = "x" * (5000 if i % 10 == 0 else 5)
    ask.send(f"PUB news {len(body)}\r\n{body}\r\n")
    assert serve.receive()[0][:2] == ["MSG", "news"]
    seen["PUB", "", 0, 1, 0] += 1
    seen["MSG", "", 0, 1, 0] += 1
    # Asked and answered, on both connections.
    ask.send(f"PUB service.{i} _INBOX.me.{i} 3\r\nask\r\n")
    words, _ = serve.receive()
    serve.send(f"PUB {words[3]} 2\r\nok\r\n")
    assert ask.receive()[0][1] == f"_INBOX.me.{i}"
    seen["PUB", "OK", 1, 0, 0] += 1
    seen["MSG", "OK", 1, 0, 0] += 1
    # Nobody serves it.
    ask.send(f"PUB nobody _INBOX.me.no{i} 0\r\n\r\n")
    words, body = ask.receive()
    assert words[0] == "HMSG" and b" 503" in body
    seen["PUB", "503", 1, 0, 1] += 1
serve.send("UNSUB 2\r\n")
seen["UNSUB", "", 0, 1, 0] += 1
serve.flush()
ask.send("NONSENSE\r\n")
while line := ask.line():
    seen["-ERR", "ERR", 0, 1, 1] += line.startswith(b"-ERR")
for key, count in sorted(seen.items()):
    print(*key, count, sep=",")
