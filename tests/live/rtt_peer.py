# A connection through a network of its own whose delay and loss change: three phases, each some seconds long.
#   rtt_peer.py TRUTH     prints its pid, begins with a line on stdin, and writes to TRUTH, a line each:
#   PHASE ROUND_TRIP_US BEGIN_NS END_NS RETRANSMITS OF_SS RTT_US OF_SS RTT[,RTT...]   at its end by TCP_INFO and ss; RTT_US after each call
# Client and server have a network namespace each, joined by two TUN devices and this process, which passes packets on: netem is a
# module that not every kernel has.
import ctypes, fcntl, heapq, os, re, select, signal, socket, struct, subprocess, sys, time

libc = ctypes.CDLL(None, use_errno=True)
SECONDS = 4
PHASES = (("near", 5, 0), ("far", 15, 0), ("lossy", 15, 8)) # name, milliseconds each way, one full packet in so many is dropped


def own_network(address):
    if libc.unshare(0x40000000): # CLONE_NEWNET
        raise OSError(ctypes.get_errno(), "unshare")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"tun0", 0x1001)) # TUNSETIFF: IFF_TUN | IFF_NO_PI
    for words in ("address add %s/24 dev tun0" % address, "link set tun0 up"):
        subprocess.run(["ip"] + words.split(), check=True)
    return tun


def die_with_parent():
    libc.prctl(1, signal.SIGKILL) # PR_SET_PDEATHSIG


def serve():
    die_with_parent()
    listener = socket.create_server(("10.95.0.2", 8000))
    connection = listener.accept()[0]
    while got := connection.recv(1 << 16):
        if got.endswith(b"?"):
            connection.sendall(b"!")


def info(connection):
    i = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 192)
    return struct.unpack_from("I", i, 100)[0], struct.unpack_from("I", i, 68)[0] # total_retrans, rtt


def ask(truth, control):
    die_with_parent()
    sys.stdin.readline()
    connection = socket.create_connection(("10.95.0.2", 8000))
    for name, delay, one_in in PHASES:
        control.sendall(b"%d %d\n" % (delay, one_in))
        control.recv(1)
        begin, before, calls, seen = time.time_ns(), info(connection)[0], 0, set()
        while time.time_ns() < begin + SECONDS * 10**9 or calls < 40 or (one_in and info(connection)[0] < before + 5):
            calls += 1
            connection.sendall((b"x" * 20000 if one_in else b"") + b"?")
            seen.add(info(connection)[1])
            connection.recv(1)
            seen.add(info(connection)[1])
        text = subprocess.run(["ss", "-tin", "dport", "=", ":8000"], capture_output=True, text=True).stdout
        of_ss = re.search(r" retrans:\d+/(\d+)", text), re.search(r" rtt:([\d.]+)/", text)
        retransmits, rtt = info(connection)
        print(name, 2000 * delay, begin, time.time_ns(), retransmits, of_ss[0].group(1) if of_ss[0] else 0,
              rtt, round(float(of_ss[1].group(1)) * 1000), ",".join(map(str, sorted(seen))), file=truth, flush=True)
    connection.close()


def relay(tuns, control):
    delay = one_in = counted = number = 0
    queue = []
    while True:
        wait = max(0, queue[0][0] - time.monotonic()) if queue else None
        ready = select.select([*tuns, control], [], [], wait)[0]
        if control in ready:
            command = control.recv(100).split()
            if not command:
                return
            delay, one_in = int(command[0]) / 1000, int(command[1])
            control.sendall(b".")
        for tun in tuns:
            if tun not in ready:
                continue
            packet = os.read(tun, 1 << 16)
            counted += len(packet) > 1000
            if one_in and len(packet) > 1000 and counted % one_in == 0:
                continue
            number += 1
            heapq.heappush(queue, (time.monotonic() + delay, number, tuns[tun == tuns[0]], packet))
        while queue and queue[0][0] <= time.monotonic():
            _, _, tun, packet = heapq.heappop(queue)
            os.write(tun, packet)


truth = open(sys.argv[1], "w")
ours, clients = socket.socketpair()
a = own_network("10.95.0.1")
client = os.fork()
if not client:
    ours.close(); os.close(a)
    ask(truth, clients)
    os._exit(0)
clients.close()
b = own_network("10.95.0.2")
server = os.fork()
if not server:
    serve()
    os._exit(0)
print(client, flush=True)
relay((a, b), ours)
status = os.waitpid(client, 0)[1]
os.kill(server, signal.SIGKILL) # the end of the connection may not have come through
os.waitpid(server, 0)
sys.exit(status != 0)
