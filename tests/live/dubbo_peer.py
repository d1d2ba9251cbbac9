# dubbo_peer.py server PORT | client PORT CALLS DEPTH: Dubbo 2 with Hessian 2 as Dubbo's own codec writes it (from the public specification).
# DEPTH calls go at a time, four in a send; the server answers out of order within what it has read. Methods: sayHello gives a value, find
# none, fail throws; note is one-way; $invoke calls sayHello by its name; noSuchService is refused. Either side sends heartbeats, and the
# server calls back once a hundred calls. The client prints METHOD TARGET STATUS COUNT, sorted.
import collections
import socket
import struct

import peer

REQUEST, TWO_WAY, EVENT, HESSIAN2 = 0x80, 0x40, 0x20, 2
SERVICE = 'org.example.GreetingServiceOfAThirtyLetterName'


def text(s):
    b = s.encode()
    n = len(s)
    if n < 32:
        return bytes([n]) + b
    return bytes([0x30 + (n >> 8), n & 255]) + b if n < 1024 else b'S' + struct.pack('>H', n) + b


def number(n):
    return bytes([0x90 + n]) if -16 <= n < 48 else b'I' + struct.pack('>i', n)


def mapping(d):
    return b'H' + b''.join(text(k) + text(v) for k, v in d.items()) + b'Z'


def exception(name, message):
    return b'C' + text(name) + number(3) + text('code') + text('detailMessage') + text('cause') + b'\x60' + number(7) + text(message) + b'\x51\x90'


def frame(flags, status, number, body):
    return struct.pack('>HBBQI', 0xdabb, flags | HESSIAN2, status, number, len(body)) + body


def call(number, method, args, flags=REQUEST | TWO_WAY, service=SERVICE, types=None):
    types = 'Ljava/lang/String;' * len(args) if types is None else types
    head = text('2.0.2') + text(service) + text('1.0.0') + text(method) + text(types)
    return frame(flags, 0, number, head + b''.join(args) + mapping({'path': service, 'interface': service, 'version': '1.0.0'}))


def frames(sock):
    buf = b''
    while True:
        while len(buf) >= 16 and len(buf) >= 16 + struct.unpack('>I', buf[12:16])[0]:
            _, flags, status, number, size = struct.unpack('>HBBQI', buf[:16])
            body, buf = buf[16:16 + size], buf[16 + size:]
            yield flags, status, number, body, len(buf) > 16
        more = sock.recv(65536)
        if not more:
            return
        buf += more


def strings(b):
    """The first five of a call."""
    at, out = 0, []
    for _ in range(5):
        n = b[at]
        at += 1
        if n >= 0x30:
            n = (n - 0x30) << 8 | b[at]
            at += 1
        out.append(b[at:at + n].decode())
        at += n
    return out


def answer(number_, body):
    _, service, _, method, _ = strings(body)
    if service != SERVICE:
        return frame(0, 60, number_, text('Not found exported service: %s in "x"' % service))
    if method == 'fail':
        return frame(0, 20, number_, number(0) + exception('org.example.NoLuckException', 'no luck with "%d"' % number_))
    if method == 'find':
        return frame(0, 20, number_, number(5) + mapping({'dubbo': '2.0.2'}))
    return frame(0, 20, number_, number(1) + text('hello ' * (200 if number_ % 10 == 0 else 1)))


def serve(sock):
    answers, seen = [], 0
    for flags, status, n, body, more in frames(sock):
        if flags & TWO_WAY and flags & EVENT:
            answers.append(frame(EVENT, 20, n, b'N'))
        elif flags & TWO_WAY:
            answers.insert(0, answer(n, body))
            seen += 1
            if seen % 100 == 0:
                answers.append(frame(REQUEST | TWO_WAY | EVENT, 0, seen, b'N'))
                answers.append(call(seen + 1, 'changed', [text('key')], service='org.example.Listener'))
        if not more:
            sock.sendall(b''.join(answers))
            answers = []


sock, calls, depth = peer.begin(serve, timeout=10)
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
got = frames(sock)
made = collections.Counter()
backs = 0


def one(n):
    """A call's bytes, and how it is to end."""
    if n % 10 == 1:
        made['fail', SERVICE, 'EXCEPTION'] += 1
        return call(n, 'fail', [text('x')])
    if n % 10 == 2:
        made['find', SERVICE, 'OK'] += 1
        return call(n, 'find', [text('y' * 2000)])
    if n % 10 == 3:
        made['sayHello', 'org.example.noSuchService', 'SERVICE_NOT_FOUND'] += 1
        return call(n, 'sayHello', [text('x')], service='org.example.noSuchService')
    made['sayHello', SERVICE, 'OK'] += 1
    if n % 10 == 4:
        return call(n, '$invoke', [text('sayHello'), b'\x71\x07[string' + text('java.lang.String'), b'\x71\x07[object' + text('you')],
                    types='Ljava/lang/String;[Ljava/lang/String;[Ljava/lang/Object;')
    return call(n, 'sayHello', [text('you')])


for first in range(1, calls + 1, depth):
    wanted = set(range(first, min(first + depth, calls + 1)))
    out = b''
    for n in sorted(wanted):
        out += one(n)
        if n % 20 == 0:
            made['note', SERVICE, '-'] += 1
            out += call(1 << 40 | n, 'note', [text('x')], flags=REQUEST)
        if n % 50 == 0:
            made['heartbeat', '-', 'OK'] += 1
            wanted.add(1 << 41 | n)
            out += frame(REQUEST | TWO_WAY | EVENT, 0, 1 << 41 | n, b'N')
        if n % 4 == 0:
            sock.sendall(out)
            out = b''
    if out:
        sock.sendall(out)
    while wanted or backs < min(first + depth - 1, calls) // 100:
        flags, status, n, body, _ = next(got)
        if flags & REQUEST and flags & EVENT:
            made['heartbeat', '-', 'OK'] += 1
            sock.sendall(frame(EVENT, 20, n, b'N'))
        elif flags & REQUEST:
            backs += 1
            made['changed', 'org.example.Listener', 'OK'] += 1
            sock.sendall(frame(0, 20, n, number(2)))
        else:
            wanted.remove(n)
made['readonly', '-', '-'] += 1
sock.sendall(frame(REQUEST | EVENT, 0, 1 << 42, text('R')))
for (method, target, status), n in sorted(made.items()):
    print(method, target, status, n)
