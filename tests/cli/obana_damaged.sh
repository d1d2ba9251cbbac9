# Archives that are cut at every place: what is left is shown, said to be cut, and the exit code is 3 (or 1 when
# nothing can be read); never a crash.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
# libarchive leaks a little of an archive that is never finished
grep -v "^end" "$TOP/tests/cli/small.obt" | ASAN_OPTIONS=detect_leaks=0 "$TOP/$B/tests/tools/mkobz" cut.obz || exit 1

echo "--- no end member"
$obana report cut.obz >out.txt; echo "exit $?"
grep -e '^When' -e '^Archive' -e '^Losses' -e 'ring buffer' -e '^cpu' out.txt
$obana query "SELECT complete, stop_reason, duration_ns, damage FROM capture" cut.obz; echo "exit $?"

echo "--- cut anywhere"
size=$(stat -c %s small.obz)
for ((n = 0; n < size; n += 1021)); do
	head -c $n small.obz >part.obz
	timeout 20 "$obana" report part.obz >out.txt 2>err.txt; rc=$?
	case $rc in
	0) [ $n -gt $((size - 1536)) ] || { echo "at $n: said to be whole"; exit 1; } ;; # only padding and tar's end are missing
	3) grep -q '^Archive.*part.obz: ' out.txt || { echo "at $n: not said to be cut"; cat out.txt; exit 1; } ;;
	1) [ "$(wc -l <err.txt)" = 1 ] || { echo "at $n: not one line"; cat err.txt; exit 1; } ;;
	*) echo "at $n: exit $rc"; cat err.txt; exit 1 ;;
	esac
	echo $rc
done | sort | uniq -c | sed 's/^ *[0-9]* /exit /'

echo "--- bytes flipped"
for ((n = 512; n < size; n += 449)); do
	cp small.obz bad.obz
	printf '\x5a' | dd of=bad.obz bs=1 seek=$n conv=notrunc status=none
	timeout 20 "$obana" report bad.obz >out.txt 2>err.txt; rc=$?
	[ $rc -le 1 ] || [ $rc = 3 ] || { echo "at $n: exit $rc"; cat err.txt; exit 1; }
done
echo done
