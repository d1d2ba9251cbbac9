"""bomb.py OUT.obz KIND ROWS CHUNKS: an archive whose chunks hold as many rows of one kind as the format allows and next to no bytes. Ids
rise by one from row to row; all else is 0 or empty. With fields after that, the archive's own schema has those alone."""
import json, re, subprocess, sys, zlib, struct, os

out, kind, rows, chunks, only = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:]
uuid = bytes(range(16))
text = open(os.path.join(os.path.dirname(__file__), "../../format/records.def")).read()
record = {m[1]: (int(m[2]), m[3]) for m in re.finditer(r'^RECORD\((\w+), (\d+), (\w+)', text, re.M)}
number, stream = record[kind]
fields = [f for f in re.findall(r'^FIELD\(%s, (\w+), (\w+), (\w+)' % kind, text, re.M) if not only or f[1] in only]

def varint(v):
    b = b""
    while v > 127:
        b, v = b + bytes([v & 127 | 128]), v >> 7
    return b + bytes([v])

def column(i, type, encoding):
    if encoding == "SUFFIX":
        return b"\0" * (1 + 3 * rows)
    step = b"\2" if i == 0 and encoding == "DELTA" else b"\0"
    return b"\0" * (encoding == "DICT") + step * rows

def sealed(o):
    body = json.dumps(o)[:-1].encode()
    return body + b',"crc32":"%08x"}\n' % zlib.crc32(body)

def member(name, payload):
    head = struct.pack("100s8s8s8s12s12s8s1s100s6s2s247x", name.encode(), b"0000644\0", b"0000000\0", b"0000000\0",
        b"%011o\0" % len(payload), b"00000000000\0", b" " * 8, b"0", b"", b"ustar\0", b"00")
    head = head[:148] + b"%06o\0 " % sum(head) + head[156:]
    return head + payload + b"\0" * (-len(payload) % 512)

columns = [column(i, t, e) for i, (t, _, e) in enumerate(fields)]
raw = varint(1) + varint(number) + varint(rows) + varint(len(columns)) + b"".join(varint(len(c)) + c for c in columns)
assert len(raw) <= 1 << 20, "%d bytes" % len(raw)
with open(out, "wb") as f:
    f.write(raw)
frame = subprocess.run(["zstd", "-19", "-c", "--check", out], stdout=subprocess.PIPE, check=True).stdout
with open(out, "wb") as f:
    f.write(member("obz.json", sealed({"format": {"major": 1, "minor": 0, "required": []}, "uuid":
        "00010203-0405-0607-0809-0a0b0c0d0e0f", "host": "h", "started_at_ns": 1, "clock": {"monotonic_ns": 1, "realtime_ns": 1}})))
    f.write(member("schema.json", sealed({"records": [{"kind": kind, "number": number, "stream": stream,
        "fields": [{"name": n, "type": t if t in ("u32", "u64", "list") else "str", "encoding": e, "unit": ""} for t, n, e in fields]}]})))
    for seq in range(chunks):
        head = struct.pack("<IIIHH16s24sQIIQQQI", 0x184d2a5b, 96, int.from_bytes(b"OBZC", "little"), 1, 0, uuid,
            stream.encode(), seq, len(raw), rows, 0, 0, 0, len(frame))
        f.write(member("ev/%s/%06d.zst" % (stream, seq), head + struct.pack("<I", zlib.crc32(head)) + frame))
    f.write(member("obz.end.json", sealed({"uuid": "00010203-0405-0607-0809-0a0b0c0d0e0f", "complete": True, "duration_ns": 5})) + b"\0" * 1024)
