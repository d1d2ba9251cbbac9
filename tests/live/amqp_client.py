# amqp_client.py PORT N: N messages and more through a RabbitMQ server. Prints what was called and received, one line a kind:
# method,status,is_error,count,paired; then the bytes of all messages published.
import collections
import sys

import pika

port, n = int(sys.argv[1]), int(sys.argv[2])
count = collections.Counter()
published = 0


def did(method, status="", error=0, paired=1, times=1):
    count[method, status, error, paired] += times


def oneway(method, times=1, status="", error=0):
    did(method, status, error, 0, times)


def connect(password="guest"):
    did("connection.start", "OK")
    c = pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port, credentials=pika.PlainCredentials("guest", password), heartbeat=60))
    did("connection.tune", "OK")
    did("connection.open", "OK")
    return c


def channel(c):
    did("channel.open", "OK")
    return c.channel()


def publish(ch, exchange, key, body, **kw):
    global published
    ch.basic_publish(exchange, key, body, **kw)
    published += len(body)
    oneway("basic.publish")


c = connect()
ch = channel(c)
other = connect()
watcher = channel(other)
ch.exchange_declare("logs", "topic"), did("exchange.declare", "OK")
for q in ("orders", "big"):
    ch.queue_declare(q), did("queue.declare", "OK")
ch.queue_bind("orders", "logs", "order.*.created"), did("queue.bind", "OK")

# Polled: many small ones, of which one is larger than a frame. One at a time: of what the server reads at once 512 bytes are kept with
# --payload head, and a slow one reads all that has come.
for i in range(n):
    publish(ch, "logs", "order.%d.created" % i, b"x" * (i % 300), properties=pika.BasicProperties(content_type="text/plain"))
    ch.queue_declare("orders", passive=True), did("queue.declare", "OK")
publish(ch, "", "big", b"y" * 50_000_000)
# What the server reads together with the end of a large body is not kept with --payload head: it must have read all of that first.
ready = False
while not ready:
    ready = watcher.queue_declare("big", passive=True).method.message_count == 1
    did("queue.declare", "OK")
    other.sleep(0.01)
other.close()
did("channel.close", "200")
did("connection.close", "200")
polled = 0
while polled < n:
    m, _, _ = ch.basic_get("orders")
    did("basic.get", "OK" if m else "EMPTY")
    if m:
        ch.basic_ack(m.delivery_tag)
        oneway("basic.ack")
        polled += 1
m, _, body = ch.basic_get("big", auto_ack=True)
while m is None:
    did("basic.get", "EMPTY")
    m, _, body = ch.basic_get("big", auto_ack=True)
did("basic.get", "OK")
assert len(body) == 50_000_000
for _ in range(5):
    assert ch.basic_get("orders")[0] is None
    did("basic.get", "EMPTY")

# With confirms, one by one; two that cannot be routed come back.
ch.confirm_delivery(), did("confirm.select", "OK")
for i in range(n):
    publish(ch, "", "orders", b"confirmed %d" % i)
    oneway("basic.ack")
for _ in range(2):
    try:
        publish(ch, "", "nowhere", b"back", mandatory=True)
        raise SystemExit("not returned?")
    except pika.exceptions.UnroutableError:
        published += 4
        oneway("basic.publish")
        oneway("basic.return", status="312", error=1)
        oneway("basic.ack")

# Delivered.
ch.basic_qos(prefetch_count=20), did("basic.qos", "OK")
got = 0
did("basic.consume", "OK")
for m, _, _ in ch.consume("orders"):
    oneway("basic.deliver")
    got += 1
    if got % 100 == 0:
        ch.basic_nack(m.delivery_tag, requeue=False)
        oneway("basic.nack")
    else:
        ch.basic_ack(m.delivery_tag)
        oneway("basic.ack")
    if got == n:
        break
ch.cancel(), did("basic.cancel", "OK")

# Errors close their channel.
for i in range(3):
    x = channel(c)
    try:
        x.queue_declare("missing", passive=True)
        raise SystemExit("no error?")
    except pika.exceptions.ChannelClosedByBroker as e:
        assert e.reply_code == 404
        did("queue.declare", "404", 1)
        did("channel.close", "404", 1)
x = channel(c)
x.tx_select(), did("tx.select", "OK")
publish(x, "", "orders", b"tx")
x.tx_commit(), did("tx.commit", "OK")
publish(x, "", "orders", b"back")
x.tx_rollback(), did("tx.rollback", "OK")
x.queue_purge("orders"), did("queue.purge", "OK")
for q in ("orders", "big"):
    x.queue_delete(q), did("queue.delete", "OK")
x.exchange_delete("logs"), did("exchange.delete", "OK")
c.close()
did("channel.close", "200", 0, 1, 2)
did("connection.close", "200")

try:
    connect("s3cret-and-wrong")
    raise SystemExit("let in?")
except pika.exceptions.ProbableAuthenticationError:
    did("connection.close", "403", 1, 0)

for (method, status, error, paired), times in count.items():
    print("%s,%s,%d,%d,%d" % (method, status, error, times, paired * times))
print("bytes,%d" % published)
