#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""link_captures.py DIR: packet captures, one a cause, with bytes from the specifications of their formats.

Each holds an HTTP exchange of 10.1.0.1:40000 with 10.1.0.2:80, GET /CAUSE, unless its row says otherwise. To add one: a row in
the tables below, and in tests/cli/link_captures.tshark, if tshark finds other than one request and one response.
"""
import gzip
import lzma
import os
import struct
import sys

MAC = bytes.fromhex("020000000002020000000001")
LLC_SNAP = b"\xaa\xaa\x03\0\0\0"
SYN, ACK, FIN, RST, PSH = 2, 16, 1, 4, 8
be16, be32 = struct.Struct(">H").pack, struct.Struct(">I").pack
le16, le32 = struct.Struct("<H").pack, struct.Struct("<I").pack
next_id = 0


# ---- IP, TCP, UDP ----

def number():
    global next_id
    next_id += 1
    return next_id


def checksum(b):
    b += b"\0" * (len(b) % 2)
    s = sum(struct.unpack(f">{len(b) // 2}H", b))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def address(text):
    return bytes(map(int, text.split("."))) if "." in text else bytes.fromhex(text)


def ipv4(src, dst, proto, body, id=None, place=0, ttl=64):
    h = bytearray(struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number() if id is None else id, place, ttl, proto, 0)
                  + address(src) + address(dst))
    h[10:12] = be16(checksum(bytes(h)))
    return bytes(h) + body


def ipv6(src, dst, proto, body, ttl=64):
    return struct.pack(">IHBB", 6 << 28, len(body), proto, ttl) + address(src) + address(dst) + body


def with_sum(src, dst, proto, segment, at):
    s = checksum(address(src) + address(dst) + struct.pack(">II", len(segment), proto) + segment)
    return segment[:at] + be16(s or 0xffff) + segment[at + 2:]


A, B = "10.1.0.1", "10.1.0.2"
A6, B6 = "fd" + "00" * 14 + "01", "fd" + "00" * 14 + "02"


def ip_of(src, dst, proto, body, **more):
    return (ipv4 if "." in src else ipv6)(src, dst, proto, body, **more)


def tcp(src, dst, sport, dport, flags, seq, ack, text=b"", **more):
    segment = struct.pack(">HHIIBBHHH", sport, dport, seq, ack, 0x50, flags, 8192, 0, 0) + text
    return ip_of(src, dst, 6, with_sum(src, dst, 6, segment, 16), **more)


def udp(src, dst, sport, dport, text, **more):
    return ip_of(src, dst, 17, datagram(src, dst, sport, dport, text), **more)


def datagram(src, dst, sport, dport, text):
    return with_sum(src, dst, 17, struct.pack(">HHHH", sport, dport, 8 + len(text), 0) + text, 6)


def get(path):
    return f"GET /{path} HTTP/1.1\r\nHost: h\r\n\r\n".encode()


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Conversation:
    """Packets of one TCP connection: c() from the client, s() from the server, numbered as they follow."""

    def __init__(self, client=A, server=B, cport=40000, sport=80, cseq=1000, sseq=5000):
        self.ends, self.ports = (client, server), (cport, sport)
        self.seq, self.packets = [cseq, sseq], []

    def put(self, side, flags, text=b"", seq=None, ack=None, **more):
        mine = self.seq[side] if seq is None else seq
        self.packets.append(tcp(self.ends[side], self.ends[1 - side], self.ports[side], self.ports[1 - side], flags, mine,
                                self.seq[1 - side] * bool(flags & ACK) if ack is None else ack, text, **more))
        if seq is None:
            self.seq[side] += len(text) + bool(flags & (SYN | FIN))
        return self

    def c(self, flags, text=b"", **more):
        return self.put(0, flags, text, **more)

    def s(self, flags, text=b"", **more):
        return self.put(1, flags, text, **more)

    def open(self):
        return self.c(SYN).s(SYN | ACK).c(ACK)

    def ask(self, path):
        return self.c(PSH | ACK, get(path)).s(PSH | ACK, OK)

    def close(self):
        return self.c(FIN | ACK).s(FIN | ACK).c(ACK)


def exchange(path, **ends):
    return Conversation(**ends).open().ask(path).close().packets


def dns(id, name, answer=False):
    q = b"".join(bytes([len(p)]) + p.encode() for p in name.split(".")) + b"\0\0\1\0\1"
    head = struct.pack(">HHHHHH", id, 0x8180 if answer else 0x0100, 1, int(answer), 0, 0)
    return head + q + (b"\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\x0a\1\2\3" if answer else b"")


# ---- files ----

def pcap(link, frames, order="<", magic=0xa1b2c3d4, snap=262144):
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link)]
    for i, f in enumerate(frames):
        out.append(struct.pack(order + "IIII", 1000000000 + i // 100, i % 100 * 1000, min(len(f), snap), len(f)) + f[:snap])
    return b"".join(out)


def block(type, body, order="<"):
    body += b"\0" * (-len(body) % 4)
    return struct.pack(order + "II", type, 12 + len(body)) + body + struct.pack(order + "I", 12 + len(body))


def section(order="<"):
    return block(0x0a0d0d0a, struct.pack(order + "IHHq", 0x1a2b3c4d, 1, 0, -1), order)


def interface(link, snap=262144, order="<"):
    return block(1, struct.pack(order + "HHI", link, 0, snap), order)


def enhanced(n, frame, i, order="<"):
    us = 1000000000000000 + i * 1000
    return block(6, struct.pack(order + "IIIII", n, us >> 32, us & 0xffffffff, len(frame), len(frame)) + frame, order)


def zstd(b):
    """RFC 8878: blocks that are not compressed."""
    out = b"\x28\xb5\x2f\xfd\x00\x58"
    for at in range(0, len(b), 1 << 16):
        part = b[at:at + (1 << 16)]
        out += struct.pack("<I", (at + len(part) == len(b)) | len(part) << 3)[:3] + part
    return out


# ---- headers around a packet ----

def ethertype(p):
    return 0x0800 if p[0] >> 4 == 4 else 0x86dd


def ethernet(p, type=None):
    return MAC + be16(ethertype(p) if type is None else type) + p


def wifi(p, control=b"\x08\x01", more=b""):
    return control + b"\0\0" + MAC + MAC[:6] + b"\x10\0" + more + LLC_SNAP + be16(ethertype(p)) + p


def radiotap(p):
    # present: TSFT, flags; a second word; flags: data is padded to 4, with frame check
    qos = b"\x88\x01\0\0" + MAC + MAC[:6] + b"\x20\0" + b"\0\0" + b"\0\0" + LLC_SNAP + be16(ethertype(p)) + p + b"FCS!"
    head = le32(0x80000003) + le32(0) + b"\0" * 4 + b"\0" * 8 + b"\x30"
    return b"\0\0" + le16(4 + len(head)) + head + qos


def nflog(p, order):
    def tlv(type, v):
        return struct.pack(order + "HH", 4 + len(v), type) + v + b"\0" * (-len(v) % 4)
    return b"\2\0\0\1" + tlv(1, be16(0x0800) + b"\0\0") + tlv(10, b"prefix\0") + tlv(9, p)


def outer(proto, body, back=False):
    return ethernet(ipv4(*(("192.0.2.2", "192.0.2.1") if back else ("192.0.2.1", "192.0.2.2")), proto, body))


def is_back(p):
    """From the server."""
    return p[12:16] in (address(B), address("192.0.2.2"))


def over_udp(port, body, back):
    ends = ("192.0.2.2", "192.0.2.1") if back else ("192.0.2.1", "192.0.2.2")
    return ethernet(udp(*ends, 50000, port, body))


def vxlan(p, number=42):
    return over_udp(4789, b"\x08\0\0\0" + be32(number << 8) + ethernet(p), is_back(p))


def geneve(p):
    return over_udp(6081, b"\x01\0\x65\x58" + be32(7 << 8) + b"\0\0\0\0" + ethernet(p), is_back(p))


def gtpu(p):
    # with an extension (PDU session container), as in 5G
    body = b"\0\0\0\x85" + b"\1\0\1\0" + p
    return over_udp(2152, b"\x34\xff" + be16(len(body)) + be32(9 if is_back(p) else 8) + body, is_back(p))


def nested(p, times):
    for _ in range(times):
        p = ipv4(*(("192.0.2.2", "192.0.2.1") if is_back(p) else ("192.0.2.1", "192.0.2.2")), 4, p)
    return ethernet(p)


def ppp_tunnel(p):
    return outer(47, b"\x30\x81\x88\x0b" + be16(len(p) + 4) + b"\0\1" + be32(1) + be32(1) + b"\xff\x03\0\x21" + p, is_back(p))


LINKS = {  # cause: link type, frame of a packet
    "null": (0, lambda p: le32(2) + p),
    "token_ring": (6, lambda p: b"\x10\x40" + MAC + LLC_SNAP + be16(0x0800) + p),
    "ppp": (9, lambda p: b"\xff\x03\0\x21" + p),
    "ppp_short_header": (9, lambda p: b"\x21" + p),
    "fddi": (10, lambda p: b"\x50" + MAC + LLC_SNAP + be16(0x0800) + p),
    "raw_of_bsd": (12, lambda p: p),
    "ppp_hdlc": (50, lambda p: b"\xff\x03\0\x21" + p),
    "ppp_ether": (51, lambda p: b"\x11\0\0\5" + be16(len(p) + 2) + b"\0\x21" + p),
    "atm_llc": (100, lambda p: LLC_SNAP + be16(0x0800) + p),
    "c_hdlc": (104, lambda p: b"\x0f\0\x08\0" + p),
    "wifi": (105, wifi),
    "wifi_qos": (105, lambda p: wifi(p, b"\x88\x02", b"\0\0")),
    "wifi_four_addresses": (105, lambda p: wifi(p, b"\x08\x03", b"\2\0\0\0\0\4")),
    "wifi_encrypted": (105, lambda p: wifi(p, b"\x08\x41")),
    "wifi_management": (105, lambda p: wifi(p, b"\x80\0")),
    "frame_relay": (107, lambda p: b"\x04\x01\x03\xcc" + p),
    "enc": (109, lambda p: le32(2) + b"\0" * 8 + p),
    "sll_llc": (113, lambda p: b"\0" * 14 + be16(4) + LLC_SNAP + be16(0x0800) + p),
    "pflog": (117, lambda p: b"\x3d\x02" + b"\0" * 62 + p),
    "prism": (119, lambda p: le32(0x44) + le32(144) + b"\0" * 136 + wifi(p)),
    "fibre_channel": (122, lambda p: b"\0\0\2\0\0\0\0\1\0\0\2\0\0\0\0\2" + LLC_SNAP + be16(0x0800) + p),
    "radiotap": (127, radiotap),
    "firewire": (138, lambda p: b"\0" * 16 + be16(0x0800) + p),
    "avs": (163, lambda p: be32(0x80211001) + be32(64) + b"\0" * 56 + wifi(p)),
    "ppp_pppd": (166, lambda p: b"\1\x03\0\x21" + p),
    "ppi": (192, lambda p: b"\0\0" + le16(8) + le32(105) + wifi(p)),
    "ppp_with_direction": (204, lambda p: b"\1\xff\x03\0\x21" + p),
    "mpls_link": (219, lambda p: be32(16 << 12 | 1 << 8 | 64) + p),
    "ipnet": (226, lambda p: b"\1\2\0\1" + be32(len(p)) + b"\0" * 16 + p),
    "nflog": (239, lambda p: nflog(p, "<")),
    "usb": (220, lambda p: b"\0" * 64),
    "unheard_of": (65000, lambda p: p),
}

TUNNELS = {  # cause: Ethernet frame of a packet
    "vlan": lambda p: ethernet(be16(7) + be16(0x0800) + p, 0x8100),
    "qinq": lambda p: ethernet(be16(7) + be16(0x8100) + be16(8) + be16(0x0800) + p, 0x88a8),
    "pbb": lambda p: ethernet(be32(77) + ethernet(p), 0x88e7),
    "vntag": lambda p: ethernet(b"\0\0\0\1" + be16(0x0800) + p, 0x8926),
    "snap": lambda p: ethernet(LLC_SNAP + be16(0x0800) + p, 8 + len(p)),
    "llc_ip": lambda p: ethernet(b"\x06\x06\x03" + p, 3 + len(p)),
    "pppoe": lambda p: ethernet(b"\x11\0\0\x2a" + be16(len(p) + 2) + b"\0\x21" + p, 0x8864),
    "mpls": lambda p: ethernet(be32(100 << 12 | 64) + be32(200 << 12 | 1 << 8 | 64) + p, 0x8847),
    "mpls_pseudowire": lambda p: ethernet(be32(100 << 12 | 1 << 8 | 64) + b"\0\0\0\0" + ethernet(p), 0x8847),
    "gre": lambda p: outer(47, b"\0\0\x08\0" + p, is_back(p)),
    "gre_key_and_sequence": lambda p: outer(47, b"\xb0\0\x08\0" + b"\0" * 4 + be32(99) + be32(1) + p, is_back(p)),
    "gre_bridged": lambda p: outer(47, b"\0\0\x65\x58" + ethernet(p), is_back(p)),
    "gre_source_route": lambda p: outer(47, b"\x40\0\x08\0" + b"\0" * 8 + p, is_back(p)),
    "pptp": ppp_tunnel,
    "erspan1": lambda p: outer(47, b"\0\0\x88\xbe" + ethernet(p)),
    "erspan2": lambda p: outer(47, b"\x10\0\x88\xbe" + be32(1) + b"\x10\x07\x08\x0a" + be32(0) + ethernet(p)),
    "erspan3": lambda p: outer(47, b"\x10\0\x22\xeb" + be32(1) + b"\x20\x07\x08\x0b" + be32(0) + b"\0\0\0\1" + b"\0" * 8 + ethernet(p)),
    "ip_in_ip": lambda p: outer(4, p, is_back(p)),
    "ip_in_ipv6": lambda p: ethernet(ipv6(A6, B6, 4, p)),
    "etherip": lambda p: outer(97, b"\x30\0" + ethernet(p), is_back(p)),
    "mpls_in_ip": lambda p: outer(137, be32(16 << 12 | 1 << 8 | 64) + p, is_back(p)),
    "ah": lambda p: ethernet(ipv4(A if not is_back(p) else B, B if not is_back(p) else A, 51, b"\6\4\0\0" + b"\0" * 20 + p[20:])),
    "esp": lambda p: outer(50, b"\0" * 32),
    "vxlan": vxlan,
    "vxlan_gpe": lambda p: over_udp(4790, b"\x0c\0\0\1" + be32(43 << 8) + p, is_back(p)),
    "geneve": geneve,
    "gtpu": gtpu,
    "vxlan_in_gre": lambda p: outer(47, b"\0\0\x08\0" + vxlan(p)[14:], is_back(p)),
    "nested_six_times": lambda p: nested(p, 6),
    "nested_too_deeply": lambda p: nested(p, 60),
    "nothing_but_vxlan_port": lambda p: over_udp(4789, b"syslog, say", is_back(p)),
    "arp": lambda p: ethernet(b"\0\1\x08\0\6\4\0\1" + b"\0" * 20, 0x0806),
    "icmp": lambda p: ethernet(ipv4(A, B, 1, b"\x08\0\0\0\0\0\0\0")),
    "sctp": lambda p: ethernet(ipv4(A, B, 132, b"\0" * 12)),
    "unknown_ethertype": lambda p: ethernet(p, 0x88b5),
}


def fragmented(packets, size):
    """Each datagram in parts; lists of them."""
    for p in packets:
        id = number()
        body, src, dst = p[20:], ".".join(map(str, p[12:16])), ".".join(map(str, p[16:20]))
        yield [ipv4(src, dst, p[9], body[at:at + size], id, at // 8 | (0x2000 if at + size < len(body) else 0))
               for at in range(0, len(body), size)]


def fragmented6(proto, src, dst, body, size):
    id = number()
    return [ipv6(src, dst, 44, struct.pack(">BBHI", proto, 0, at | (at + size < len(body)), id) + body[at:at + size])
            for at in range(0, len(body), size)]


def flat(lists):
    return [p for one in lists for p in one]


def ether(packets):
    return pcap(1, map(ethernet, packets))


def datagrams6(cause):
    name = cause.replace("_", "-") + ".test"
    parts = flat(fragmented6(17, *ends, datagram(*ends, *ports, dns(7, name, answer)), 24)
                 for ends, ports, answer in (((A6, B6), (40000, 53), False), ((B6, A6), (53, 40000), True)))
    return ether(parts)


def overlapping(cause):
    parts = list(fragmented(exchange(cause), 40))
    first = parts[3]  # the request; its second part begins 8 bytes too early
    id = struct.unpack(">H", first[0][4:6])[0]
    first[1] = ipv4(A, B, 6, b"X" * 8 + first[1][20:], id, 4 | 0x2000)
    return ether(flat(parts))


def outer_fragments(cause):
    return ether(flat(fragmented([vxlan(p)[14:] for p in exchange(cause)], 64)))


FRAGMENTS = {  # cause: file
    "fragments": lambda n: ether(flat(fragmented(exchange(n), 24))),
    "fragments_reversed": lambda n: ether(flat(f[::-1] for f in fragmented(exchange(n), 24))),
    "fragments_twice": lambda n: ether(flat(sum(([p, p] for p in f), []) for f in fragmented(exchange(n), 24))),
    "fragments_overlapping": overlapping,
    "fragments_missing": lambda n: ether(flat(f[:-1] if i == 4 else f for i, f in enumerate(fragmented(exchange(n), 24)))),
    "fragments_ipv6": datagrams6,
    "fragments_of_a_tunnel": outer_fragments,
    "fragments_snaplen": lambda n: pcap(1, [ethernet(p) for p in flat(fragmented(exchange(n), 48))], snap=70),
}


def sections(n):
    """Two of different byte order: the second has the answers."""
    p = exchange(n)
    return (section() + interface(1) + b"".join(enhanced(0, ethernet(x), i) for i, x in enumerate(p[:4]))
            + section(">") + interface(101, order=">") + b"".join(enhanced(0, x, 4 + i, ">") for i, x in enumerate(p[4:])))


def ng(n, *interfaces):
    """Packets go round its interfaces: (link type, snap length, frame)."""
    return (section() + b"".join(interface(link, snap) for link, snap, _ in interfaces)
            + b"".join(enhanced(i % len(interfaces), interfaces[i % len(interfaces)][2](p), i) for i, p in enumerate(exchange(n))))


def plain(n):
    return ether(exchange(n))


FILES = {  # cause: file
    "pcapng_snaplens": lambda n: ng(n, (1, 262144, ethernet), (1, 96, ethernet)),
    "pcapng_link_types": lambda n: ng(n, (1, 0, ethernet), (101, 0, bytes), (113, 0, lambda p: b"\0" * 14 + be16(0x0800) + p)),
    "pcapng_usb_beside": lambda n: ng(n, (220, 0, lambda p: p), (1, 0, ethernet)),
    "pcapng_sections": sections,
    "pcapng_simple": lambda n: section() + interface(101) + b"".join(block(3, le32(len(p)) + p) for p in exchange(n)),
    "big_endian": lambda n: pcap(1, map(ethernet, exchange(n)), ">"),
    "nanoseconds": lambda n: pcap(1, map(ethernet, exchange(n)), magic=0xa1b23c4d),
    "nflog_big_endian": lambda n: pcap(239, (nflog(p, ">") for p in exchange(n)), ">"),
    "gzip": lambda n: gzip.compress(plain(n), mtime=0),
    "gzip_members": lambda n: gzip.compress(plain(n)[:300], mtime=0) + gzip.compress(plain(n)[300:], mtime=0),
    "gzip_cut": lambda n: gzip.compress(plain(n), mtime=0)[:-12],
    "xz": lambda n: lzma.compress(plain(n)),
    "zstd": lambda n: zstd(plain(n)),
    "zstd_damaged": lambda n: zstd(plain(n))[:6] + b"\xff" + zstd(plain(n))[7:],
}


def no_syn(n, **ends):
    return ether(Conversation(**ends).ask(n).ask(n).packets)


def resp(command, answer, **ends):
    talk = Conversation(**ends)
    for _ in range(3):
        talk.c(PSH | ACK, command).s(PSH | ACK, answer)
    return talk.packets


def names(*packets):
    """DNS: (from the client, id in the message, IP's, hop limit)."""
    return ether([udp(*((A, B, 40000, 53) if asks else (B, A, 53, 40000)), dns(m, "a.test", not asks), id=i, ttl=ttl)
                  for asks, m, i, ttl in packets])


def ports_used_again(n):
    first = Conversation().open().ask(n).close()
    return ether(first.packets + Conversation(cseq=90000, sseq=70000).open().ask(n).close().packets)


def earlier_segments(n):
    """A server that still knows the last connection: its segments acknowledge that one's bytes."""
    talk = Conversation().c(SYN)
    for flags, text in ((ACK, b""), (PSH | ACK, b"left over"), (RST | ACK, b""), (SYN | ACK, b"")):
        talk.s(flags, text, seq=777, ack=0x70000000)
    return ether(talk.s(SYN | ACK).c(ACK).ask(n).close().packets)


CONNECTIONS = {  # cause: file
    "server_on_a_high_port": lambda n: no_syn(n, cport=8080, sport=50000),
    "server_on_the_higher_port": lambda n: no_syn(n, cport=33000, sport=55000),
    "client_on_redis_port": lambda n: ether(resp(b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n", cport=6379, sport=51000)),
    "response_first": lambda n: ether(Conversation(cport=443, sport=60000).s(PSH | ACK, OK).ask(n).packets),
    "dns_response_first": lambda n: ether([udp(A, B, 53, 53, dns(5, "a.test", True)), udp(B, A, 53, 53, dns(6, "b.test")),
                                           udp(A, B, 53, 53, dns(6, "b.test", True))]),
    "syn_captured_late": lambda n: ether([p for i in (1, 2, 3, 0, 4) for p in [exchange(n)[i]]]),
    "syn_again_after_close": lambda n: ether(exchange(n) + Conversation().c(SYN).packets),
    "syn_again_after_reset": lambda n: ether(flat(Conversation().c(SYN).s(RST | ACK, seq=0).packets for _ in range(3))),
    "ports_used_again": ports_used_again,
    "keep_alive_first": lambda n: ether(Conversation().c(ACK, b"\0", seq=999).s(ACK).ask(n).packets),
    "keep_alive_first_of_server": lambda n: ether(Conversation().c(ACK, get(n)).s(ACK, b"\0", seq=4999).s(PSH | ACK, OK).ask(n).packets),
    "reset_with_stale_ack": lambda n: ether(Conversation().c(SYN).s(RST | ACK, seq=0, ack=4242).s(SYN | ACK).c(ACK).ask(n).close().packets),
    "reset_without_ack": lambda n: ether(Conversation().c(SYN).s(RST, seq=0).s(SYN | ACK).c(ACK).ask(n).close().packets),
    "reset_out_of_window": lambda n: ether(Conversation().open().s(RST, seq=5001 + 9000).c(RST, seq=1001 + 0x30000000).ask(n).close().packets),
    "reset_behind_fin": lambda n: ether(Conversation().open().ask(n).c(FIN | ACK).s(ACK).c(RST, seq=1028 + len(n)).packets),
    "reset_in_window": lambda n: ether(Conversation().open().ask(n).s(RST).c(PSH | ACK, get(n)).packets),
    "earlier_segments": earlier_segments,
    "datagrams_twice": lambda n: names(*((a, 1, i, 64) for a, i in ((True, 10), (True, 10), (False, 20), (False, 20)))),
    "datagrams_twice_routed": lambda n: names((True, 1, 0, 64), (True, 1, 0, 63), (False, 1, 0, 60), (False, 1, 0, 59)),
    "datagrams_sent_again": lambda n: names((True, 1, 10, 64), (True, 1, 11, 64), (False, 1, 20, 64)),
    "segments_twice": lambda n: ether(flat([p, p] for p in exchange(n))),
    "two_networks": lambda n: pcap(1, [vxlan(p, i) for pair in zip(exchange(n), exchange(n)) for i, p in enumerate(pair, 1)]),
}

def captures():
    for cause, (link, frame) in LINKS.items():
        yield cause, pcap(link, map(frame, exchange(cause)))
    for cause, frame in TUNNELS.items():
        yield cause, pcap(1, map(frame, exchange(cause)))
    for table in (FRAGMENTS, FILES, CONNECTIONS):
        for cause, make in table.items():
            yield cause, make(cause)


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for cause, content in captures():
        with open(os.path.join(folder, cause), "wb") as f:
            f.write(content)


if __name__ == "__main__":
    main(*sys.argv[1:])
