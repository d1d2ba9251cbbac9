# info, verify and recover of a whole, a cut and a damaged archive; what is no archive; wrong usage.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
base=$(grep -abo 'ev/identity/000000' small.obz | head -n1 | cut -d: -f1) # schema.json before it grows with every kind of record
# what differs from run to run, or with the schema's length
same() { sed -E 's/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/UUID/; s/^(archive .*), [0-9.]+ KiB, /\1, SIZE, /; s/( KiB) +[0-9.]+ %$/\1/'; }
verify() { # offsets from the first member behind the schema; a tar's padding goes to its next 10 KiB
	$obana verify "$@" 2>&1 | awk -v base="$base" '{ for (i = 1; i < NF; i++) if ($i == "offset") $(i + 1) = $(i + 1) - base ":" } 1' |
		sed -E 's/[0-9]+ bytes: zeroed/N bytes: zeroed/'
	return "${PIPESTATUS[0]}"
}

echo "--- whole"
$obana info small.obz | same; echo "exit ${PIPESTATUS[0]}"
verify small.obz; echo "exit $?"
cat small.obz | $obana verify -; echo "exit $?"
$obana info --json small.obz | same | tr ',' '\n' | grep -e '"complete"' -e '"cut"' -e '"host"' -e '"sample"'

echo "--- cut in the middle of a chunk"
at=$(grep -abo 'ev/profile/000001' small.obz | cut -d: -f1)
head -c $((at + 650)) small.obz >cut.obz
$obana info cut.obz | same; echo "exit ${PIPESTATUS[0]}"
verify cut.obz; echo "exit $?"
$obana recover cut.obz -o fixed.obz; echo "exit $?"
$obana info fixed.obz | same | head -n 7; echo "exit ${PIPESTATUS[0]}"
verify fixed.obz; echo "exit $?"
tar tf fixed.obz && zstd -qt <(tar xOf fixed.obz ev/profile/000000.zst) && echo "tar and zstd agree"
$obana recover cut.obz -o fixed.obz; echo "exit $?"
$obana recover cut.obz -o - | cmp - <(cat fixed.obz) && echo "the same through a pipe"
tar --utc -tvf fixed.obz | awk '{print $4, $5}' | sort | uniq -c

echo "--- one byte of a chunk, one tar header, a member more"
cp small.obz bad.obz
printf X | dd of=bad.obz bs=1 seek=$((at + 650)) conv=notrunc status=none
verify bad.obz; echo "exit $?"
cp small.obz bad.obz
printf X | dd of=bad.obz bs=1 seek=$((at + 5)) conv=notrunc status=none
verify bad.obz; echo "exit $?"
mkdir t && tar xf small.obz -C t && ln -s /etc/passwd t/link && (cd t && tar cf ../link.tar --format=ustar obz.json schema.json link)
verify link.tar; echo "exit $?"

echo "--- no archive, wrong usage"
head -c 5000 /dev/zero >zero
: >empty
for f in zero empty nothing . /dev/null "$TOP/README.md"; do $obana info "$f"; echo "exit $?"; done 2>&1 | sed "s|$TOP|TOP|"
{ $obana info; echo "exit $?"
$obana recover small.obz; echo "exit $?"
$obana recover small.obz -o /nonexistent/x; echo "exit $?"
$obana verify --frob small.obz; echo "exit $?"; } 2>&1
