# A gRPC server and its client, of bytes without a schema: grpc_peer.py server PORT [KEY CERT] | client PORT CALLS [CERT] | load PORT CALLS SIZE [CERT]
# The client makes CALLS calls of each kind: unary (Get), refused (Missing), client stream of 3 (Put), server
# stream of 4 (List), two-way of 5 (Talk), unknown method (Nothing). A load is CALLS at once, each answered with SIZE bytes (Load).
import sys
from concurrent import futures

import grpc


def missing(request, context):
    context.abort(grpc.StatusCode.NOT_FOUND, "no such thing")


def several(request, context):
    for i in range(4):
        yield b"item %d" % i


def handlers():
    return grpc.method_handlers_generic_handler("test.Things", {
        "Get": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
        "Missing": grpc.unary_unary_rpc_method_handler(missing),
        "Put": grpc.stream_unary_rpc_method_handler(lambda requests, context: b"%d" % sum(1 for _ in requests)),
        "Load": grpc.unary_unary_rpc_method_handler(lambda request, context: b"x" * int(request)),
        "List": grpc.unary_stream_rpc_method_handler(several),
        "Talk": grpc.stream_stream_rpc_method_handler(lambda requests, context: (r for r in requests)),
    })


def read(path):
    with open(path, "rb") as f:
        return f.read()


def serve(port, key=None, cert=None):
    server = grpc.server(futures.ThreadPoolExecutor(8), options=[("grpc.so_reuseport", 0)])
    server.add_generic_rpc_handlers((handlers(),))
    at = "127.0.0.1:%d" % port
    if not (server.add_secure_port(at, grpc.ssl_server_credentials([(read(key), read(cert))])) if key else server.add_insecure_port(at)):
        sys.exit("cannot bind")
    server.start()
    print("ready", flush=True)
    server.wait_for_termination()


def code(call, *args):
    try:
        call(*args)
        return "OK"
    except grpc.RpcError as e:
        return e.code().name


def channel(port, cert):
    options = [("grpc.max_receive_message_length", -1)]
    if not cert:
        return grpc.insecure_channel("127.0.0.1:%d" % port, options)
    return grpc.secure_channel("localhost:%d" % port, grpc.ssl_channel_credentials(read(cert)), options)


def client(port, calls, cert=None):
    counts = {}
    with channel(port, cert) as c:
        grpc.channel_ready_future(c).result(timeout=20)
        get, lost, none = (c.unary_unary("/test.Things/" + m) for m in ("Get", "Missing", "Nothing"))
        put = c.stream_unary("/test.Things/Put")
        items = c.unary_stream("/test.Things/List")
        talk = c.stream_stream("/test.Things/Talk")
        kinds = {
            "Get": lambda: get(b"x"),
            "Missing": lambda: lost(b"x"),
            "Nothing": lambda: none(b"x"),
            "Put": lambda: put(iter([b"a", b"b", b"c"])),
            "List": lambda: list(items(b"x")),
            "Talk": lambda: list(talk(iter([b"1", b"2", b"3", b"4", b"5"]))),
        }
        for name, call in kinds.items():
            for _ in range(calls):
                status = code(call)
                counts[name, status] = counts.get((name, status), 0) + 1
    for (name, status), n in sorted(counts.items()):
        print("%s,%s,%d" % (name, status, n))


def load(port, calls, size, cert=None):
    with channel(port, cert) as c:
        ask = c.unary_unary("/test.Things/Load")
        print(sum(len(f.result()) for f in [ask.future(b"%d" % size) for _ in range(calls)]))


if sys.argv[1] == "server":
    serve(int(sys.argv[2]), *sys.argv[3:])
elif sys.argv[1] == "load":
    load(int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), *sys.argv[5:])
else:
    client(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
