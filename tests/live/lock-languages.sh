# What a wait is for, by the functions of languages. Python: threads that compute wait for the interpreter's lock, which is contention; a
# worker without work, and who joins, wait for locks of Python as well, and are not shown as contending. Rust: mutexes and rwlocks are
# contention, condition variables and channels are not, and of a parked thread nothing is known. Java: monitors and safepoints are
# contention, threads of the JVM that wait for work by its semaphores are not.
. tests/live/lib.inc
grep -q '^lock .* yes' "$T/list" || skip "no probe 'lock': $(grep '^lock ' "$T/list")"
q() { sql "$T/a.obz" "$1"; }
shown() { "$OBANA" show $1 "$T/a.obz" --csv "${@:2}" | tail -n +2 | tr -d '"'; }
# Without the kernel's locks: of programs for these, the kernel skips those that an interrupt begins amid one.
options="-q -e lock:rate=0,min=0s --attach lock=futex -o $T/a.obz"
no_losses() { is "losses" "$(q "SELECT source, cause, count FROM loss WHERE cause NOT LIKE 'mappings %'")" ""; }
recorded() { # COMMAND...
	"$OBREC" $options -- "$@"
	no_losses
}

# Functions with names as rustc 1.95 gives them, in both of its forms.
cat >"$T/rust.c" <<'P'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
static int word;
#define WAITS(name, symbol, times)                                                                                   \
	void name(void) __asm__(symbol);                                                                             \
	__attribute__((noinline)) void name(void)                                                                    \
	{                                                                                                            \
		struct timespec short_time = {0, 1000000};                                                           \
		for (volatile int i = 0; i < times; i++)                                                             \
			syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &short_time);                               \
	}
WAITS(a, "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync5mutex5futexNtB2_5Mutex14lock_contended", 3)
WAITS(b, "_ZN3std3sys4sync5mutex5futex5Mutex14lock_contended17h0123456789abcdefE", 4)
WAITS(c, "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync6rwlock5futexNtB2_6RwLock14read_contended", 5)
WAITS(d, "_ZN3std3sys4sync6rwlock5futex6RwLock15write_contended17h0123456789abcdefE", 6)
WAITS(e, "_RNvMNtNtNtNtCsjrHSEGnQ3l9_3std3sys4sync7condvar5futexNtB2_7Condvar4wait", 7)
WAITS(f, "_ZN3std4sync4mpmc4list16Channel$LT$T$GT$4recv17ha155d1c5a320627aE", 8)
WAITS(g, "_ZN3std6thread4park17h0123456789abcdefE", 9)
WAITS(h, "_ZN11parking_lot9raw_mutex8RawMutex9lock_slow17h0123456789abcdefE", 10)
WAITS(i, "_ZN11parking_lot10raw_rwlock9RawRwLock16lock_shared_slow17h0123456789abcdefE", 11)
/* Of the JVM. */
WAITS(j, "_ZN14PosixSemaphore4waitEv", 12)
WAITS(k, "_ZN16LinuxWaitBarrier4waitEi", 13)
WAITS(l, "_ZN13ObjectMonitor6EnterIEP10JavaThread", 14)
int main(void)
{
	char go;

	if (read(0, &go, 1) != 1) return 1;
	a(), b(), c(), d(), e(), f(), g(), h(), i(), j(), k(), l();
	return 0;
}
P
if command -v cc >/dev/null; then
	cc -O1 -o "$T/rust" "$T/rust.c"
	start_held "$T/rust"
	obrec_start -p $held $options # it waits at once: before that obrec must know where its functions are
	let_go
	obrec_wait
	is "exit" $status 0
	no_losses
	is "waits by what they are for" "$(shown lock-purpose | awk -F, '{print $1 "," $5 "," $6}' | LC_ALL=C sort | xargs -d '\n')" \
		"12,idle,Java VM semaphore 13,contention,Java safepoint 14,contention,Java monitor 17,contention,mutex 22,contention,rwlock 7,idle,condition variable 8,idle,Rust channel 9,,Rust park"
	is "who waits" "$(shown lock-contended | awk -F, '{print $NF}' | sort -u)" main
else
	echo "no C compiler"
fi

command -v python3 >/dev/null || skip "ok so far; needs python3"
cat >"$T/threads.py" <<'P'
import queue, threading, time
work = queue.Queue()
def idle():
    while work.get(): pass
def compute(end=time.process_time() + 1):
    n = 0
    while time.process_time() < end:
        for i in range(1000): n += i * i
worker = threading.Thread(target=idle)
worker.start()
computing = [threading.Thread(target=compute) for _ in range(3)]
for t in computing: t.start()
for t in computing: t.join()
work.put(None)
worker.join()
P
recorded python3 "$T/threads.py"
[ "$(q "SELECT count(*) > 0 FROM function WHERE name LIKE 'take_gil%'")" = 1 ] || skip "ok so far; python's functions have no names here"
# Each of the three is made to give it up every 5 ms.
within "waits for the interpreter's lock" "$(shown lock-purpose --where "\"for\" = 'Python GIL'" | awk -F, '$5 == "contention" {print $1}')" 20 1000000
within "waits for locks of Python, which say nothing" "$(shown lock-purpose --where "\"for\" = 'Python lock'" | awk -F, '$5 == "" {print $1}')" 2 1000000
is "which are not contention" "$(shown lock-contended --limit 1000 | grep -c 'Python lock\|semaphore')" 0
is "who waits for it" "$(shown lock-contended --limit 1000 | awk -F, '$7 == "Python GIL" {print $NF}' | grep -c 'PyCOND\|PyThread\|take_gil')" 0
