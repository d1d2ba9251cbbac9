# Where results go: a link stays and its target is replaced, devices, FIFOs and descriptors are written to as they are, whatever the command.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana export folded small.obz -o - >wanted 2>/dev/null; mkdir results
same() { cmp "$1" wanted && echo "$2: the same"; }

echo "--- links"
echo old >results/real; ln -s results/real link; ln -s results/none new
$obana export folded small.obz -o link 2>&1; echo "exit $?"
readlink link; same results/real link; cat results/real.old
$obana report small.obz --folded=new 2>&1 >/dev/null; readlink new; same results/none "dangling link"
ln -s loop loop; $obana export folded small.obz -o loop 2>&1; echo "exit $?"
echo "--- special files"
mknod null c 1 3 2>/dev/null && chmod 666 null && { : >null; } 2>/dev/null || ln -s /dev/null null
$obana export folded small.obz -o null 2>&1; echo "exit $?"; [ -f null ] && echo "the device was replaced"
$obana flamegraph small.obz -o /dev/null 2>&1; [ -c /dev/null ] && echo "/dev/null stays"
mkfifo fifo; cat fifo >got & $obana export folded small.obz -o fifo 2>&1; wait; same got FIFO; [ -p fifo ] && echo "a FIFO still"
cat fifo >got & $obana report small.obz --folded=fifo >/dev/null 2>&1; wait; same got "FIFO by report"
cat fifo >/dev/null & $obana diff small.obz small.obz -o fifo 2>&1 >/dev/null; echo "exit $?"; wait
cat fifo >/dev/null & $obana topology small.obz --dot -o fifo; echo "exit $?"; wait
for name in /dev/stdout /dev/fd/1 /proc/self/fd/1; do $obana export folded small.obz -o $name >got 2>err; cat err; same got $name; done
$obana export folded small.obz -o /dev/fd/7 7>got; same got /dev/fd/7
$obana export folded small.obz -o >(cat >got); wait $!; same got ">(cmd)"
ln -s /dev/stdout out; $obana export folded small.obz -o out >got; same got "own link to /dev/stdout"; readlink out
echo "--- what fails leaves them"
$obana flamegraph small.obz -o /dev/full 2>&1; echo "exit $?"
[ -c /dev/full ] && echo "/dev/full stays"
$obana export folded missing.obz -o fifo 2>&1; echo "exit $?"; [ -p fifo ] && echo "a FIFO still"
echo "--- databases and archives"
for to in null fifo /dev/stdout /dev/fd/1; do $obana export sqlite small.obz -o $to 2>&1 | cat; done
$obana report small.obz --sqlite=/dev/null 2>&1 >/dev/null; echo "exit $?"
ln -s results/db db; $obana export sqlite small.obz -o db 2>&1; readlink db; sqlite3 results/db "SELECT count(*) FROM sample"
$obana recover small.obz -o /dev/null 2>&1; echo "exit $?"
$obana recover small.obz -o - 2>/dev/null >whole.obz; $obana verify whole.obz >/dev/null && echo "recovered to stdout"
cat fifo >got & $obana recover small.obz -o fifo 2>/dev/null; wait; cmp got whole.obz && echo "recovered to a FIFO"
$obana recover small.obz -o /dev/stdout 2>/dev/null >got; cmp got whole.obz && echo "recovered to /dev/stdout"
ln -s results/rec.obz rec; $obana recover small.obz -o rec 2>/dev/null; readlink rec; cmp results/rec.obz whole.obz && echo "recovered where a link leads"
$obana recover small.obz -o rec 2>&1; echo "exit $?"
echo "--- a file size limit"
(ulimit -f 1; $obana flamegraph small.obz -o big.svg 2>&1; echo "exit $?") | cat
ls | grep -e big -e '\.......$'; ls results
