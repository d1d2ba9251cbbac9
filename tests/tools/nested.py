"""nested.py OUT.obz MEMBERS: debug members each of which begins inside the one before and goes on to the end of the file."""
import json, struct, sys, zlib

out, cnt = sys.argv[1], int(sys.argv[2])

def sealed(o):
    body = json.dumps(o)[:-1].encode()
    return body + b',"crc32":"%08x"}\n' % zlib.crc32(body)

def header(name, size):
    head = struct.pack("100s8s8s8s12s12s8s1s100s6s2s247x", name.encode(), b"0000644\0", b"0000000\0", b"0000000\0",
        b"%011o\0" % size, b"00000000000\0", b" " * 8, b"0", b"", b"ustar\0", b"00")
    return head[:148] + b"%06o\0 " % sum(head) + head[156:]

def member(name, payload):
    return header(name, len(payload)) + payload + b"\0" * (-len(payload) % 512)

with open(out, "wb") as f:
    f.write(member("obz.json", sealed({"format": {"major": 1, "minor": 0, "required": []},
        "uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "host": "h", "started_at_ns": 1})))
    for i in range(cnt):
        f.write(header(".build-id/ab/%08x.debug.zst" % i, (cnt - i - 1) * 512 + 512))
    f.write(b"\xff" * 1024)
