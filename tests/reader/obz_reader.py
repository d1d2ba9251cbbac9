#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""An independent reader of whole .obz archives, written from format/FORMAT.md alone.

usage: obz_reader.py FILE             rows as JSON lines, chunks in file order, tables in chunk order;
                                      strings in hex
       obz_reader.py --check FILE     only checks; exit 1 and a line on the first error
"""
import ctypes
import json
import re
import sys
import zlib

MAGIC = 0x184D2A5B
CHUNK = re.compile(r"ev/([a-z0-9_]{1,23})/([0-9]{6}|[1-9][0-9]{6,17})\.zst")
DEBUG = re.compile(r"\.build-id/([0-9a-f]{2}/[0-9a-f]+|sha1/[0-9a-f]{40})\.debug\.zst")


class Bad(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Bad(what)


# ---- zstd, through the system's library

def zstd_library():
    lib = ctypes.CDLL("libzstd.so.1")
    for name in ("ZSTD_decompress", "ZSTD_findFrameCompressedSize"):
        getattr(lib, name).restype = ctypes.c_size_t
    lib.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    lib.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    lib.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    lib.ZSTD_isError.argtypes = [ctypes.c_size_t]
    return lib


ZSTD = zstd_library()


def unzstd(frame, limit):
    need(frame[:4] == b"\x28\xb5\x2f\xfd" and len(frame) > 5, "no zstd frame")
    need(frame[4] & 0x04 and not frame[4] & 0x1B, "frame without checksum, or with a dictionary")
    need(ZSTD.ZSTD_findFrameCompressedSize(frame, len(frame)) == len(frame), "not one frame")
    size = ZSTD.ZSTD_getFrameContentSize(frame, len(frame))
    need(size <= limit, "content size is missing or too large")
    out = ctypes.create_string_buffer(max(size, 1))
    got = ZSTD.ZSTD_decompress(ctypes.cast(out, ctypes.c_char_p), size, frame, len(frame))
    need(not ZSTD.ZSTD_isError(got) and got == size, "zstd checksum")
    return out.raw[:size]


# ---- tar

def members(data):
    at, names = 0, set()
    while at + 512 <= len(data):
        h = data[at:at + 512]
        if not any(h):
            need(not any(data[at:]), "bytes after the end")
            return
        need(h[257:265] == b"ustar\x0000", "magic at %d" % at)
        need(re.fullmatch(rb"[0-7]{6}\0 ", h[148:156]), "checksum field at %d" % at)
        need(sum(h[:148]) + 8 * 32 + sum(h[156:]) == int(h[148:154], 8), "checksum at %d" % at)
        need(re.fullmatch(rb"[0-7]{11}[\0 ]", h[124:136]) and h[345] == 0 and h[156:157] == b"0", "header at %d" % at)
        name = h[:100].split(b"\0")[0].decode("ascii")
        size = int(h[124:135], 8)
        need(name not in names, "second " + name)
        need(at + 512 + size <= len(data), name + " is cut short")
        names.add(name)
        yield name, data[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512


def unseal(text, name):
    need(len(text) <= 4 << 20, name + " is too large")
    m = re.search(rb',"crc32":"([0-9a-f]{8})"}\n\Z', text)
    need(m and int(m.group(1), 16) == zlib.crc32(text[:m.start()]), "seal of " + name)
    return json.loads(text)


# ---- columns

class View:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            need(self.at < len(self.data) and shift < 70, "varint")
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                need(value < 1 << 64, "varint above 64 bits")
                return value

    def varints(self, n):
        return [self.varint() for _ in range(n)]

    def take(self, n):
        need(self.at + n <= len(self.data), "bytes missing")
        self.at += n
        return self.data[self.at - n:self.at]

    def left(self):
        return len(self.data) - self.at


def deltas(v, n):
    out, value = [], 0
    for z in v.varints(n):
        value = (value + ((z >> 1) ^ -(z & 1))) % (1 << 64)
        out.append(value)
    return out


def strings(v, n):
    lengths = v.varints(n)
    need(all(x <= 65535 for x in lengths), "string too long")
    return [v.take(x) for x in lengths]


def dictionary(v, n, values, plain):
    c = v.varint()
    if c == 0:
        return plain(v, n)
    need(c <= v.left(), "dictionary too large")
    entries = values(v, c)
    indexes = v.varints(n)
    need(all(i < c for i in indexes), "index")
    return [entries[i] for i in indexes]


def lists(v, n):
    c = v.varint()
    need(c <= v.left(), "dictionary too large")
    entries, value = [], 0
    for step in v.varints(c):
        value = (value + step) % (1 << 64)
        entries.append(value)
    backs, shared, new = v.varints(n), v.varints(n), v.varints(n)
    need(all(a + b <= 65535 for a, b in zip(shared, new)) and sum(shared) + sum(new) <= 1 << 20, "list too long")
    rows = []
    for r in range(n):
        tail = []
        if shared[r]:
            need(1 <= backs[r] <= r and shared[r] <= len(rows[r - backs[r]]), "shared elements")
            tail = rows[r - backs[r]][-shared[r]:]
        indexes = v.varints(new[r])
        need(all(i < c for i in indexes), "index")
        rows.append([entries[i] for i in reversed(indexes)] + tail)
    return rows


def column(data, kind, encoding, n):
    v = View(data)
    if kind == "list":
        rows = lists(v, n)
    elif kind == "str":
        rows = dictionary(v, n, strings, strings) if encoding == "DICT" else strings(v, n)
    else:
        plain = View.varints
        rows = {"PLAIN": lambda: plain(v, n), "DELTA": lambda: deltas(v, n),
                "DICT": lambda: dictionary(v, n, deltas, plain)}[encoding]()
        need(kind == "u64" or all(x < 1 << 32 for x in rows), "above 32 bits")
    need(v.left() == 0, "bytes left in a column")
    return rows


# ---- chunks

def tables(raw, schema):
    v, total, seen = View(raw), 0, set()
    out = []
    for _ in range(v.varint()):
        number, rows, columns = v.varint(), v.varint(), v.varint()
        need(1 <= rows <= 1 << 20 and number not in seen, "table")
        seen.add(number)
        total += rows
        kind = schema.get(number)
        fields = {}
        for i in range(columns):
            data = v.take(v.varint())
            if kind and i < len(kind["fields"]):
                f = kind["fields"][i]
                fields[f["name"]] = (f["type"], column(data, f["type"], f["encoding"], rows))
        out.append((kind, rows, fields))
    need(v.left() == 0, "bytes left in a chunk")
    return total, out


def chunk(payload, name, uuid, schema):
    stream, seq = CHUNK.fullmatch(name).groups()
    le = lambda at, n: int.from_bytes(payload[at:at + n], "little")
    need(len(payload) >= 104 and le(0, 4) == MAGIC and payload[8:12] == b"OBZC" and le(12, 2) >= 1, "chunk header")
    size = le(4, 4) + 8
    need(104 <= size <= 4096 and size <= len(payload), "chunk header size")
    need(zlib.crc32(payload[:size - 4]) == le(size - 4, 4), "chunk header CRC")
    need(payload[16:32] == uuid, "uuid")
    need(payload[32:56].rstrip(b"\0") == stream.encode() and le(56, 8) == int(seq), "stream or sequence")
    need(le(96, 4) == len(payload) - size and le(96, 4) <= 2 << 20, "frame size")
    raw = unzstd(payload[size:], 1 << 20)
    need(len(raw) == le(64, 4), "raw size")
    total, out = tables(raw, schema)
    need(total == le(68, 4), "rows")
    times = [t for kind, _, fields in out if "ts_ns" in fields for t in fields["ts_ns"][1]]
    need((le(72, 8), le(80, 8)) == expected_range(times), "time range")
    return out


def expected_range(times):
    some = [t for t in times if t]
    return (min(some), max(some)) if some else (0, 0)


def show(kind, rows, fields):
    for r in range(rows):
        row = {"record": kind["kind"]}
        for name, (ftype, values) in fields.items():
            row[name] = values[r].hex() if ftype == "str" else values[r]
        print(json.dumps(row, separators=(",", ":")))


def read(path, quiet):
    with open(path, "rb") as f:
        data = f.read()
    header = schema = end = uuid = None
    sequences, counts, rows_by_kind = {}, 0, {}
    for name, payload in members(data):
        need(header or name == "obz.json", "obz.json is not first")
        need(not end, "a member after obz.end.json")
        if name == "obz.json":
            header = unseal(payload, name)
            need(header["format"]["major"] == 1 and not header["format"]["required"], "version")
            uuid = bytes.fromhex(header["uuid"].replace("-", ""))
        elif name == "schema.json":
            schema = {k["number"]: k for k in unseal(payload, name)["records"]}
        elif name == "obz.end.json":
            end = unseal(payload, name)
            need(end["uuid"] == header["uuid"], "uuid of the end")
        elif CHUNK.fullmatch(name):
            stream, seq = CHUNK.fullmatch(name).groups()
            need(int(seq) == sequences.get(stream, 0), "sequence of " + name)
            sequences[stream] = int(seq) + 1
            for kind, rows, fields in chunk(payload, name, uuid, schema):
                if kind:
                    rows_by_kind[kind["kind"]] = rows_by_kind.get(kind["kind"], 0) + rows
                    if not quiet:
                        show(kind, rows, fields)
        elif DEBUG.fullmatch(name):
            unzstd(payload, 2000 * len(payload))
    need(end, "cut: no obz.end.json")
    need(end["chunks"] == sequences, "chunks")
    need(end["records"] == rows_by_kind, "records")


def main():
    args = sys.argv[1:]
    quiet = args[:1] == ["--check"]
    if quiet:
        args = args[1:]
    if len(args) != 1:
        sys.exit(__doc__)
    try:
        read(args[0], quiet)
    except Bad as e:
        sys.exit("%s: %s" % (args[0], e))


main()
