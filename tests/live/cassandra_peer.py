# cassandra_peer.py server PORT: a minimal server of the native protocol, versions 3 to 5, from its specification: it logs in, prepares,
#   answers several requests at once in another order, pushes an event. At SIGTERM: method,status,is_error,count of each it answered.
# cassandra_peer.py client PORT VERSION N: N statements of each kind with DataStax' driver.
import collections
import hashlib
import signal
import socket
import struct
import sys
import threading
import zlib

NAMES = {1: "STARTUP", 5: "OPTIONS", 7: "QUERY", 9: "PREPARE", 10: "EXECUTE", 11: "REGISTER", 13: "BATCH", 15: "AUTH_RESPONSE"}
count = collections.Counter()
lock = threading.Lock()


def string(s):
    return struct.pack(">H", len(s)) + s.encode()


def crc24(b):
    crc = 0x875060
    for c in b:
        crc ^= c << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= 0x1974F0B
    return crc


def segment(payload, whole):
    head = (len(payload) | whole << 17).to_bytes(3, "little")
    crc = zlib.crc32(payload, zlib.crc32(b"\xfa\x2d\x55\xca"))
    return head + crc24(head).to_bytes(3, "little") + payload + crc.to_bytes(4, "little")


def segments(envelopes):
    """As few as can be: small envelopes together, a large one in parts."""
    out, together = b"", b""
    for e in envelopes:
        if len(together) + len(e) > 131071 and together:
            out, together = out + segment(together, 1), b""
        if len(e) <= 131071:
            together += e
            continue
        for i in range(0, len(e), 131071):
            out += segment(e[i : i + 131071], 0)
    return out + (segment(together, 1) if together else b"")


def rows(columns, values):
    body = struct.pack(">iii", 2, 1, len(columns)) + string("ks") + string("t")
    for name, kind in columns:
        body += string(name) + struct.pack(">H", kind)
    body += struct.pack(">i", len(values))
    for row in values:
        for v in row:
            body += struct.pack(">i", len(v)) + v
    return 8, body, "ROWS"


VOID = (8, struct.pack(">i", 1), "VOID")
VARCHAR, INT, UUID, INET = 13, 9, 12, 16


class Connection:
    def __init__(self, sock):
        self.sock, self.framed, self.buffer, self.part, self.prepared = sock, False, b"", b"", {}

    def statement(self, sql):
        if "system.local" in sql:
            return rows([("key", VARCHAR), ("cluster_name", VARCHAR), ("data_center", VARCHAR), ("rack", VARCHAR), ("release_version", VARCHAR),
                         ("partitioner", VARCHAR), ("host_id", UUID), ("rpc_address", INET)],
                        [(b"local", b"test", b"dc1", b"r1", b"4.0.0", b"org.apache.cassandra.dht.Murmur3Partitioner", b"\1" * 16, b"\x7f\0\0\1")])
        if "system" in sql:
            return rows([("peer", INET)], [])
        if "nope" in sql:
            return 0, struct.pack(">i", 0x2200) + string("unconfigured table nope"), "0x2200"
        if "big" in sql:
            return rows([("v", VARCHAR)], [(b"v" * 300000,)])
        if sql.startswith("SELECT"):
            return rows([("id", INT), ("name", VARCHAR)], [(b"\0\0\0\7", b"name")] * 2)
        return VOID

    def answer(self, version, opcode, body):
        if opcode == 5:
            return 6, struct.pack(">H", 2) + string("CQL_VERSION") + struct.pack(">H", 1) + string("3.4.5") + string("COMPRESSION") + struct.pack(">H", 0), "SUPPORTED"
        if opcode == 1:
            return 3, string("org.apache.cassandra.auth.PasswordAuthenticator"), "AUTHENTICATE"
        if opcode == 15:
            return 16, struct.pack(">i", -1), "AUTH_SUCCESS"
        if opcode == 11:
            return 2, b"", "READY"
        if opcode == 13:
            return VOID
        n = struct.unpack(">i", body[:4])[0]
        if opcode == 7:
            return self.statement(body[4 : 4 + n].decode())
        if opcode == 9:
            sql = body[4 : 4 + n].decode()
            if "nope" in sql:
                return self.statement(sql)
            key = hashlib.md5(sql.encode()).digest()
            self.prepared[key] = sql
            out = struct.pack(">i", 4) + struct.pack(">H", 16) + key + (struct.pack(">H", 16) + key if version >= 5 else b"")
            out += struct.pack(">ii", 1, sql.count("?")) + (struct.pack(">i", 0) if version >= 4 else b"") + string("ks") + string("t")
            for i in range(sql.count("?")):
                out += string("c%d" % i) + struct.pack(">H", INT if i == 0 else VARCHAR)
            return 8, out + struct.pack(">ii", 4, 0), "PREPARED"
        return self.statement(self.prepared[body[2:18]])

    def envelopes(self, data):
        """Whole ones, of the bytes so far; segments are opened."""
        self.buffer += data
        out = []
        while self.framed and len(self.buffer) >= 6:
            n = int.from_bytes(self.buffer[:3], "little") & 0x1FFFF
            assert crc24(self.buffer[:3]) == int.from_bytes(self.buffer[3:6], "little")
            if len(self.buffer) < n + 10:
                break
            self.part += self.buffer[6 : 6 + n]
            self.buffer = self.buffer[n + 10 :]
        rest = self.part if self.framed else self.buffer
        while len(rest) >= 9:
            n = struct.unpack(">I", rest[5:9])[0]
            if len(rest) < 9 + n:
                break
            out.append((rest[0], struct.unpack(">h", rest[2:4])[0], rest[4], rest[9 : 9 + n]))
            rest = rest[9 + n :]
        if self.framed:
            self.part = rest
        else:
            self.buffer = rest
        return out

    def run(self):
        while True:
            data = self.sock.recv(65536)
            if not data:
                self.sock.close()
                return
            asked = self.envelopes(data)
            answers, framed = [], self.framed
            for version, stream, opcode, body in reversed(asked):
                kind, out, status = self.answer(version, opcode, body)
                with lock:
                    count[NAMES[opcode], status, int(kind == 0)] += 1
                answers.append(struct.pack(">BBhBI", version | 0x80, 0, stream, kind, len(out)) + out)
                self.framed |= version >= 5 and opcode == 1
                if opcode == 11:
                    out = string("SCHEMA_CHANGE") + string("UPDATED") + string("KEYSPACE") + string("ks")
                    answers.append(struct.pack(">BBhBI", version | 0x80, 0, -1, 12, len(out)) + out)
                    with lock:
                        count["EVENT", "", 0] += 1
            if answers:
                self.sock.sendall(segments(answers) if framed else b"".join(answers))


def serve(port):
    def stop(*_):
        for (method, status, error), n in count.items():
            print("%s,%s,%d,%d" % (method, status, error, n))
        sys.stdout.flush()
        raise SystemExit

    signal.signal(signal.SIGTERM, stop)
    listener = socket.create_server(("127.0.0.1", port))
    while True:
        sock, _ = listener.accept()
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=Connection(sock).run, daemon=True).start()


def client(port, version, n):
    from cassandra import InvalidRequest
    from cassandra.auth import PlainTextAuthProvider
    from cassandra.cluster import Cluster, ExecutionProfile, EXEC_PROFILE_DEFAULT
    from cassandra.policies import RoundRobinPolicy
    from cassandra.query import BatchStatement, SimpleStatement

    profile = ExecutionProfile(load_balancing_policy=RoundRobinPolicy(), request_timeout=30)
    cluster = Cluster(["127.0.0.1"], port=port, protocol_version=version, auth_provider=PlainTextAuthProvider("me", "s3cret-word"), compression=False,
                      schema_metadata_enabled=False, token_metadata_enabled=False, schema_event_refresh_window=-1, idle_heartbeat_interval=0,
                      execution_profiles={EXEC_PROFILE_DEFAULT: profile})
    s = cluster.connect()
    for i in range(n):
        s.execute("INSERT INTO ks.users (id, name) VALUES (%d, 'name %d')" % (i, i))
    get = s.prepare("SELECT id, name FROM ks.users WHERE id = ?")
    put = s.prepare("INSERT INTO ks.users (id, name) VALUES (?, ?)")
    # At once, but no more than fit into what is kept of a call that reads or writes them all (512 bytes with --payload head).
    for i in range(0, n, 4):
        for f in [s.execute_async(get, (i,)) for i in range(i, i + 4)]:
            assert len(list(f.result())) == 2
    for i in range(n // 10):
        s.execute(put, (i, "x" * 100))
    if n >= 100:  # several segments
        s.execute(put, (1, "y" * 200000))
        assert len(s.execute("SELECT v FROM ks.big").one()[0]) == 300000
    for i in range(n // 20):
        b = BatchStatement()
        b.add(SimpleStatement("UPDATE ks.users SET name = 'b' WHERE id = %d" % i))
        b.add(put, (i, "z"))
        s.execute(b)
    for i in range(7):
        try:
            s.execute("SELECT * FROM nope WHERE id = %d" % i)
            raise SystemExit("no error?")
        except InvalidRequest:
            pass
    cluster.shutdown()


if sys.argv[1] == "server":
    serve(int(sys.argv[2]))
client(*map(int, sys.argv[2:5]))
