# Python: threads that compute wait for the interpreter's lock, which is contention; a worker without work, and who joins, wait for
# locks of Python as well, and are not shown as contending.
. tests/live/lib.inc
grep -q '^lock .* yes' "$T/list" || skip "no probe 'lock': $(grep '^lock ' "$T/list")"
command -v python3 >/dev/null || skip "needs python3"
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
"$OBREC" -q -e lock:rate=0,min=0s -o "$T/a.obz" -- python3 "$T/threads.py"
is "losses" "$(lost "$T/a.obz" "cause NOT LIKE 'mappings %'")" 0
q() { sql "$T/a.obz" "$1"; }
[ "$(q "SELECT count(*) > 0 FROM function WHERE name LIKE 'take_gil%'")" = 1 ] || skip "python's functions have no names here"
shown() { "$OBANA" show $1 "$T/a.obz" --csv "${@:2}" | tail -n +2 | tr -d '"'; }
# Each of the three is made to give it up every 5 ms.
within "waits for the interpreter's lock" "$(shown lock-purpose --where "\"for\" = 'Python GIL'" | awk -F, '$5 == "contention" {print $1}')" 20 1000000
within "waits for locks of Python, which say nothing" "$(shown lock-purpose --where "\"for\" = 'Python lock'" | awk -F, '$5 == "" {print $1}')" 2 1000000
is "which are not contention" "$(shown lock-contended --limit 1000 | grep -c 'Python lock\|semaphore')" 0
is "who waits for it" "$(shown lock-contended --limit 1000 | awk -F, '$7 == "Python GIL" {print $NF}' | grep -c 'PyCOND\|PyThread\|take_gil')" 0
