# Chunk encoding, and obana info on a very large archive
. scripts/bench.d/lib.inc
make -s build/tests/bench/format_encode
head_row
build/tests/bench/format_encode | sed 's/^/    /'
start "$WORKLOAD/demo" 60; p=$!
sleep 0.3
"$OBREC" -q -e cpu -d 2s -F 99 -p $p --debuginfo none -o "$T/s.obz"
# A sparse debug member of 8 GB (ustar's limit) in the middle of the archive: info must not read it.
python3 - "$T/s.obz" "$T/big.obz" <<'PY'
import sys
src = open(sys.argv[1], "rb").read()
name = b".build-id/ab/" + b"cd" * 19 + b".debug.zst"
end = src.rfind(b"obz.end.json")
size = (8 << 30) - 1
def header(size, first):
    h = bytearray(512)
    n = name.replace(b"/ab/", b"/" + first + b"/")
    h[0:len(n)] = n
    h[100:108] = b"0000644\0"; h[108:116] = b"0000000\0"; h[116:124] = b"0000000\0"
    h[124:136] = b"%011o\0" % size; h[136:148] = b"00000000000\0"
    h[148:156] = b" " * 8; h[156:157] = b"0"; h[257:265] = b"ustar\00000"
    h[148:156] = b"%06o\0 " % sum(h)
    return bytes(h)
with open(sys.argv[2], "wb") as out:
    out.write(src[:end])
    for member in (b"ab", b"ac"):
        h = header(size, member)
        out.write(h); out.seek(-(-size // 512) * 512, 1)
    out.write(src[end:])
PY
measured "$OBANA" info "$T/big.obz"
row "info on $(stat -c %s "$T/big.obz" | numfmt --to=iec), ms" "$(calc "$wall*1000" 0)" - - "<= 50"
row "its memory, MiB" "$((rss >> 10))"
