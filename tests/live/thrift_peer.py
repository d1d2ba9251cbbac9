# thrift_peer.py server|client TRANSPORT PROTOCOL PORT [CALLS]: a Thrift service of thrift_peer.thrift (generated code on PYTHONPATH).
# The client makes CALLS gets, half as many puts of which every fifth is refused, a tenth notes (one-way), 3 calls that fail, 5 of 20 KB.
import socket
import sys

from thrift import Thrift
from thrift.protocol import TBinaryProtocol, TCompactProtocol, THeaderProtocol
from thrift.server import TServer
from thrift.transport import TSocket, TTransport

from store import Store
from store.ttypes import Item, Refused


class Handler:
    def get(self, id, like):
        return Item(id=id, name='item', counts=[{'a': 1, 'b': 2}], ok=True, weight=0.5, kinds={1, 2})

    def put(self, item):
        if not item.ok:
            raise Refused(why='not "ok"', code=7)

    def big(self, size):
        return 'x' * size

    def fails(self):
        raise RuntimeError('broken')

    def note(self, text):
        pass


class Old(TBinaryProtocol.TBinaryProtocol):
    """Without a version; Debian's library forgets to decode such a name."""

    def __init__(self, trans):
        super().__init__(trans, strictRead=False, strictWrite=False)

    def readMessageBegin(self):
        name, kind, seqid = super().readMessageBegin()
        return name.decode() if isinstance(name, bytes) else name, kind, seqid


class OldFactory:
    def getProtocol(self, trans):
        return Old(trans)


role, transport, protocol, port = sys.argv[1:4] + [int(sys.argv[4])]
protocols = {'binary': TBinaryProtocol.TBinaryProtocolFactory, 'old': OldFactory,
             'compact': TCompactProtocol.TCompactProtocolFactory, 'header': THeaderProtocol.THeaderProtocolFactory}
transports = {'framed': TTransport.TFramedTransportFactory, 'buffered': TTransport.TBufferedTransportFactory,
              'header': TTransport.TTransportFactoryBase}
if role == 'server':
    sock = TSocket.TServerSocket('127.0.0.1', port)
    TServer.TThreadedServer(Store.Processor(Handler()), sock, transports[transport](), protocols[protocol](), daemon=True).serve()

n = int(sys.argv[5])
sock = TSocket.TSocket('127.0.0.1', port)
trans = transports[transport]().getTransport(sock)
trans.open()
client = Store.Client(protocols[protocol]().getProtocol(trans))
sock.handle.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
item = Item(id=1, name='n', counts=[{'k': 300}, {}], ok=True, weight=1.5, kinds={3})
for i in range(n):
    assert client.get(i, item).id == i
    if i % 2 == 0:
        item.ok = i % 10 != 0
        try:
            client.put(item)
            assert item.ok
        except Refused as e:
            assert e.code == 7
    if i % 10 == 0:
        client.note('hello %d' % i)
for i in range(3):
    try:
        client.fails()
        assert False
    except Thrift.TApplicationException:
        pass
for i in range(5):
    assert len(client.big(20000)) == 20000
trans.close()
