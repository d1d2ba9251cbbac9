# peer.py: what the peers share that are called server PORT | client PORT CALLS DEPTH.
import socket
import sys
import threading


def begin(serve, timeout=None):
    """The client's connection, CALLS and DEPTH; the server stays in here, with a thread that serves each connection."""
    port = int(sys.argv[2])
    if sys.argv[1] == 'server':
        listener = socket.create_server(('127.0.0.1', port))
        while True:
            threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    return socket.create_connection(('127.0.0.1', port), timeout), int(sys.argv[3]), int(sys.argv[4])
