# Waits on futexes: what they are for and who waits, by the functions on their stacks; the time is that of all waits, by their samples,
# beside tables of the waits that have rows. A function of the program's own decides nothing, whatever its name.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
# Samples: ms and the functions from the leaf on. Kind 10: the owner is known, 11: not
python3 - >locks.obt <<'END'
samples = """
10 4000 futex_wait;__lll_lock_wait;pthread_mutex_lock;hot_path;main
10 3 futex_wait;__lll_lock_wait;pthread_mutex_lock;rare_path;main
11 90 __futex_abstimed_wait64;pthread_rwlock_rdlock@GLIBC_2.34;run_pthread_join_queue;main
11 80 syscall;idle_worker_pthread_cond_wait;main
10 70 __lll_lock_wait;pthread_mutex_lock;clone_table;main
10 60 __lll_lock_wait;pthread_mutex_lock;Widget::clone();main
10 50 __lll_lock_wait;pthread_mutex_lock;Monitor::poll();main
10 45 __lll_lock_wait;pthread_mutex_lock;std::mutex::lock();std::string copy_of<int>(int);main
10 44 __lll_lock_wait;pthread_mutex_lock;std::vector<std::pair<int, int> > rows_of<int>(int);main
11 40 __lll_lock_wait_private;_int_free;free;release_all;main
11 39 __lll_lock_wait_private;helper;main
11 38 syscall;__cxa_guard_acquire;init_static();main
11 37 __pthread_once_slow;std::call_once<f>(std::once_flag&);use_once();main
11 36 __futex_lock_pi64;pthread_mutex_lock;with_priority;main
11 35 syscall;void std::__detail::__platform_wait<int>(int const*, int);std::__atomic_semaphore::_M_acquire();take();main
11 34 syscall;void std::__detail::__platform_wait<int>(int const*, int);std::latch::wait() const;take();main
11 33 syscall;void std::__detail::__platform_wait<int>(int const*, int);std::__atomic_base<int>::wait(int) const;take();main
11 32 __futex_abstimed_wait64;pthread_mutex_clocklock;bool std::__timed_mutex_impl<std::timed_mutex>::_M_try_lock_for<long>(long);use_timed(std::timed_mutex&);main
11 900 __futex_abstimed_wait64;sem_wait;idle_pool;main
11 800 __futex_abstimed_wait64;pthread_cond_wait;idle_pool;main
11 700 __futex_abstimed_wait64;pthread_barrier_wait;idle_pool;main
11 31 syscall;std::sys::sync::once::futex::Once::call;app::wait_once;main
11 30 rb_native_cond_wait;rb_mutex_lock;in_ruby;main
""".split("\n")[1:-1]
print('header {"host":"h","started_at_ns":1700000000000000000,"clock":{"monotonic_ns":5000000000,"realtime_ns":1700000000000000000},"probes":["lock"],"options":{}}')
print("process id=1 pid=100 comm=server exe=/usr/bin/server\nthread id=1 process=1 tid=100 comm=server\nthread id=2 process=1 tid=101 comm=server")
print('binary id=2 path="[jit 100]"')
at = {}
for nr, line in enumerate(samples, 1):
    kind, ms, names = line.split(" ", 2)
    frames = []
    for name in names.split(";"):
        if name not in at:
            at[name] = 0x1000 + 0x100 * len(at)
            print('symbol binary=2 address=%#x size=0x100 name="%s"' % (at[name], name))
        frames.append("2:%x" % (at[name] + 16))
    print("stack id=%d frames=%s" % (nr, ",".join(frames)))
    print("sample kind=%s ts_ns=6000000000 thread=1 user_stack=%d count=%d value=%d" % (kind, nr, max(int(ms) // 2, 1), int(ms) * 1000000))
for address, stack, owner, ms, operation in ((0x20, 2, 101, 3, "wait"), (0x10, 1, 101, 2, "wait"), (0x30, 3, 0, 90, "wait"), (0x40, 14, 101, 36, "lock_pi"), (0x50, 20, 0, 5, "wait_requeue_pi")):
    print("lock ts_ns=6100000000 thread=1 user_stack=%d address=%d operation=%s wait_ns=%d owner=%d" % (stack, address, operation, ms * 1000000, owner))
# Who holds for whom: 100 and 101 each other, 102 in line for that lock, 103 its own, 104 for somebody who runs
print("lock ts_ns=7000000000 thread=2 user_stack=2 address=96 operation=wait wait_ns=1500000000 owner=100 unfinished=1")
print("sample kind=10 ts_ns=7000000000 thread=2 user_stack=2 count=1 value=1500000000")
print("lock ts_ns=7000000000 thread=1 user_stack=1 address=80 operation=wait wait_ns=2000000000 owner=101 unfinished=1 before_ns=3600000000000")
print("lock_holder ts_ns=7000000000 thread=2 user_stack=2 waiter=100 address=80 wait_ns=2000000000 how=\"blocked at the end\"")
for thread, tid, owner in ((3, 102, 100), (4, 103, 103), (5, 104, 105)):
    print("thread id=%d process=1 tid=%d comm=other" % (thread, tid))
    print("lock ts_ns=7000000000 thread=%d user_stack=1 address=96 operation=wait wait_ns=1000000 owner=%d unfinished=1" % (thread, owner))
print("lock ts_ns=7000000000 thread=2 user_stack=20 address=97 operation=wait wait_ns=1000000000 unfinished=1")
print("series id=1 probe=lock name=events kind=counter keys=process")
print(r'series id=2 probe=lock name=ended kind=counter unit=ns keys="process\x09operation\x09result"')
print(r'cell ts_ns=6000000000 series=2 key="server\\x09wait\\x09woken" count=3000 sum=7200000000')
print('end {"complete":true,"stop_reason":"duration","duration_ns":2000000000}')
END
"$TOP/$B/tests/tools/mkobz" locks.obz <locks.obt || exit 1
for name in lock-stuck lock-purpose lock-callers lock-contended lock-longest; do echo "--- $name"; $obana show $name locks.obz; done
echo "--- how much of all waiting has rows"
$obana report locks.obz | grep ^Events
echo "--- a database has the same"
$obana query "SELECT kind, sum(count), sum(value) FROM futex_weight GROUP BY kind" locks.obz
