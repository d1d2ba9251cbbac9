# brpc_peer.py server PORT | client PORT CALLS DEPTH: baidu_std as bRPC's echo example speaks it. The server answers out of order within what it has
# read; every tenth call fails with code 1003, every seventh carries an attachment; DEPTH calls go at a time, four in a send.
import struct

import peer


def varint(n):
    out = b''
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def text(field, b):
    return varint(field << 3 | 2) + varint(len(b)) + b


def packet(meta, payload, attachment=b''):
    return b'PRPC' + struct.pack('>II', len(meta) + len(payload) + len(attachment), len(meta)) + meta + payload + attachment


def fields(b):
    """Of a protobuf message, the last of each number."""
    out, i = {}, 0

    def take():
        nonlocal i
        v = shift = 0
        while True:
            v |= (b[i] & 127) << shift
            shift += 7
            i += 1
            if not b[i - 1] & 128:
                return v
    while i < len(b):
        key = take()
        v = take()
        if key & 7 == 2:
            v, i = b[i:i + v], i + v
        out[key >> 3] = v
    return out


def packets(sock):
    buf = b''
    while True:
        while len(buf) >= 12 and len(buf) >= 12 + struct.unpack('>I', buf[4:8])[0]:
            body, meta = struct.unpack('>II', buf[4:12])
            yield fields(buf[12:12 + meta]), buf[12 + meta:12 + body], len(buf) > 12 + body
            buf = buf[12 + body:]
        more = sock.recv(65536)
        if not more:
            return
        buf += more


def serve(sock):
    answers = []
    for meta, body, more in packets(sock):
        n = meta[4]
        if n % 10 == 0:
            answer = packet(text(2, num(1, 1003) + text(2, b'refused "%d"' % n)) + num(4, n), b'')
        else:
            size = meta.get(5, 0)
            answer = packet((text(2, num(1, 0)) if n % 2 else text(2, b'')) + num(4, n) + (num(5, size) if size else b''), body)
        answers.insert(0, answer)
        if not more:
            sock.sendall(b''.join(answers))
            answers = []


sock, calls, depth = peer.begin(serve)
got = packets(sock)
for first in range(1, calls + 1, depth):
    wanted = set(range(first, min(first + depth, calls + 1)))
    out = b''
    for n in sorted(wanted):
        attachment = b'a' * 300 if n % 7 == 0 else b''
        out += packet(text(1, text(1, b'example.EchoService') + text(2, b'Echo') + num(3, n)) + num(4, n) +
                      (num(5, len(attachment)) if attachment else b''), text(1, b'hello %d' % n), attachment)
        if n % 4 == 0:
            sock.sendall(out)
            out = b''
    sock.sendall(out)
    while wanted:
        wanted.remove(next(got)[0][4])
