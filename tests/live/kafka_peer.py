# kafka_peer.py server|client PORT [CALLS DEPTH]: Kafka by the protocol's guide (Fetch 4, Metadata 1). The client asks for records of 50 MB
# in every eighth call, and prints the number of calls and the bytes of their answers by API and topic. Behind the first call DEPTH are under way
# at a time.
import random
import socket
import struct
import sys

BULK, SMALL, FETCH, METADATA = 50_000_000, 3000, 1, 3
role, port = sys.argv[1], int(sys.argv[2])


def text(s):
    return struct.pack('>h', len(s)) + s


def frame(body):
    return struct.pack('>i', len(body)) + body


def take(f):
    head = f.read(4)
    return f.read(struct.unpack('>i', head)[0]) if len(head) == 4 else b''


def records(topic, n):
    return struct.pack('>ii', 0, 1) + text(topic) + struct.pack('>iihqqi', 1, 0, 0, 1, 1, -1) + struct.pack('>i', n) + (random.Random(1).randbytes(1 << 16) * (n // (1 << 16) + 1))[:n]


def serve(f):
    while request := take(f):
        key, version, id, sz = struct.unpack_from('>hhih', request)
        body = request[10 + sz:]
        if key == FETCH:
            topic = body[23:23 + struct.unpack_from('>h', body, 21)[0]]
            answer = records(topic, BULK if topic == b'bulk' else SMALL)
        else:
            answer = bytes(16)
        f.write(frame(struct.pack('>i', id) + answer))
        f.flush()


def ask(i):
    kind = 'bulk' if i % 8 == 3 else 'small' if i % 2 else 'meta'
    if kind == 'meta':
        return kind, struct.pack('>hhi', METADATA, 1, i) + text(b'me') + struct.pack('>i', 0)
    partitions = struct.pack('>iiqi', 1, 0, 0, 1 << 30)
    return kind, struct.pack('>hhi', FETCH, 4, i) + text(b'me') + struct.pack('>iiiibi', -1, 100, 1, 1 << 30, 0, 1) + text(kind.encode()) + partitions


if role == 'server':
    listener = socket.create_server(('127.0.0.1', port))
    while True:
        with listener.accept()[0] as s, s.makefile('rwb') as f:
            serve(f)

calls, depth = int(sys.argv[3]), int(sys.argv[4])
count, size = {}, {}
with socket.create_connection(('127.0.0.1', port)) as s, s.makefile('rwb') as f:
    starts = [0, *range(1, calls, depth), calls]  # the first is alone, as clients do
    for first, end in zip(starts, starts[1:]):
        asked = [ask(i) for i in range(first, end)]
        f.write(b''.join(frame(q) for _, q in asked))
        f.flush()
        for kind, _ in asked:
            count[kind] = count.get(kind, 0) + 1
            size[kind] = size.get(kind, 0) + 4 + len(take(f))
for kind in sorted(count):
    print(f"{'Metadata' if kind == 'meta' else 'Fetch'},{'' if kind == 'meta' else kind},{count[kind]},{count[kind]},{size[kind]}")
