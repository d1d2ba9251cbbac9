#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""delaynet.py MILLISECONDS NETNS/ADDRESS NETNS/ADDRESS: a network between two namespaces that takes so long each way.

Each namespace gets a TUN device; packets are carried from one to the other here, so that both ends see the same
addresses and TCP sequence numbers, as on a real network, where the kernel has no netem. Prints a line when it is up."""
import collections
import ctypes
import fcntl
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF, TUN_NO_PI, CLONE_NEWNET = 0x400454CA, 0x1001, 0x40000000
delay = float(sys.argv[1]) / 1000
libc = ctypes.CDLL(None, use_errno=True)


def device(end):
    netns, address = end.split("/")
    ns = os.open("/run/netns/" + netns, os.O_RDONLY)
    if libc.setns(ns, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns " + netns)
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"far0", TUN_NO_PI))
    for command in ("link set lo up", "addr add %s/24 dev far0" % address, "link set far0 up"):
        subprocess.run(["ip", *command.split()], check=True)
    return tun


tuns = [device(end) for end in sys.argv[2:4]]
print("up", flush=True)
queue = collections.deque()  # when due, where to, packet; the delay is the same for all, so the order is that of time
while True:
    wait = max(0, queue[0][0] - time.monotonic()) if queue else None
    for tun in select.select(tuns, [], [], wait)[0]:
        try:
            packet = os.read(tun, 65536)
        except BlockingIOError:
            continue
        queue.append((time.monotonic() + delay, tuns[1 - tuns.index(tun)], packet))
    while queue and queue[0][0] <= time.monotonic():
        _, to, packet = queue.popleft()
        try:
            os.write(to, packet)
        except OSError:
            pass  # as a network does
