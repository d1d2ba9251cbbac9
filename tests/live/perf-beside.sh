#!/bin/bash
# Others who count with perf at the same tracepoints as obrec lose nothing: `perf stat` counts the same with and without it.
# alone: what it compares with counts the whole host
. tests/live/lib.inc
command -v perf >/dev/null || skip "needs perf"
mountpoint -q /sys/kernel/tracing || skip "needs tracefs"

cat >"$T/load.py" <<'END'
import ctypes, mmap, os, socket
libc = ctypes.CDLL(None)
for i in range(100):
    os.close(os.open("/dev/null", os.O_RDONLY))
    m = mmap.mmap(-1, 1 << 20); m.madvise(mmap.MADV_DONTNEED); m.close()
    s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen(1)
    c = socket.socket(); c.connect(s.getsockname()); c.close(); s.close()
    libc.umount2(b"/nowhere", 0)
    libc.syscall(202, ctypes.byref(ctypes.c_int(1)), 0, 0, 0, 0, 0)  # FUTEX_WAIT for a value that is not there
for i in range(10):
    pid = os.fork()
    if not pid:
        os.execv("/bin/true", ["true"])
    os.waitpid(pid, 0)
END
events=sched:sched_process_exit,sched:sched_process_exec,raw_syscalls:sys_enter,raw_syscalls:sys_exit
for call in openat mmap munmap madvise bind listen connect umount futex execve; do
	events+=,syscalls:sys_enter_$call,syscalls:sys_exit_$call
done
[ "$(uname -m)" = x86_64 ] || skip "the load has system call numbers of x86-64"

# counted NAME: what perf counts of the load. Calls whose number depends on how threads meet or addresses fall are none of these.
counted() {
	PYTHONHASHSEED=0 perf stat -x, -o "$T/$1.csv" -e $events -- setarch -R /usr/bin/python3 -S "$T/load.py" >"$T/$1.log" 2>&1 || skip "perf cannot count here: $(tail -n 1 "$T/$1.csv")"
	awk -F, 'NF > 3 {print $3, $1}' "$T/$1.csv" >"$T/$1"
}
counted first # fills Python's and the page cache
counted without
[ "$(awk '$2 >= 10' "$T/without" | wc -l)" = 24 ] || { cat "$T/without"; fail "perf did not count each of the 24 events"; }
obrec_start -a -e syscall,open,exec,bind,mount,mem,lock,file,tcp,reclaim,func:$WORKLOAD/naps:main -o "$T/cap.obz"
counted beside
obrec_stop
diff "$T/without" "$T/beside" || fail "perf counts differently beside obrec"
"$OBANA" query "SELECT count(*) >= 100 FROM open WHERE path = '/dev/null'" "$T/cap.obz" --csv | grep -q 1 || fail "obrec did not see the load"
