"""python3 overlap_client.py PORT|SOCKET HOW: asks a Redis server for keys aa to hh at random, whose values are 0 to 63 bytes. HOW:
single: one request at a time, without a pause; window: never fewer than one of two outstanding; drain: some of ten requests' answers are read before it
asks more, and now and then all, followed by a pause."""
import random, socket, sys, time

where, how = sys.argv[1:]
if where.isdigit():
    s = socket.create_connection(("127.0.0.1", int(where)))
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
else:
    s = socket.socket(socket.AF_UNIX)
    s.connect(where)
waiting, data = [], b""
names = [b"%c%c" % (97 + n // 8, 97 + n % 8) for n in range(64)]


def ask():
    n = random.randrange(64)
    s.sendall(b"GET %s\r\n" % names[n])
    waiting.append(n)


def answer():
    global data
    while True:
        head, sep, rest = data.partition(b"\r\n")
        if sep and len(rest) >= int(head[1:]) + 2:
            break
        data += s.recv(4096)
    assert int(head[1:]) == waiting.pop(0)
    data = rest[int(head[1:]) + 2:]


for n in range(64):
    s.sendall(b"SET %s %s\r\n" % (names[n], b'"' + b"x" * n + b'"'))
    while not data.endswith(b"+OK\r\n"):
        data += s.recv(4096)
    data = b""
rounds = 0
while True:
    rounds += 1
    if how == "drain":
        while len(waiting) < 10:
            ask()
        for _ in range(len(waiting) if rounds % 200 == 0 else random.randint(1, 8)):
            answer()
        if not waiting:
            time.sleep(0.06)
    else:
        while len(waiting) < (2 if how == "window" else 1):
            ask()
        answer()
