# On a CPU where eight busy loops run beside, a short capture still has the symbol table of what was hit: it is extracted at once, at normal
# priority. DWARF comes after it, in a member of its own.
# alone: is about time on CPUs
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a compiler"
cat >"$T/prog.c" <<'C'
static volatile unsigned long sink;
static __attribute__((noinline)) void burn_all_day(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
int main(void)
{
	for (;;)
		burn_all_day();
}
C
cat >"$T/types.py" <<'PY'
print("\n".join(f"struct s{i} {{ int a{i}; struct s{i} *next{i}; }} v{i};" for i in range(60000)))
PY
python3 "$T/types.py" >"$T/types.c" || skip "needs python3"
cc -g -O1 -c -o "$T/types.o" "$T/types.c"
cc -g -O1 -Wl,--build-id -o "$T/prog" "$T/prog.c" "$T/types.o"
cpu=$(taskset -pc $$ | sed 's/.*: \([0-9]*\).*/\1/') # the first that this test may run on
for _ in {1..8}; do start taskset -c $cpu sh -c 'while :; do :; done'; done
start taskset -c $cpu "$T/prog"; prog=$!

named() { [ "$("$OBANA" query "$1" "SELECT count(*) > 0 FROM function WHERE name = 'burn_all_day'" --csv | tail -n 1)" = 1 ]; }

# killed as soon as samples and the symbol table are there: DWARF is still to come, as nothing is idle
obrec_start -p $prog -e cpu --debuginfo full -o "$T/k.obz"
eventually "the function's name in the archive" named "$T/k.obz"
kill -KILL $obrec
obrec_wait
echo "ok: symbols in what was killed"

# to the end
capture 5 $prog -e cpu -o "$T/c.obz"
is "function of the program" "$(sql "$T/c.obz" "SELECT count(*) > 0 FROM function WHERE name = 'burn_all_day'")" 1
is "programs without symbols" "$(sql "$T/c.obz" "SELECT count(*) FROM binary WHERE path = '$T/prog' AND symbols = 'none'")" 0
