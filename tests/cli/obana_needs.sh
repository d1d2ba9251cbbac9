# What a table or section is made of, and no more, is read: of an archive whose every chunk is damaged, the chunks that were looked at
# are counted, by the streams they are of.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
{ grep -v '^end' "$TOP/tests/cli/events.obt"; echo flush; grep -v '^header\|^end' "$TOP/tests/cli/traffic-server.obt"; grep '^end' "$TOP/tests/cli/traffic-server.obt"; } |
	"$TOP/$B/tests/tools/mkobz" whole.obz || exit 1
python3 - <<'P'
whole = open("whole.obz", "rb").read()
at, members = 0, []
while at + 512 <= len(whole) and whole[at]:
    name, size = whole[at:at + 100].rstrip(b"\0").decode(), int(whole[at + 124:at + 135], 8)
    if name.startswith("ev/"): members.append((name.split("/")[1], at + 512 + size - 6))
    at += 512 + (size + 511) // 512 * 512
for stream in sorted({s for s, _ in members}):
    data = bytearray(whole)
    for s, place in members:
        if s == stream: data[place] ^= 0x55
    open(stream + ".obz", "wb").write(data)
P
streams() { # COMMAND...: those in which damage was seen
	local f s=
	for f in event health identity metric net payload profile; do
		$obana "$@" $f.obz 2>&1 >/dev/null | grep -q damaged && s="$s $f"
	done
	echo "${*: -1}:$s"
}
for table in capture loss thread counter histogram open connection message figure latency_histogram flow sample hot_function; do streams query "SELECT * FROM $table"; done
for section in block-latency runq-time block-by-disk open-time opens block-slowest functions processes samples endpoints services losses; do streams show $section; done
