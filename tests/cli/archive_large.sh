# info of a 10 GB archive looks at both ends only: CPU time within 50 ms. Also of one whose members are many and small.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
cat >grow.py <<'PY'
# Puts sparse debug members before the end member: COUNT of SIZE bytes each.
import sys
count, size = int(sys.argv[2]), int(sys.argv[3])
data = open("small.obz", "rb").read()
end = data.rindex(b"obz.end.json\0")
end -= end % 512
head = bytearray(data[:512])
def header(i):
    h = bytearray(head)
    h[0:100] = (".build-id/%02x/%08x.debug.zst" % (i % 256, i)).encode().ljust(100, b"\0")
    h[124:135] = b"%011o" % size
    h[148:156] = b" " * 8
    h[148:156] = b"%06o\0 " % sum(h)
    return h
with open(sys.argv[1], "wb") as f:
    f.write(data[:end])
    for i in range(count):
        f.write(header(i))
        f.seek((size + 511) // 512 * 512, 1)
    f.write(data[end:])
PY
check() { # file, seconds of CPU allowed
	local before after
	"$OBANA" info "$1" >out || return 1 # once to warm up
	TIMEFORMAT='%U %S'
	before=$( { time "$OBANA" info "$1" >out; } 2>&1) || return 1
	grep -q complete out || return 1
	echo "$before" | awk -v max="$2" '{ if ($1 + $2 > max) { print "info took", $1 + $2, "s of CPU"; exit 1 } }'
}
python3 grow.py large.obz 40 262144000 || { echo "no sparse files here"; exit 77; }
[ "$(stat -c %s large.obz)" -gt 10000000000 ] || exit 1
python3 grow.py many.obz 20000 1000 || exit 1
check large.obz 0.05 && check many.obz 0.05
