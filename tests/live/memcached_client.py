# memcached_client.py PORT: each kind of command many times over TCP, some over UDP; prints what an observer has to see, counted
# from the server's answers: method,status,is_error,oneway,count.
import collections
import socket
import struct
import sys

port, N = int(sys.argv[1]), 50
seen = collections.Counter()
tcp = socket.create_connection(("127.0.0.1", port))
lines = tcp.makefile("rb")


def expect(method, status, error=0, oneway=0):
    seen[method, status, error, oneway] += 1


def answer():
    """The first word of an answer, and its values."""
    values = 0
    while True:
        words = lines.readline().split()
        if words[0] == b"VALUE":
            lines.read(int(words[3]) + 2)
            values += 1
            continue
        if words[0] == b"VA":
            lines.read(int(words[1]) + 2)
        if words[0] != b"STAT":
            return words[0].decode(), values


def ask(method, text, keys=0):
    tcp.sendall(text.encode())
    word, values = answer()
    if word == "END":
        word = "MISS" if not values else "HIT" if values == keys else "PARTIAL"
    elif word.isdigit() or (word == "VA" and method != "MG"):
        word = "OK"
    elif word in ("VA", "HD") and method == "MG":
        word = "HIT"
    elif word == "EN":
        word = "MISS"
    expect(method, word, int(word.endswith("ERROR")))


def silent(method, text):
    tcp.sendall(text.encode())
    expect(method, "", 0, 1)


big = "v" * 100000
for i in range(N):
    ask("SET", f"set k{i} 1 0 5\r\nhello\r\n")
    ask("SET", f"set big 1 0 {len(big)}\r\n{big}\r\n")
    ask("GET", f"get k{i}\r\n", 1)
    ask("GET", "get big\r\n", 1)
    ask("GETS", f"gets k{i} nothing\r\n", 2)
    ask("GET", f"get k{i} k0\r\n", 2)
    ask("GAT", f"gat 100 k{i}\r\n", 1)
    ask("CAS", f"cas k{i} 0 0 1 1\r\nx\r\n")
    ask("APPEND", f"append k{i} 0 0 1\r\nx\r\n")
    ask("PREPEND", "prepend nothing 0 0 1\r\nx\r\n")
    ask("ADD", f"add k{i} 0 0 1\r\nx\r\n")
    ask("INCR", f"incr k{i} 1\r\n")
    ask("TOUCH", f"touch k{i} 1000\r\n")
    ask("DELETE", f"delete k{i}\r\n")
    ask("DELETE", f"delete k{i}\r\n")
    ask("NONSENSE", "nonsense\r\n")
    silent("SET", f"set n{i} 0 0 1 noreply\r\n5\r\n")
    silent("INCR", f"incr n{i} 1 noreply\r\n")
    ask("MS", f"ms m{i} 2 T0\r\nab\r\n")
    ask("MG", f"mg m{i} v O{i}\r\n")
    ask("MG", "mg nothing v\r\n")
    ask("MA", f"ma n{i} v\r\n")
    # Quiet: of three, one hits; in one call.
    tcp.sendall(f"mg a v q k\r\nmg m{i} v q k\r\nmg b v q k\r\nmn\r\n".encode())
    assert answer()[0] == "VA" and answer()[0] == "MN"
    expect("MG", "", 0, 1), expect("MG", "HIT"), expect("MG", "", 0, 1), expect("MN", "MN")
    ask("MD", f"md m{i}\r\n")
ask("VERSION", "version\r\n")
ask("FLUSH_ALL", "flush_all 1000\r\n")
tcp.sendall(b"quit\r\n")

udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.connect(("127.0.0.1", port))
udp.settimeout(5)
for i in range(N):
    for text in (f"set udp:{i} 0 0 2\r\nab\r\n", f"get udp:{i}\r\n", "get udp:nothing\r\n"):
        udp.send(struct.pack(">HHHH", i, 0, 1, 0) + text.encode())
        udp.recv(2000)
for key, count in sorted(seen.items()):
    print(*key, count, sep=",")
