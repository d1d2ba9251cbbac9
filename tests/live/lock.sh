# A known number of waits for mutexes (plain, PI, robust), rwlocks, semaphores, condition variables and joins, and for a file's lock in the
# kernel: each is counted with its result, the waits' time is no longer than what the threads measured themselves nor shorter than what the load
# held them up, and the owner is the thread that held the lock; memory that only looks like an owned mutex names nobody; idle waits are told from contention by their frames;
# who released a lock is sampled with what others waited for it; deadlocks are rows.
. tests/live/lib.inc
. tests/live/security.inc
security_told lock 20 -e lock:rate=0,min=0s,period=0s
"$OBANA" info "$archive" --json | grep -q '"lock": *"all"' || result "kernel locks" "not recorded: $(awk '/^lock/ {at = 1} at && $1 == "all" {print; exit}' "$T/list")"

# ---- by name, in the report
security_run lock named 20 -e lock:rate=0 --debuginfo auto
is "exit" $status 0
archive=$T/named.obz
shown() { "$OBANA" show $1 "$archive" --csv "${@:2}" | tail -n +2; }
[ "$(asked "SELECT count(*) > 0 FROM function WHERE name LIKE 'pthread_cond_wait%'")" = 1 ] || skip "ok so far; libc's functions have no names here"
is "what waits are for" "$(shown lock-purpose | awk -F, '$6 !~ /join|other/ {print $1 "," $5 "," $6}' | tr -d '"' | LC_ALL=C sort | xargs -d '\n')" \
	"160,contention,mutex 20,,semaphore 20,contention,mutex 20,contention,rwlock 20,idle,condition variable"
is "joins are idle" "$(shown lock-purpose | awk -F, '$6 == "join" {print $5}')" idle
is "the most contended lock, its owners, callers" "$(shown lock-contended | head -n 1 | cut -d, -f1,5-8,12)" 120,0,3,3,mutex,wait_for_it
is "condition variables, joins among contended locks" "$(shown lock-contended | grep -c 'condition\|join')" 0
is "longest waits: owners known but for rwlocks and semaphores" "$(shown lock-longest --where "owner IS NULL AND lock NOT IN ('rwlock', 'semaphore')")" ""
is "waits by owner" "$(shown lock-owners | awk -F, '{n += $1} END {print n}')" 180
is "who released" "$(shown lock-held | awk -F, '$5 == "hold" {print $3}')" 60
for name in lock-results lock-latency lock-waits; do
	"$OBANA" show $name "$archive" >"$T/shown" && grep -q 'wait' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done

# ---- two threads that wait for each other
cat >"$T/dead.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void *other(void *p) { pthread_mutex_lock(&b); pthread_barrier_wait(&both); pthread_mutex_lock(&a); return p; }
int main(void)
{
	pthread_t t;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&t, NULL, other, NULL);
	pthread_mutex_lock(&a);
	pthread_barrier_wait(&both);
	pthread_mutex_lock(&b);
	return 0;
}
C
cc -pthread -o "$T/dead" "$T/dead.c" || skip "ok so far; no C compiler"
in_futex() {
	dead=$(pgrep -xf "$T/dead") || return 1
	[ "$(cat /proc/$dead/task/*/syscall | grep -c "^$(case $(uname -m) in x86_64) echo 202 ;; *) echo 98 ;; esac) ")" = 2 ]
}
# In a pid namespace of its own the tids in the mutexes are others. One that was there before the capture is seen as well.
for within in "" "unshare -pf --mount-proc" before; do
	began=$(date +%s%N)
	if [ "$within" = before ]; then
		"$T/dead" & pids+=($!)
		eventually "a deadlock" in_futex
		obrec_start -p $dead -e lock:min=0s --attach lock=futex -o "$T/dead.obz"
	else
		obrec_start -e lock:min=0s --attach lock=futex -o "$T/dead.obz" -- $within "$T/dead"
		eventually "a deadlock" in_futex
	fi
	sleep 0.05
	in_futex || fail "a deadlock that ends"
	obrec_stop
	kill -KILL $dead 2>/dev/null || true
	is "${within:+namespace: }each waits for the other" "$(sql "$T/dead.obz" "SELECT count(*), count(DISTINCT l.owner), sum(l.owner = t.tid), sum(l.owner IN (SELECT tid FROM thread)) FROM lock l
		JOIN thread t ON t.id = l.thread_id WHERE l.unfinished AND t.comm = 'dead'")" 2,2,0,2
	is "${within:+namespace: }as a result" "$(sql "$T/dead.obz" "SELECT sum(count) FROM counter WHERE probe = 'lock' AND key LIKE 'dead%still waiting'")" 2
	is "${within:+$within: }with samples of who waits and who is waited for" "$(sql "$T/dead.obz" "SELECT kind, sum(s.count), sum(value) = (SELECT sum(wait_ns) FROM lock WHERE unfinished AND owner) FROM sample s JOIN thread t
		ON t.id = s.thread_id WHERE t.comm = 'dead' AND kind IN ('lock', 'holder') GROUP BY 1 ORDER BY 1" | xargs)" "holder,2,1 lock,2,1"
	is "${within:+$within: }in the report" "$("$OBANA" show lock-stuck "$T/dead.obz" --csv --where "process = 'dead'" | tail -n +2 | cut -d, -f2,8,11- | tr -d '"' | LC_ALL=C sort | xargs -d '\n')" \
		"mutex,main,blocked at the end,other,cycle of 2 mutex,other,blocked at the end,main,cycle of 2"
	[ "$within" != before ] || is "when it had begun" "$(sql "$T/dead.obz" "SELECT count(*) FROM lock l JOIN capture c ON c.id = l.capture_id WHERE before_ns AND c.started_at_ns - before_ns > $began")" 2
done

# ---- a wait that begins before the capture and ends in it
cat >"$T/early.c" <<'C'
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static void *wait_early(void *p) { pthread_mutex_lock(&held); pthread_mutex_unlock(&held); return p; }
int main(void)
{
	pthread_t t;
	char c;
	pthread_mutex_lock(&held);
	pthread_create(&t, NULL, wait_early, NULL);
	if (read(0, &c, 1) != 1) return 1;
	pthread_mutex_unlock(&held);
	pthread_join(t, NULL);
	return 0;
}
C
cc -pthread -o "$T/early" "$T/early.c"
mkfifo "$T/let"; exec 7<>"$T/let"
"$T/early" <"$T/let" & early=$!
pids+=($early)
waits() { grep -q "^$(case $(uname -m) in x86_64) echo 202 ;; *) echo 98 ;; esac) " /proc/$early/task/*/syscall; }
eventually "a wait" waits
obrec_start -p $early -e lock:min=0s --attach lock=futex -o "$T/early.obz"
echo >&7
wait $early
obrec_stop
is "a wait from before the capture" "$(sql "$T/early.obz" "SELECT count(*), sum(owner = $early), sum(before_ns > 0), sum(unfinished), sum(EXISTS (SELECT 1 FROM stack_frame sf JOIN frame r ON r.id = sf.frame_id
		JOIN function f ON f.id = r.function_id WHERE sf.stack_id = l.stack_id AND f.name = 'wait_early')) AS stacks FROM lock l JOIN thread t ON t.id = l.thread_id WHERE t.tid <> $early")" 1,1,1,0,1
