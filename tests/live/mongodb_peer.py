# mongodb_peer.py server PORT | client PORT CALLS WAY: a server that answers as mongod 4.4 does to what is asked here (from the public
# specification), and pymongo as its client. WAY: plain, zlib, snappy or zstd (compressed), unacked (writes that are not answered),
# exhaust (streams of batches), auth (PLAIN, and a user made with a password). The client prints its calls, a line a kind: METHOD TARGET
# STATUS COUNT, sorted.
import collections
import socket
import struct
import sys
import threading
import time
import zlib

import bson

MSG, QUERY, REPLY, COMPRESSED = 2013, 2004, 1, 2012
HELLO = ('isMaster', 'ismaster', 'hello')
ids = iter(range(1 << 30, 1 << 31))


def pack(compressor, op, response_to, body):
    if compressor is not None:
        body = struct.pack('<iiB', op, len(body), compressor) + squeeze(compressor, body)
        op = COMPRESSED
    me = next(ids)
    return me, struct.pack('<iiii', 16 + len(body), me, response_to, op) + body


def squeeze(compressor, body):
    if compressor == 1:
        import snappy
        return snappy.compress(body)
    if compressor == 3:
        import zstandard
        return zstandard.ZstdCompressor().compress(body)
    return zlib.compress(body)


def expand(compressor, body):
    if compressor == 1:
        import snappy
        return snappy.uncompress(body)
    if compressor == 3:
        import zstandard
        return zstandard.ZstdDecompressor().decompress(body, 1 << 24)
    return zlib.decompress(body)


def take(sock, n):
    out = b''
    while len(out) < n:
        more = sock.recv(n - len(out))
        if not more:
            raise EOFError
        out += more
    return out


def hello(compression):
    return {'topologyVersion': {'processId': bson.ObjectId('0' * 24), 'counter': bson.int64.Int64(0)}, 'helloOk': True, 'ismaster': True, 'maxBsonObjectSize': 1 << 24, 'maxMessageSizeBytes': 48000000, 'maxWriteBatchSize': 100000,
            'localTime': bson.datetime.datetime(2024, 1, 1), 'logicalSessionTimeoutMinutes': 30, 'connectionId': 7, 'minWireVersion': 0,
            'maxWireVersion': 9, 'readOnly': False, **({'compression': compression} if compression else {}), 'ok': 1.0}


def failure(code, name, text):
    return {'ok': 0.0, 'errmsg': text, 'code': code, 'codeName': name}


def cursor_of(ns, first, cid, which):
    rows = [{'_id': i, 'text': 'row %d ' % i + 'x' * 60} for i in range(first, first + 5)]
    return {'cursor': {which: rows, 'id': bson.int64.Int64(cid), 'ns': ns}, 'ok': 1.0}


class Session:
    def __init__(self, sock):
        self.sock = sock
        self.batches = {}

    def send(self, compressor, op, response_to, body):
        me, data = pack(compressor, op, response_to, body)
        self.sock.sendall(data)
        return me

    def answer(self, doc):
        name = next(iter(doc))
        ns = '%s.%s' % (doc.get('$db'), doc[name])
        if name in HELLO:
            return hello(doc.get('compression'))
        if name == 'find':
            if 'fail' in doc.get('filter', {}):
                return failure(2, 'BadValue', 'unknown operator: $fail of "%s"' % ns)
            cid = 0 if doc.get('limit') or doc.get('singleBatch') else 77
            self.batches[cid] = 4
            return cursor_of(ns, 0, cid, 'firstBatch')
        if name == 'getMore':
            cid = doc[name]
            self.batches[cid] -= 1
            return cursor_of('%s.%s' % (doc['$db'], doc['collection']), 5, cid if self.batches[cid] else 0, 'nextBatch')
        if name == 'insert':
            if doc['documents'][0].get('_id') == 'twice':
                return {'n': 0, 'writeErrors': [{'index': 0, 'code': 11000, 'keyPattern': {'_id': 1}, 'keyValue': {'_id': 'twice'},
                                                 'errmsg': 'E11000 duplicate key error'}], 'ok': 1.0}
            return {'n': len(doc['documents']), 'ok': 1.0}
        if name == 'update':
            return {'n': 1, 'nModified': 1, 'ok': 1.0}
        if name == 'delete':
            return {'n': 1, 'ok': 1.0}
        if name == 'aggregate':
            return cursor_of(ns, 0, 0, 'firstBatch')
        if name == 'saslStart':
            return {'conversationId': 1, 'done': True, 'payload': b'', 'ok': 1.0}
        if name in ('ping', 'createUser', 'endSessions', 'killCursors'):
            return {'ok': 1.0}
        return failure(59, 'CommandNotFound', "no such command: '%s'" % name)

    def msg(self, compressor, request, body):
        flags, at = struct.unpack('<I', body[:4])[0], 4
        end = len(body) - 4 * (flags & 1)
        doc, sequences = None, {}
        while at < end:
            kind, size = body[at], struct.unpack('<i', body[at + 1:at + 5])[0]
            if kind == 0:
                doc = bson.decode(body[at + 1:at + 1 + size])
            else:
                name, _, docs = body[at + 5:at + 1 + size].partition(b'\0')
                sequences[name.decode()] = bson.decode_all(docs)
            at += 1 + size
        doc.update(sequences)
        name = next(iter(doc))
        answer = self.answer(doc)
        if flags & 2:
            return
        # A stream: each response answers the one before, and the client asks no more.
        while True:
            more = flags & 1 << 16 and (name in HELLO or answer.get('cursor', {}).get('id'))
            request = self.send(compressor, MSG, request, struct.pack('<IB', 2 if more else 0, 0) + bson.encode(answer))
            if not more:
                return
            if name in HELLO:
                time.sleep(0.1)
            answer = self.answer(doc)

    def stream(self, request):
        # An old query's exhaust: each reply answers the one before, until no cursor is left.
        for n in range(5):
            rows = b''.join(bson.encode({'_id': 5 * n + i, 'text': 'row'}) for i in range(5))
            request = self.send(None, REPLY, request, struct.pack('<iqii', 8, 77 if n < 4 else 0, 5 * n, 5) + rows)

    def serve(self):
        while True:
            size, request, _, op = struct.unpack('<iiii', take(self.sock, 16))
            body, compressor = take(self.sock, size - 16), None
            if op == COMPRESSED:
                op, _, compressor = struct.unpack('<iiB', body[:9])
                body = expand(compressor, body[9:])
            if op == MSG:
                self.msg(compressor, request, body)
            elif op == QUERY:
                space, _, rest = body[4:].partition(b'\0')
                if not space.endswith(b'.$cmd'):
                    self.stream(request)
                    continue
                answer = self.answer(bson.decode(rest[8:]))
                self.send(compressor, REPLY, request, struct.pack('<iqii', 8, 0, 0, 1) + bson.encode(answer))
            else:
                raise ValueError(op)

    def run(self):
        try:
            self.serve()
        except (EOFError, ConnectionError):
            self.sock.close()


def serve(port):
    listener = socket.create_server(('127.0.0.1', port))
    while True:
        threading.Thread(target=Session(listener.accept()[0]).run, daemon=True).start()


# ---- the client

made = collections.Counter()


def listen(way):
    """What the driver itself says it sends. It makes answers up for what is not answered, and a getMore for each part of a stream."""
    import pymongo.monitoring

    class Listener(pymongo.monitoring.CommandListener):
        def started(self, e):
            name, db = e.command_name, e.database_name
            target = e.command.get('collection') if name == 'getMore' else e.command.get(name)
            self.target = '%s.%s' % (db, target) if isinstance(target, str) and name != 'createUser' else db

        def succeeded(self, e):
            errors = e.reply.get('writeErrors')
            name = 'find' if way == 'exhaust' and e.command_name == 'getMore' else e.command_name
            status = '-' if way == 'unacked' and name in ('insert', 'update', 'delete') else 'DuplicateKey' if errors else 'OK'
            made[name, self.target, status] += 1

        def failed(self, e):
            made[e.command_name, self.target, e.failure['codeName']] += 1
    pymongo.monitoring.register(Listener())


def client(port, calls, way):
    import pymongo
    import pymongo.errors
    extra = {'compressors': way} if way in ('zlib', 'snappy', 'zstd') else {}
    if way == 'auth':
        extra = {'username': 'ann', 'password': 'pl41n-s3cret', 'authMechanism': 'PLAIN', 'authSource': '$external'}
    listen(way)
    c = pymongo.MongoClient('127.0.0.1', port, **extra)
    books = c.shop.books
    if way == 'unacked':
        books = books.with_options(write_concern=pymongo.WriteConcern(w=0))
    for i in range(calls):
        books.insert_one({'_id': i, 'title': 'book %d' % i, 'filler': 'y' * (2000 if i % 10 == 0 else 20)})
        if i % 2 == 0:
            books.update_one({'_id': i}, {'$set': {'n': 1}})
        if i % 5 == 0:
            books.delete_one({'_id': i})
        if i % 4 == 0:
            c.shop.books.find_one({'_id': i})
        if way == 'unacked':
            continue
        if i % 10 == 0:
            for query in ({'$fail': 1}, {'fail': 1}):
                try:
                    books.find_one(query)
                except pymongo.errors.OperationFailure:
                    pass
            try:
                books.insert_one({'_id': 'twice'})
            except pymongo.errors.DuplicateKeyError:
                pass
            list(books.aggregate([{'$match': {'a': 1}}]))
            try:
                c.shop.command('noSuchThing')
            except pymongo.errors.OperationFailure:
                pass
            kind = pymongo.CursorType.EXHAUST if way == 'exhaust' else pymongo.CursorType.NON_TAILABLE
            list(books.find({}, cursor_type=kind))
    c.admin.command('ping')
    if way == 'auth':
        c.admin.command('createUser', 'bob', pwd='b0b-s3cret', roles=[])
    c.close()
    for (name, target, status), n in sorted(made.items()):
        print(name, target, status, n)


if sys.argv[1] == 'server':
    serve(int(sys.argv[2]))
client(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
