# Many archives in one file: every command reads it as it reads the many; tar takes them out again.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
for t in small events traffic-server traffic-client; do "$TOP/$B/tests/tools/mkobz" $t.obz <"$TOP/tests/cli/$t.obt" || exit 1; done
all="small.obz events.obz traffic-server.obz traffic-client.obz"
# names of archives are all that may differ
same() { # command before the archives, and after them
	$obana $1 $all $2 2>&1 | sed 's/[a-z-]*\.obz\(#[0-9]\)\?/ARCHIVE/g' >many.txt
	$obana $1 all.obz $2 2>&1 | sed 's/[a-z-]*\.obz\(#[0-9]\)\?/ARCHIVE/g' >one.txt
	cmp many.txt one.txt && echo "$1 $2: the same, $([ -s one.txt ] && echo not empty)"
}
$obana merge $all -o all.obz 2>&1; echo "exit $?"
same report; same info; same "info --json"; same verify; same traffic; same messages; same topology; same "show opensnoop"; same "export json" "-o -"
same "query SELECT/**/count(*),sum(capture_id),sum(length(comm))FROM/**/process;"
echo "--- taken apart"
tar tf all.obz; mkdir out; tar xf all.obz -C out; cmp out/captures/2.obz events.obz && echo "as it was"
$obana query "SELECT host FROM capture" all.obz#2; $obana query "SELECT host FROM capture" all.obz#5 2>&1; echo "exit $?"
$obana recover all.obz#1 -o rec.obz 2>&1; $obana verify rec.obz; $obana recover all.obz -o rec2.obz 2>&1; echo "exit $?"
echo "--- merged again, the same given twice"
$obana merge all.obz small.obz -o again.obz 2>&1; echo "exit $?"; cmp all.obz again.obz && echo "the same"
echo "--- cut"
head -c $(($(stat -c %s all.obz) - $(stat -c %s traffic-client.obz) - 3000)) all.obz >cut.obz
$obana query "SELECT id, complete, damage FROM capture" cut.obz 2>&1; echo "exit $?"
second=$(tar tRf all.obz | sed -n 's/^block \([0-9]*\): captures\/2.obz/\1/p')
head -c $(((second + 1) * 512 + 32)) all.obz >cut.obz; $obana verify cut.obz 2>&1; echo "exit $?"
echo "--- errors"
$obana merge small.obz 2>&1; echo "exit $?"; $obana merge missing.obz -o x.obz 2>&1; echo "exit $?"
$obana merge small.obz -o /dev/full 2>&1; echo "exit $?"; $obana info - <all.obz | head -n 1 | cut -d, -f1; $obana report - <all.obz 2>&1; echo "exit $?"; [ ! -e x.obz ] && echo "nothing left behind"
