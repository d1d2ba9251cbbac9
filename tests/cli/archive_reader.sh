# A reader written from FORMAT.md alone finds every row that the C reader finds, and refuses what is damaged.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
reader=$TOP/tests/reader/obz_reader.py
tool=$TOP/$B/tests/unit/format_archive
"$tool" make random.obz || exit 1
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
for f in random small; do
	python3 "$reader" $f.obz >$f.py && "$tool" dump $f.obz >$f.c && cmp $f.py $f.c || exit 1
	[ -s $f.py ] || exit 1
done
size=$(stat -c %s small.obz)
for ((n = 100; n < size; n += 991)); do
	cp small.obz bad.obz
	printf '\xa5' | dd of=bad.obz bs=1 seek=$n conv=notrunc status=none
	cmp -s small.obz bad.obz && continue
	python3 "$reader" --check bad.obz 2>err && by_reader=0 || by_reader=1
	"$OBANA" verify -q bad.obz 2>/dev/null && by_obana=0 || by_obana=1
	# padding is not under a checksum
	[ $by_reader = $by_obana ] || { echo "byte $n: the reader says $by_reader, obana $by_obana"; cat err; exit 1; }
	grep -q Traceback err && { cat err; exit 1; }
done
head -c $((size - 2200)) small.obz >cut.obz
python3 "$reader" --check cut.obz 2>/dev/null && exit 1
exit 0
