# Memory allocated: with every allocation sampled, objects and bytes by function, those in use at the end and those leaked are exactly what the
# program says, with glibc, musl, static programs, and preloaded allocators, by each way to attach; sampled by bytes, shares and totals lie
# within five standard errors. A program without a leak has none, nor has a cache that stops growing, or whose entries are replaced,
# or which is emptied now and then; a leak through thousands of stacks is one.
. tests/live/lib.inc
. tests/live/alloc.inc
grep -q '^alloc .* yes' "$T/list" || skip "no probe 'alloc': $(grep '^alloc ' "$T/list")"
allocs=$WORKLOAD/allocs
[ -x "$allocs" ] || skip "needs make workload"

# recorded NAME OPTIONS ENV COMMAND...: NAME.obz with $losses or none, what the program printed in NAME.did
recorded() {
	local name=$1 options=$2 env=$3
	shift 3
	start_held env $env "$@" >"$T/$name.did"
	obrec_start -q -p $held $options -o "$T/$name.obz"
	let_go
	wait $held || fail "$name: the program"
	obrec_wait
	is "$name: exit" $status 0
	LC_ALL=C sort "$T/$name.did" >"$T/$name.want"
	alloc_of "$T/$name.obz" >"$T/$name.got"
	is "$name: losses" "$(lost "$T/$name.obz")" "${losses-0}"
}
# exact NAME OPTIONS ENV COMMAND...: every allocation
exact() {
	recorded "$1" "-e alloc:rate=0 ${2-}" "$3" "${@:4}" exact 100
	diff "$T/$1.want" "$T/$1.got" || fail "$1: objects and bytes by function"
	echo "ok: $1: $(wc -l <"$T/$1.got") lines as the program says"
}

exact glibc "" A=1 "$allocs"
is "rows of memory in use" "$(sql "$T/glibc.obz" "SELECT sum(bytes), sum(objects) FROM heap" | tr ',' ' ')" "$(sql "$T/glibc.obz" "SELECT sum(value), sum(count) FROM sample WHERE kind = 'live'" | tr ',' ' ')"
is "ages are in order" "$(sql "$T/glibc.obz" "SELECT count(*) FROM heap WHERE youngest_ns > median_ns OR median_ns > oldest_ns OR leak_bytes > bytes")" 0
is "memory of the child" "$(sql "$T/glibc.obz" "SELECT count(*) > 0 FROM heap WHERE ended AND bytes = 104 * 100")" 1
for name in alloc alloc-calls alloc-rate alloc-live alloc-stacks; do
	"$OBANA" show $name "$T/glibc.obz" >"$T/shown" 2>&1 || { cat "$T/shown"; fail "show $name"; }
done
is "errors if each is sampled" "$("$OBANA" show alloc-live "$T/glibc.obz" --csv | tail -n +2 | cut -d, -f3 | sort -u | xargs)" 0.0
is "samples in ns" "$("$OBANA" show symbols "$T/glibc.obz" --csv | tail -n +2 | cut -d, -f2 | sort -u | xargs)" ""
"$OBANA" export folded "$T/glibc.obz" --kind live -o "$T/folded"
grep -q 'main;exact;some.*heap_calloc' "$T/folded" || { cat "$T/folded"; fail "folded stacks of live"; }
within "complete stacks, %" "$(sql "$T/glibc.obz" "SELECT 100.0 * total((error IS NULL) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id")" 99.5 100

ways=$(awk '/^alloc / {on = 1; next} /^[a-z]/ {on = 0} on && $1 ~ /^(session|multi|each)$/ && $2 != "no" {print $1}' "$T/list")
for way in $ways; do
	exact "by $way" "--attach alloc=$way" A=1 "$allocs"
done
exact static "" A=1 "$allocs-static"
# Every operator new, between others that throw, and with a handler that lets them try again.
exact news "" A=1 "$WORKLOAD/news"
if command -v musl-gcc >/dev/null; then
	for link in -static ""; do
		musl-gcc -g -std=gnu11 -D_GNU_SOURCE -O2 -fno-builtin -fno-ipa-icf -w -pthread $link -o "$T/allocs-musl" tests/workload/allocs.c
		exact "musl$link" "" A=1 "$T/allocs-musl"
	done
fi
# Operators new that throw have no probes at their returns: what they allocate is not followed, and reported as a loss.
preloaded() { # LIBRARY HOW N OPTIONS
	local name="$1 $4"
	ldconfig -p | grep -q "$1 " || { echo "no $1"; return; }
	losses=$3 recorded "$name" "-e alloc:rate=0 $4" "LD_PRELOAD=$1" "$allocs" $2 $3
	diff <(grep -v '^live heap_new ' "$T/$name.want") "$T/$name.got" || fail "$name: objects and bytes by function"
	echo "ok: $name: $(wc -l <"$T/$name.got") lines as the program says"
}
preloaded libjemalloc.so.2 exact 100 ""
preloaded libtcmalloc_minimal.so.4 exact 100 ""
# Of mimalloc most functions end in others, perhaps on another CPU.
for way in $ways; do preloaded libmimalloc.so.2 moved 500 "--attach alloc=$way"; done
# A preloaded library that wraps malloc() of another file: each call counts once, with the program's stack.
cat >"$T/wrapper.c" <<'C'
#include <stddef.h>
void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
void __libc_free(void *);
int calls; /* counted behind, so that nothing ends in a jump */
__attribute__((noinline)) static void *passed_on(size_t size) { void *p = __libc_malloc(size); calls++; return p; }
void *malloc(size_t size) { void *p = passed_on(size); calls++; return p; }
void *calloc(size_t n, size_t size) { void *p = __libc_calloc(n, size); calls++; return p; }
void *realloc(void *old, size_t size) { void *p = __libc_realloc(old, size); calls++; return p; }
void free(void *p) { __libc_free(p); calls++; }
C
cc -g -O2 -fPIC -shared -o "$T/wrapper.so" "$T/wrapper.c"
exact wrapper "" LD_PRELOAD="$T/wrapper.so" "$allocs"
recorded not-followed "-e alloc:rate=0,live=no" A=1 "$allocs" exact 100
diff <(grep '^alloc' "$T/not-followed.want") <(grep -v ' heap_failed 1 ' "$T/not-followed.got") || fail "live=no"

# ---- calls within calls: a signal's handler allocates while malloc() runs. Both count as allocated; the outer one is not followed, and that is told
cat >"$T/interrupted.c" <<'C'
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
static char arena[1 << 20];
static size_t used;
static volatile sig_atomic_t is_due;
__attribute__((noinline)) void *malloc(size_t size)
{
	char *p;
	if (is_due) {
		is_due = 0;
		raise(SIGUSR1);
	}
	p = arena + used;
	used += (size + 15) & ~15ul;
	return p;
}
void free(void *p) { used += 0 * (p == NULL); }
static void handler(int signal) { void *volatile p = malloc(100); }
int main(void)
{
	char go;
	signal(SIGUSR1, handler);
	read(0, &go, 1);
	for (int i = 0; i < 100; i++) {
		is_due = 1;
		{ void *volatile p = malloc(3000); }
	}
	return 0;
}
C
cc -g -O2 -fno-builtin -w -o "$T/interrupted" "$T/interrupted.c"
for way in $ways; do
	start_held "$T/interrupted"
	obrec_start -p $held -e alloc:rate=0 --attach alloc=$way -o "$T/interrupted.obz"
	let_go
	obrec_wait
	is "calls within calls, by $way: of so many bytes, so many" "$(sql "$T/interrupted.obz" "SELECT kind, value / count, sum(count) FROM sample WHERE kind IN ('alloc', 'live') GROUP BY 1, 2 ORDER BY 1, 2" | xargs)" "alloc,100,100 alloc,3000,100 live,100,100"
	is "calls within calls, by $way: lost" "$(lost "$T/interrupted.obz" "source = 'alloc'")" 100
done

# ---- allocators that are mapped while they are recorded: their first calls are not seen, and that is told; those of the system are attached before
mapped_late() { # PROGRAM: what is lost of alloc; a file that is attached late waits for it
	mkfifo "$T/late.go"
	obrec_start -v -e alloc:rate=0 -o "$T/late.obz" -- sh -c '"$1" exact 1 <"$2"; true' sh "$1" "$T/late.go" >"$T/late.did"
	exec 5<>"$T/late.go"
	[ "$1" = "$allocs" ] || eventually "$1 is attached" written "$T/obrec.err" 'attached .* after it was mapped'
	echo >&5 # stays open: the program may not have opened it yet
	obrec_wait
	exec 5>&-
	rm "$T/late.go"
	sql "$T/late.obz" "SELECT cause, count FROM loss WHERE source = 'alloc'"
}
cp "$allocs-static" "$T/late"
is "an allocator mapped after the start" "$(mapped_late "$T/late")" "allocator: mapped after the start: calls before it was attached,1"
is "a program with the system's" "$(mapped_late "$allocs")" ""

# ---- sampled: B bytes of calls that are small against the rate R have a standard error of sqrt(B * R)
rate=8192
recorded shares "-e alloc:rate=8K,live=no" A=1 "$allocs" shares 40000
while read -r what function objects bytes; do
	got=$(awk -v f=$function '$2 == f {print $4}' "$T/shares.got")
	five=$(awk -v b=$bytes -v r=$rate 'BEGIN {printf "%d", 5 * sqrt(b * r)}')
	within "$function: bytes" "$got" $((bytes - five)) $((bytes + five))
	within "$function: objects" "$(awk -v f=$function '$2 == f {print $3}' "$T/shares.got")" $((objects - five * objects / bytes)) $((objects + five * objects / bytes))
done <"$T/shares.want"
bytes=$(awk '{n += $4} END {print n}' "$T/shares.want") five=$(awk -v b=$bytes -v r=$rate 'BEGIN {printf "%d", 5 * sqrt(b * r)}')
within "bytes in all" "$(sql "$T/shares.obz" "SELECT sum(value) FROM sample WHERE kind = 'alloc'")" $((bytes - five)) $((bytes + five + 100000))
within "calls counted" "$(sql "$T/shares.obz" "SELECT sum(count) FROM counter WHERE probe = 'alloc' AND series = 'calls'")" 120000 160100 # realloc() may call malloc()

# ---- leaks
recorded leaks "-e alloc:rate=1,age=50ms" A=1 "$allocs" leaks 3000
is "functions that leak" "$(grep ^leak "$T/leaks.got" | cut -d' ' -f2 | xargs)" "heap_leak heap_many heap_mixed"
while read -r what function objects bytes; do
	within "$function: in use" "$(awk -v f=$function '$1 == "live" && $2 == f {print $4}' "$T/leaks.got")" $bytes $bytes
	within "$function: leaked" "$(awk -v f=$function '$1 == "leak" && $2 == f {print $4}' "$T/leaks.got")" $((bytes / 2)) $bytes
done <"$T/leaks.want"
is "leaks, by their callers" "$("$OBANA" show alloc-leaks "$T/leaks.obz" --csv | grep -c heap_)" 3
within "stacks of a leak" "$("$OBANA" show alloc-leaks "$T/leaks.obz" --csv | grep heap_many | cut -d, -f6)" 1000 3000
recorded old "-e alloc:rate=1,age=1h" A=1 "$allocs" leaks 200
is "nothing is old enough" "$(grep -c ^leak "$T/old.got" || true)" 0
leaks_of() { "$OBANA" show alloc-leaks "$1" 2>&1 | sed -E 's/recorded for [0-9.]+ m?s,/recorded for TIME,/'; }
is "shorter than the age" "$(leaks_of "$T/old.obz")" "obana: show: alloc-leaks: cannot be told: recorded for TIME, and memory is one only when older than 1h00m (alloc:age)"
is "the report says so" "$("$OBANA" report "$T/old.obz" 2>&1 | grep -c '^Leaks  *cannot be told: recorded for')" 1
is "leaks are told" "$("$OBANA" report "$T/leaks.obz" 2>&1 | grep -c '^Leaks')" 0
recorded none "-e alloc:rate=0,age=1ms" A=1 "$allocs" shares 1000
is "no leak" "$(leaks_of "$T/none.obz")" "obana: show: alloc-leaks: none: no memory older than 1.00 ms that grows"
is "not followed" "$(leaks_of "$T/shares.obz")" "obana: show: nothing recorded for alloc-leaks"
# Calls of many times the rate are certain to be sampled.
recorded certain "-e alloc:rate=2" A=1 "$allocs" exact 100
is "errors of what is certain to be sampled" "$("$OBANA" show alloc-live "$T/certain.obz" --csv | grep -E ',heap_(thread|child|grown)$' | cut -d, -f3 | xargs)" "0.0 0.0 0.0"

# ---- --cpu-budget: detached for most of the time, and attached again and again; the shares stay right
start_held "$allocs" shares 1000000000 >/dev/null
obrec_start -v -p $held -e alloc:rate=1K --cpu-budget 2% -o "$T/budget.obz"
let_go
eventually "throttled" written "$T/obrec.err" "cpu-budget: 'alloc' from [0-9.]*% to [0-9.]*%"
throttled() { [ "$(grep -c "cpu-budget: 'alloc'" "$T/obrec.err")" -ge 2 ]; }
eventually "throttled more" throttled
worked 600 $held
obrec_stop budget
kill $held
within "shares recorded at last" "$(sql "$T/budget.obz" "SELECT kept FROM thinning WHERE what = 'alloc' ORDER BY ts_ns LIMIT -1 OFFSET 1" | head -n 1)" 0.01 0.25
within "times that allocations were recorded" "$(sql "$T/budget.obz" "SELECT count(DISTINCT start_ns) FROM counter WHERE probe = 'alloc' AND series = 'calls'")" 2 inf
alloc_of "$T/budget.obz" | grep ^alloc >"$T/budget.got"
n=$(sql "$T/budget.obz" "SELECT CAST(total(value) * total(value) / total(1.0 * value * value) AS INTEGER) FROM sample WHERE kind = 'alloc'")
for of in sixty=0.6 thirty=0.3 ten=0.1; do
	within "share of ${of%=*}, $n samples" "$(awk -v f=heap_${of%=*} '{n += $4} $2 == f {v = $4} END {print v / n}' "$T/budget.got")" $(awk -v p=${of#*=} -v n=$n 'BEGIN {s = 5 * sqrt(p * (1 - p) / n); print p - s, p + s}')
done
