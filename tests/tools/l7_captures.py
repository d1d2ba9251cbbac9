#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""l7_captures.py FILE: a capture of conversations, one a cause that obana once got wrong or tshark reads otherwise.

Row N (l7_captures.py --rows prints their names) is between 10.0.N.1, the client, and 10.0.N.2. Bytes are put together here
from the specification named at each row; nothing depends on time, order or chance."""
import struct
import sys

MS = 1000


def be(size, *values):
    return b"".join(v.to_bytes(size, "big") for v in values)


def le(size, *values):
    return b"".join(v.to_bytes(size, "little") for v in values)


class Capture:
    def __init__(self):
        self.packets, self.rows, self.now = [], [], 0

    def row(self, name):
        self.rows.append(name)
        self.now = len(self.rows) * 1000 * MS
        return self

    def add(self, to_server, proto, payload, keep=None):
        row = len(self.rows)
        ends = bytes((10, 0, row, 1)), bytes((10, 0, row, 2))
        src, dst = ends if to_server else ends[::-1]
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), len(self.packets) + 1, 0x4000, 64, proto, 0, src, dst)
        total = sum(struct.unpack(">10H", ip))
        total = (total & 0xffff) + (total >> 16)
        frame = b"\2\0\0\0\0\2\2\0\0\0\0\1\x08\0" + ip[:10] + struct.pack(">H", ~((total & 0xffff) + (total >> 16)) & 0xffff)
        frame += ip[12:] + payload
        kept = len(frame) if keep is None else 14 + 20 + keep
        self.packets.append((self.now, frame[:kept], len(frame)))
        self.now += MS

    def tcp(self, port, calls, end="fin", client=40000):
        """calls: ('>' or '<', bytes[, bytes kept of them]); end: fin, rst or None (the capture ends first)."""
        seq = {True: 1000, False: 5000}

        def segment(up, flags, data=b"", keep=None):
            ports = (client, port) if up else (port, client)
            ack = seq[not up] if flags & 16 else 0
            head = struct.pack(">HHIIBBHHH", *ports, seq[up], ack, 0x50, flags, 64000, 0, 0)
            self.add(up, 6, head + data, None if keep is None else 20 + keep)
            seq[up] += len(data) + (flags & 3 != 0)

        segment(True, 2)
        segment(False, 18)
        segment(True, 16)
        for call in calls:
            data, keep = call[1], call[2] if len(call) > 2 else None
            for at in range(0, len(data), 16000):
                piece = data[at:at + 16000]
                segment(call[0] == ">", 24, piece, None if keep is None else max(0, min(len(piece), keep - at)))
        if end == "rst":
            segment(False, 20)
        elif end == "fin":
            segment(True, 17)
            segment(False, 17)
            segment(True, 16)

    def udp(self, port, calls, client=40000):
        for call in calls:
            ports = (client, port) if call[0] == ">" else (port, client)
            self.add(call[0] == ">", 17, struct.pack(">HHHH", *ports, 8 + len(call[1]), 0) + call[1],
                     8 + call[2] if len(call) > 2 else None)

    def write(self, path):
        with open(path, "wb") as f:
            f.write(struct.pack("<IHHIIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
            for us, data, size in self.packets:
                f.write(struct.pack("<IIII", 1700000000 + us // 1000000, us % 1000000, len(data), size) + data)


c = Capture()

# ---- HTTP/1.1: RFC 9110 (methods, Content-Length), RFC 9112 (request line, chunks)


def request(method, target, body=b"", head=""):
    if body and not head:
        head = "Content-Length: %d\r\n" % len(body)
    return ("%s %s HTTP/1.1\r\nHost: h.test\r\n%s\r\n" % (method, target, head)).encode() + body


def response(body=b"", status="200 OK", head=None):
    head = "Content-Length: %d\r\n" % len(body) if head is None else head
    return ("HTTP/1.1 %s\r\n%s\r\n" % (status, head)).encode() + body


def exchanges(*requests):
    return [x for q in requests for x in ((">", q), ("<", response()))]


c.row("HTTP: :// inside a query").tcp(80, exchanges(
    request("GET", "/login?next=http://other.test/x/y"), request("GET", "http://h.test/a?u=http://b.test/c"),
    request("GET", "http://h.test?u=/c"), request("GET", "/b#http://b.test/c"), request("GET", "/p/https://b.test/c")))
c.row("HTTP: any token is a method").tcp(80, exchanges(*(request(m, "/x") for m in (
    "NOTIFY", "SUBSCRIBE", "UNSUBSCRIBE", "SEARCH", "QUERY", "CCM_POST", "RPC_IN_DATA", "BASELINE-CONTROL", "x!#$%&'*+-.^_`|~9"))))
for m in ("NOTIFY", "M-SEARCH", "RPC_IN_DATA", "CCM_POST"):
    c.row("HTTP: %s comes first" % m).tcp(8081, exchanges(request(m, "*" if m[1] == "-" else "/x"), request("GET", "/y")))
c.row("not HTTP: RTSP").tcp(554, [(">", b"OPTIONS rtsp://h.test/a RTSP/1.0\r\nCSeq: 1\r\n\r\n"),
                                  ("<", b"RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: PLAY\r\n\r\n")])
c.row("not HTTP: SIP").tcp(5060, [(">", b"NOTIFY sip:a@h.test SIP/2.0\r\nCSeq: 1 NOTIFY\r\nContent-Length: 0\r\n\r\n"),
                                  ("<", b"SIP/2.0 200 OK\r\nCSeq: 1 NOTIFY\r\nContent-Length: 0\r\n\r\n")])
for end in ("fin", "rst", None):
    c.row("HTTP: a body that never came whole, %s" % end).tcp(80, [
        (">", request("GET", "/ok")), ("<", response(b"12345")), (">", request("GET", "/big")),
        ("<", response(b"x" * 3000, head="Content-Length: 1649247\r\n"))], end=end)
c.row("HTTP: nor did a request's").tcp(80, [(">", request("PUT", "/up", b"x" * 3000, "Content-Length: 100000\r\n")),
                                            ("<", response(b"", "413 Too Large"))])
c.row("HTTP: nor did one that is not answered").tcp(80, [(">", request("PUT", "/up", b"x" * 3000, "Content-Length: 100000\r\n"))])
c.row("HTTP: a chunk of 2^64 bytes").tcp(80, [
    (">", request("GET", "/a")), ("<", response(b"10000000000000000\r\nabc\r\n0\r\n\r\n", head="Transfer-Encoding: chunked\r\n"))])
c.row("HTTP: zeros before a chunk's size").tcp(80, [
    (">", request("GET", "/a")),
    ("<", response(b"00000000000000000005\r\nabcde\r\n0000000000000000000000\r\n\r\n", head="Transfer-Encoding: chunked\r\n")),
    (">", request("GET", "/b")), ("<", response())])
c.row("HTTP: zeros before Content-Length").tcp(80, [
    (">", request("POST", "/a", b"abcde", "Content-Length: 000000000000000000000000000005\r\n")),
    ("<", response(b"hello", head="Content-Length: 00000000000000000000005\r\n")), (">", request("GET", "/b")), ("<", response())])
line = request("GET", "/some/path")
c.row("HTTP: a request line cut by the snap length").tcp(80, [x for kept in (len("GET /some/path") + n for n in range(0, 10)) for x in (
    (">", line, kept), ("<", response()))])

# ---- HTTP/2 (RFC 9113 4.1: "Flags that have no defined semantics ... MUST be ignored")


def frame(kind, flags, stream, payload=b""):
    return be(3, len(payload)) + bytes((kind, flags)) + be(4, stream) + payload


def field(name, value):
    return b"\0" + bytes((len(name),)) + name.encode() + bytes((len(value),)) + value.encode()


def heads(**kw):
    return b"".join(field(":" + k, v) for k, v in kw.items())


preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
c.row("HTTP/2: flags that are not defined").tcp(8082, [
    (">", preface + frame(4, 0x50, 0)), ("<", frame(4, 0x20, 0)),
    (">", frame(1, 0xc5 | 0x10, 1, heads(method="GET", scheme="http", authority="h.test", path="/a?u=http://b.test/c"))),
    ("<", frame(1, 0x44, 1, heads(status="200")) + frame(0, 0xf1 & ~8, 1, b"hello")),
    (">", frame(8, 0x02, 0, be(4, 100)) + frame(6, 0xfe & ~1, 0, b"12345678")),
    (">", frame(1, 0x05, 3, heads(method="GET", scheme="http", authority="h.test", path="/b"))),
    ("<", frame(1, 0x05, 3, heads(status="404")))])

# ---- MySQL (dev.mysql.com: COM_QUERY with CLIENT_QUERY_ATTRIBUTES, COM_FIELD_LIST, ERR_Packet)

PROTOCOL_41, SECURE, DEPRECATE_EOF, ATTRIBUTES = 1 << 9, 1 << 15, 1 << 24, 1 << 27


def packet(seq, payload):
    return le(3, len(payload)) + bytes((seq,)) + payload


def greeting(caps):
    return packet(0, b"\x0a8.0.36\0" + le(4, 9) + b"abcdefgh\0" + le(2, caps & 0xffff) + b"\x21" + le(2, 2) + le(2, caps >> 16)
                  + b"\x15" + bytes(10) + b"ijklmnopqrst\0mysql_native_password\0")


def login(caps):
    return packet(1, le(4, caps) + le(4, 1 << 24) + b"\x21" + bytes(23) + b"u\0" + b"\x14" + b"p" * 20)


def lenenc(text):
    return bytes((len(text),)) + text


def column(name):
    return b"\3def\1t\1t\1t" + lenenc(name) + lenenc(name) + b"\x0c\x21\0\x20\0\0\0\xfd\0\0\0\0\0"


ok, eof_ok = b"\0\0\0\2\0\0\0", b"\xfe\0\0\2\0\0\0"
CAPS = PROTOCOL_41 | SECURE | DEPRECATE_EOF | ATTRIBUTES
enter = [("<", greeting(CAPS)), (">", login(CAPS)), ("<", packet(2, ok))]
select = [("<", packet(1, b"\1") + packet(2, column(b"a")) + packet(3, b"\1" + b"1") + packet(4, eof_ok))]
attributes = b"\2\1" + b"\0" + b"\1" + b"\xfe\0" + lenenc(b"trace") + b"\3\0" + lenenc(b"n") + lenenc(b"blue and green") + le(4, 77)
c.row("MySQL: query attributes").tcp(3306, enter + [(">", packet(0, b"\3\0\1SELECT a FROM t"))] + select
                                     + [(">", packet(0, b"\3" + attributes + b"SELECT b FROM t WHERE i = 5"))] + select
                                     + [(">", packet(0, b"\3\1\1\1\1\xfe\0" + lenenc(b"x") + b"DELETE FROM t")), ("<", packet(1, ok)),
                                        (">", packet(0, b"\3\0\1\nSELECT 1"))] + select)
c.row("MySQL: query attributes, joined late").tcp(3306, [(">", packet(0, b"\3\0\1SELECT a FROM t"))] + select
                                                  + [(">", packet(0, b"\3" + attributes + b"SELECT b FROM t WHERE i = 5"))] + select)
c.row("MySQL: no attributes agreed on").tcp(3306, [("<", greeting(CAPS & ~ATTRIBUTES)), (">", login(CAPS)), ("<", packet(2, ok)),
                                                   (">", packet(0, b"\3SELECT a FROM t"))] + select)
c.row("MySQL: FIELD_LIST without EOF").tcp(3306, enter + [
    (">", packet(0, b"\4t\0")), ("<", packet(1, column(b"a") + b"\xfb") + packet(2, column(b"b") + b"\xfb") + packet(3, eof_ok)),
    (">", packet(0, b"\4none\0")), ("<", packet(1, eof_ok)),
    (">", packet(0, b"\3DELETE FROM t")), ("<", packet(1, ok))])
old = CAPS & ~DEPRECATE_EOF
c.row("MySQL: FIELD_LIST with EOF").tcp(3306, [("<", greeting(old)), (">", login(old)), ("<", packet(2, ok)), (">", packet(0, b"\4t\0")),
                                               ("<", packet(1, column(b"a") + b"\xfb") + packet(2, b"\xfe\0\0\2\0")),
                                               (">", packet(0, b"\3\0\1DELETE FROM t")), ("<", packet(1, ok))])
c.row("MySQL: others that end without EOF").tcp(3306, enter + [
    (">", packet(0, b"\x1b\0\0")), ("<", packet(1, eof_ok)),
    (">", packet(0, b"\x1c" + le(4, 1, 10))), ("<", packet(1, b"\0\0\0011") + packet(2, eof_ok)),
    (">", packet(0, b"\x1c" + le(4, 1, 10))), ("<", packet(1, eof_ok)), (">", packet(0, b"\x0e")), ("<", packet(1, ok))])
c.row("MySQL: ERR in place of a greeting").tcp(3306, [("<", packet(0, b"\xff" + le(2, 1040) + b"Too many connections"))])
c.row("MySQL: the same with an SQLSTATE").tcp(3306, [
    ("<", packet(0, b"\xff" + le(2, 1129) + b"#HY000Host '10.0.0.9' is blocked because of many connection errors"))])

# ---- PostgreSQL (postgresql.org/docs: Message Formats, Message Flow)


def pg(kind, payload):
    return kind + be(4, 4 + len(payload)) + payload


def fields(**kw):
    return b"".join(k.encode() + v.encode() + b"\0" for k, v in kw.items()) + b"\0"


startup = be(4, 8 + 4 + 22) + be(4, 0x30000) + b"user\0u\0database\0d\0app" + b"\0\0"
startup = be(4, 4 + 4 + len(b"user\0u\0database\0d\0\0")) + be(4, 0x30000) + b"user\0u\0database\0d\0\0"
ready = pg(b"Z", b"I")
for code, text in (("28P01", 'password authentication failed for user "u"'), ("28000", 'no pg_hba.conf entry for host "10.0.0.9", user "u", database "d", "edns":1')):
    ask = [("<", pg(b"R", be(4, 5) + b"salt")), (">", pg(b"p", b"md5" + b"0" * 32 + b"\0"))] if code == "28P01" else []
    c.row("PostgreSQL: FATAL %s" % code).tcp(5432, [(">", startup)] + ask + [("<", pg(b"E", fields(S="FATAL", V="FATAL", C=code, M=text)))])
c.row("PostgreSQL: FATAL in the middle").tcp(5432, [
    (">", startup), ("<", pg(b"R", be(4, 0)) + ready), (">", pg(b"Q", b"SELECT pg_sleep(9)\0")),
    ("<", pg(b"E", fields(S="FATAL", V="FATAL", C="57P01", M="terminating connection due to administrator command")))])
c.row("PostgreSQL: ERROR has ReadyForQuery").tcp(5432, [
    (">", startup), ("<", pg(b"R", be(4, 0)) + ready), (">", pg(b"Q", b"SELECT 1/0\0")),
    ("<", pg(b"E", fields(S="ERROR", V="ERROR", C="22012", M="division by zero")) + ready), (">", pg(b"Q", b"SELECT 1\0")),
    ("<", pg(b"C", b"SELECT 1\0") + ready)])

# ---- Cassandra (native_protocol_v4.spec), snappy and lz4 of an empty body; Kafka (kafka.apache.org/protocol)


def cql(response, stream, opcode, body, flags=0):
    return bytes((0x84 if response else 4, flags)) + be(2, stream) + bytes((opcode,)) + be(4, len(body)) + body


def string(text, size=2):
    return be(size, len(text)) + text


rows = be(4, 2, 4, 0, 0)
for how, empty in (("snappy", b"\0"), ("lz4", be(4, 0) + b"\0")):
    c.row("Cassandra: READY, compressed with %s" % how).tcp(9042, [
        (">", cql(0, 0, 5, b"")), ("<", cql(1, 0, 6, be(2, 1) + string(b"COMPRESSION") + be(2, 2) + string(b"snappy") + string(b"lz4"))),
        (">", cql(0, 1, 1, be(2, 2) + string(b"CQL_VERSION") + string(b"3.0.0") + string(b"COMPRESSION") + string(how.encode()))),
        ("<", cql(1, 1, 2, empty, 1)), (">", cql(0, 2, 5, empty, 1)), ("<", cql(1, 2, 6, b"\2\0\0\0" if how == "snappy" else be(4, 2) + b"\x20\0\0", 1)),
        (">", cql(0, 3, 7, string(b"SELECT a FROM k.t", 4) + be(2, 1) + b"\0")), ("<", cql(1, 3, 8, be(4, 1)))])


def kafka(key, version, ident, body, client=b"rdkafka"):
    body = be(2, key, version) + be(4, ident) + string(client) + body
    return string(body, 4)


apis = string(be(4, 1) + be(2, 0) + be(4, 2) + be(2, 0, 0, 2) + be(2, 3, 0, 1), 4)
metadata = string(be(4, 2) + be(4, 0) + be(4, 0), 4)
for name, client in (("librdkafka's", b"rdkafka"), ("a nameless client's", b"")):
    c.row("Kafka: %s ApiVersions" % name).tcp(9092, [(">", kafka(18, 0, 1, be(4, 0), client)), ("<", apis),
                                                     (">", kafka(3, 0, 2, be(4, 0), client)), ("<", metadata)])

# ---- Dubbo with Kryo (KryoObjectOutput.writeUTF: com.esotericsoftware.kryo.io.Output.writeString)


def kryo(text):
    if len(text) > 1:
        return text[:-1] + bytes((text[-1] | 0x80,)) if len(text) < 64 else kryo_long(text)
    return bytes((0x80 | len(text) + 1,)) + text


def kryo_long(text):
    n = len(text) + 1
    return bytes((0xc0 | n & 0x3f, n >> 6)) + text


def dubbo(flags, status, ident, body):
    return b"\xda\xbb" + bytes((flags, status)) + be(8, ident) + be(4, len(body)) + body


path = b"org.test.Echo"
call = kryo(b"2.7.3") + kryo(path) + kryo(b"1.0.0") + kryo(b"sayHello") + kryo(b"Ljava/lang/String;") + b"\x03\1" + kryo(b"you") + b"\0"
long_path = b"org.test." + b"x" * 70 + ".Größe".encode()
wide = "Größe".encode()
call_long = kryo(b"2.7.3") + bytes((0xc0 | 77 & 0x3f, 77 >> 6)) + b"org.test." + b"x" * 61 + b"." + wide \
    + kryo(b"") + kryo(b"get") + kryo(b"") + b"\0"
for n, what in ((8, "Kryo"), (9, "FST")):
    body = call if n == 8 else b"".join(string(s) for s in (b"2.7.3", path, b"1.0.0", b"sayHello", b"Ljava/lang/String;"))
    c.row("Dubbo with %s" % what).tcp(20880, [(">", dubbo(0xc0 | n, 0, 1, body)), ("<", dubbo(n, 20, 1, b"\1\3" + kryo(b"hello")))]
                                      + ([(">", dubbo(0xc8, 0, 2, call_long)), ("<", dubbo(8, 20, 2, b"\2"))] if n == 8 else []))

# ---- MongoDB (legacy opcodes; OP_COMMAND and OP_COMMANDREPLY of 3.2)


def bson(*elements):
    body = b"".join(elements)
    return le(4, 4 + len(body) + 1) + body + b"\0"


def text(name, value):
    return b"\2" + name + b"\0" + le(4, len(value) + 1) + value + b"\0"


def number(name, value):
    return b"\x01" + name + b"\0" + struct.pack("<d", value)


def mongo(ident, to, opcode, body):
    return le(4, 16 + len(body), ident, to, opcode) + body


doc = bson(text(b"name", b"x"))
okay, failed = bson(number(b"ok", 1)), bson(number(b"ok", 0), text(b"errmsg", b"no such thing"), b"\x10code\0" + le(4, 59))
c.row("MongoDB: OP_COMMAND").tcp(27017, [
    (">", mongo(1, 0, 2010, b"db\0find\0" + bson(text(b"find", b"people")) + bson())), ("<", mongo(9, 1, 2011, okay + bson())),
    (">", mongo(2, 0, 2010, b"db\0nope\0" + bson() + bson(text(b"nope", b"people")))), ("<", mongo(10, 2, 2011, bson() + failed)),
    (">", mongo(3, 0, 2010, b"admin\0isMaster\0" + bson(b"\x10isMaster\0" + le(4, 1)) + bson())), ("<", mongo(11, 3, 2011, okay + bson()))])
c.row("MongoDB: OP_INSERT and its siblings").tcp(27017, [
    (">", mongo(1, 0, 2002, le(4, 0) + b"db.people\0" + doc + doc)), (">", mongo(2, 0, 2001, le(4, 0) + b"db.people\0" + le(4, 1) + doc + doc)),
    (">", mongo(3, 0, 2006, le(4, 0) + b"db.people\0" + le(4, 1) + doc)), (">", mongo(4, 0, 2005, le(4, 0) + b"db.people\0" + le(4, 10) + le(8, 77))),
    ("<", mongo(11, 4, 1, le(4, 8) + le(8, 77) + le(4, 0) + le(4, 1) + doc)), (">", mongo(5, 0, 2007, le(4, 0) + le(4, 1) + le(8, 77)))])
c.row("MongoDB: OP_INSERT alone").tcp(27017, [(">", mongo(1, 0, 2002, le(4, 1) + b"db.people\0" + doc))])

# ---- Thrift over UDP (thrift-binary-protocol.md, thrift-compact-protocol.md)


def binary(kind, name, seq, body=b"\0"):
    return be(2, 0x8001) + be(2, kind) + string(name, 4) + be(4, seq) + body


c.row("Thrift over UDP").udp(9090, [(">", binary(1, b"ping", 1)), ("<", binary(2, b"ping", 1)),
                                    (">", binary(1, b"get", 2, b"\x08\0\1" + be(4, 5) + b"\0")), ("<", binary(2, b"get", 2, b"\x08\0\0" + be(4, 7) + b"\0"))])
c.row("Thrift over UDP: one-way, compact").udp(6831, [(">", b"\x82\x81\1\x09emitBatch\x15\x0a\0"), (">", b"\x82\x81\2\x09emitBatch\x15\x0c\0")])
c.row("Thrift over UDP: a single one").udp(6831, [(">", b"\x82\x81\1\x09emitBatch\x15\x0a\0")])

# ---- memcached over UDP (doc/protocol.txt, "UDP protocol")


def udp_head(ident):
    return be(2, ident, 0, 1, 0)


c.row("memcached over UDP: a single datagram").udp(11211, [(">", udp_head(7) + b"get key\r\n")])
c.row("memcached over UDP: a single set").udp(11211, [(">", udp_head(7) + b"set key 0 0 3\r\nabc\r\n")])
c.row("memcached over UDP: stats alone").udp(11211, [(">", udp_head(0) + b"stats\r\n")])
c.row("memcached over UDP: noreply alone").udp(11211, [(">", udp_head(i) + b"delete key%d noreply\r\n" % i) for i in range(3)])
c.row("memcached over UDP: an answer").udp(11211, [(">", udp_head(7) + b"get key\r\n"), ("<", udp_head(7) + b"VALUE key 0 3\r\nabc\r\nEND\r\n")])
c.row("memcached: noreply alone").tcp(11211, [(">", b"set key 0 0 3 noreply\r\nabc\r\n"), (">", b"delete key noreply\r\n")])

# ---- Redis (redis.io/docs: inline commands)

c.row("Redis: PUBLISH in a line").tcp(6379, [(">", b"PUBLISH news hello\r\n"), ("<", b":1\r\n"), (">", b"publish news again\r\n"), ("<", b":1\r\n")])
c.row("Redis: other commands in a line").tcp(6379, [(">", b"LPUSH list a\r\n"), ("<", b":1\r\n"), (">", b"HGET h f\r\n"), ("<", b"$1\r\nx\r\n")])
c.row("Redis: a text in quotes").tcp(6379, [(">", b"SET key \"two words\"\r\n"), ("<", b"+OK\r\n")])

# ---- DNS (RFC 1035, 1996, 2136, 2930, 5936, 8945) and NetBIOS names (RFC 1002)


def name(text):
    return b"".join(bytes((len(w),)) + w.encode() for w in text.split(".") if w) + b"\0"


def dns(ident, flags, question=None, answers=(), authority=(), more=()):
    q = name(question[0]) + be(2, question[1], question[2] if len(question) > 2 else 1) if question else b""
    return be(2, ident, flags, 1 if question else 0, len(answers), len(authority), len(more)) + q + b"".join((*answers, *authority, *more))


def rr(owner, kind, cls, data, ttl=60):
    return name(owner) + be(2, kind, cls) + be(4, ttl) + string(data)


def tsig(ident):
    return rr("key", 250, 255, name("hmac-sha256") + be(6, 1700000000) + be(2, 300) + string(b"m" * 32) + be(2, ident, 0, 0), 0)


A, NS, SOA, AXFR, TKEY = 1, 2, 6, 252, 249
soa = rr("z.test", SOA, 1, name("ns.z.test") + name("admin.z.test") + be(4, 1, 2, 3, 4, 5))
address = rr("a.z.test", A, 1, bytes((10, 1, 2, 3)))
opt = b"\0" + be(2, 41, 1232) + be(4, 0) + be(2, 0)


def netbios(text):
    padded = text.ljust(15).encode() + b"\0"
    return "".join(chr(65 + (b >> 4)) + chr(65 + (b & 15)) for b in padded)


nb = (netbios("FILES"), 0x20)
c.row("not DNS: NetBIOS name queries").udp(137, [(">", dns(1, 0x0110, nb)), ("<", dns(1, 0x8500, None, [rr(nb[0], 0x20, 1, be(2, 0) + bytes((10, 0, 0, 5)))]))], client=137)
c.row("not DNS: NetBIOS registration").udp(137, [
    (">", dns(2, 0x2910, nb, more=[b"\xc0\x0c" + be(2, 0x20, 1) + be(4, 0) + string(be(2, 0) + bytes((10, 0, 0, 5)))]))], client=137)
c.row("not DNS: NetBIOS node status").udp(137, [(">", dns(3, 0, ("CK" + "A" * 30, 0x21))), ("<", dns(
    3, 0x8400, None, [rr("CK" + "A" * 30, 0x21, 1, b"\1FILES          \0\4\0" + bytes(46))]))], client=137)
c.row("DNS: UPDATE").udp(53, [
    (">", dns(1, 0x2800, ("z.test", SOA), [rr("a.z.test", A, 254, b"", 0)], [address])), ("<", dns(1, 0xa800, ("z.test", SOA))),
    (">", dns(2, 0x2800, ("z.test", SOA), [], [rr("a.z.test", 255, 255, b"", 0), address], [tsig(2)])), ("<", dns(2, 0xa809, ("z.test", SOA), more=[tsig(2)])),
    (">", dns(3, 0x2800, ("z.test", SOA), [rr("a.z.test", 255, 255, b"", 0)], [address], [tsig(3)])), ("<", dns(3, 0xa800, None))])
c.row("DNS: NOTIFY").udp(53, [(">", dns(1, 0x2400, ("z.test", SOA), [soa])), ("<", dns(1, 0xa400, ("z.test", SOA))),
                              (">", dns(2, 0x2400, ("z.test", SOA), [soa], more=[tsig(2)])), ("<", dns(2, 0xa400, ("z.test", SOA), more=[tsig(2)]))])
c.row("DNS: NOTIFY, unanswered").udp(53, [(">", dns(1, 0x2400, ("z.test", SOA), [soa]))])
key = rr("k.test", TKEY, 255, name("gss-tsig") + be(4, 1, 2) + be(2, 3, 0) + string(b"t" * 90) + be(2, 0), 0)


def over_tcp(*messages):
    return b"".join(string(m) for m in messages)


c.row("DNS: TKEY").tcp(53, [(">", over_tcp(dns(1, 0, ("k.test", TKEY, 255), more=[key]))), ("<", over_tcp(dns(1, 0x8000, ("k.test", TKEY, 255), [key]))),
                            (">", over_tcp(dns(2, 0, ("k.test", TKEY, 255), [key]))), ("<", over_tcp(dns(2, 0x8000, ("k.test", TKEY, 255), [key], more=[tsig(2)])))])
c.row("DNS: AXFR, signed").tcp(53, [
    (">", over_tcp(dns(1, 0, ("z.test", AXFR), more=[tsig(1)]))),
    ("<", over_tcp(dns(1, 0x8400, ("z.test", AXFR), [soa, address], more=[tsig(1)]), dns(1, 0x8400, None, [address] * 3), dns(1, 0x8400, None, [soa], more=[tsig(1)]))),
    (">", over_tcp(dns(2, 0, ("z.test", A)))), ("<", over_tcp(dns(2, 0x8400, ("z.test", A), [address])))])
zone = [soa] + [rr("host%d.z.test" % i, A, 1, bytes((10, 1, i >> 8, i & 255))) for i in range(300)]
answer = over_tcp(dns(1, 0x8400, ("z.test", AXFR), zone, more=[tsig(1)])) + over_tcp(dns(1, 0x8400, None, zone[1:] + [soa], more=[tsig(1)]))
c.row("DNS: AXFR in many segments").tcp(53, [(">", over_tcp(dns(1, 0, ("z.test", AXFR))))]
                                        + [("<", answer[at:at + 1460]) for at in range(0, len(answer), 1460)])
c.row("DNS: AXFR, refused").tcp(53, [(">", over_tcp(dns(1, 0, ("z.test", AXFR)))), ("<", over_tcp(dns(1, 0x8005, ("z.test", AXFR)))),
                                     (">", over_tcp(dns(2, 0, ("z.test", A)))), ("<", over_tcp(dns(2, 0x8400, ("z.test", A), [address])))])
c.row("DNS: AXFR that ends early").tcp(53, [(">", over_tcp(dns(1, 0, ("z.test", AXFR)))), ("<", over_tcp(dns(1, 0x8400, ("z.test", AXFR), zone[:50])))], end="rst")
c.row("DNS: an answer in several segments").tcp(53, [(">", over_tcp(dns(1, 0x100, ("a.test", 16)))), ("<", over_tcp(dns(
    1, 0x8180, ("a.test", 16), [rr("a.test", 16, 1, b"\xc8" + b"x" * 200)] * 20))[:1460]), ("<", over_tcp(dns(
        1, 0x8180, ("a.test", 16), [rr("a.test", 16, 1, b"\xc8" + b"x" * 200)] * 20))[1460:])])
c.row("DNS: a malformed answer beside valid queries").udp(53, [
    (">", dns(1, 0x100, ("a.test", A))), ("<", dns(1, 0x8180, ("a.test", A), [b"\xc0\xff" + be(2, 1, 1) + be(4, 5) + be(2, 4) + b"abcd"])),
    (">", dns(2, 0x100, ("b.test", A))), ("<", dns(2, 0x8180, ("b.test", A), [rr("b.test", A, 1, b"abcd")]))])
c.row("DNS: a malformed answer alone").udp(53, [(">", dns(1, 0x100, ("a.test", A))), ("<", dns(1, 0x8180, ("a.test", A), [b"\xc0\xff" + be(2, 1, 1)]))])
c.row("DNS: edns on both sides").udp(53, [(">", dns(1, 0x100, ("a.test", A), more=[opt])), ("<", dns(1, 0x8180, ("a.test", A), [rr("a.test", A, 1, b"abcd")], more=[opt]))])

# ---- NATS (docs.nats.io) and MSN Messenger (MSNP8), whose MSG looks like it

mail = b"MIME-Version: 1.0\r\nContent-Type: text/plain; charset=UTF-8\r\n\r\nhello you"
c.row("not NATS: MSN Messenger").tcp(1863, [
    (">", b"USR 1 alice@h.test 123.456\r\n"), ("<", b"USR 1 OK alice@h.test Alice\r\n"), (">", b"MSG 2 N %d\r\n" % len(mail) + mail),
    ("<", b"MSG bob@h.test Bob %d\r\n" % len(mail) + mail)])
c.row("not NATS: MSN Messenger, joined late").tcp(1863, [("<", b"MSG bob@h.test Bob %d\r\n" % len(mail) + mail[:70]), (">", b"MSG 2 N %d\r\n" % len(mail) + mail)])
c.row("not NATS: MSN Messenger, one side").tcp(1863, [("<", b"MSG Hotmail Hotmail %d\r\n" % len(mail) + mail)])
c.row("not NATS: MSN Messenger, a number as name").tcp(1863, [("<", b"MSG bob@h.test 7 %d\r\n" % len(mail) + mail)])
c.row("NATS").tcp(4222, [("<", b'INFO {"server_id":"x","version":"2.9.0"} \r\n'), (">", b'CONNECT {"verbose":false}\r\nSUB news 1\r\nPUB news 5\r\nhello\r\n'),
                         ("<", b"MSG news 1 5\r\nhello\r\n")])
c.row("NATS, joined late").tcp(4222, [("<", b"MSG news 1 5\r\nhello\r\n"), (">", b"PING\r\n"), ("<", b"PONG\r\n")])

# ---- a key of both sides' details stands once

c.row("details: Cassandra, compressed").tcp(9042, [
    (">", cql(0, 1, 1, be(2, 2) + string(b"CQL_VERSION") + string(b"3.0.0") + string(b"COMPRESSION") + string(b"lz4"))), ("<", cql(1, 1, 2, b"")),
    (">", cql(0, 3, 7, b"\x01\0" + b"x" * 40, 1)), ("<", cql(1, 3, 8, b"\x01\0" + b"x" * 40, 1))])

if __name__ == "__main__":
    if sys.argv[1] == "--rows":
        print("\n".join("%d %s" % row for row in enumerate(c.rows, 1)))
    else:
        c.write(sys.argv[1])
