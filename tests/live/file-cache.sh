# Page cache: reads of files of which mincore() tells how much is cached: pages read and pages missed are those of the load's account, in
# order with read-ahead and not, again, by sendfile and copy_file_range, on overlayfs too, and by threads without a slot of their own.
# Direct reads and files of /proc are no accesses; page faults are counted by device.
# alone: changes what the whole host uses
. tests/live/lib.inc
grep -q '^file .* yes' "$T/list" || skip "no probe 'file': $(grep '^file ' "$T/list")"
[ "$(stat -f -c %T "$T")" != tmpfs ] || skip "the files of $T stay in memory"
cat >"$T/cached.py" <<'PY'
# cached.py DIR: a line "NAME accessed PAGES missed PAGES" or "NAME dirtied PAGES" of each file, as the probe's cells should have them
import ctypes, mmap, os, sys
PAGE, PAGES = mmap.PAGESIZE, 500
libc = ctypes.CDLL(None, use_errno=True)
os.chdir(sys.argv[1])

def resident(fd):
    size = PAGES * PAGE
    with mmap.mmap(fd, size) as m:
        at = ctypes.c_char.from_buffer(m)
        vec = (ctypes.c_ubyte * PAGES)()
        assert libc.mincore(ctypes.c_void_p(ctypes.addressof(at)), ctypes.c_size_t(size), vec) == 0
        del at
    return sum(v & 1 for v in vec)

def cold(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
    os.pwrite(fd, bytes(PAGES * PAGE), 0)
    os.fsync(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    os.rename(name, name + "-read") # the reads are of another name than the write
    return os.open(name + "-read", os.O_RDWR)

def told(name, accessed, missed):
    print(name + "-read", "accessed", accessed, *(["missed", missed] if missed else []))

def read_all(fd, size):
    return sum(-(-len(os.pread(fd, size, at)) // PAGE) for at in range(0, PAGES * PAGE, size))

fd = cold("in-order")
missed = PAGES - resident(fd)
told("in-order", read_all(fd, PAGE), missed)

fd = cold("large")
missed = PAGES - resident(fd)
told("large", read_all(fd, 10 * PAGE), missed)

fd = cold("again")
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
missed = PAGES - resident(fd)
told("again", read_all(fd, PAGE) + read_all(fd, PAGE) + read_all(fd, 10 * PAGE), missed)

fd = cold("bytes")
missed = PAGES - resident(fd)
told("bytes", sum(len(os.pread(fd, 2, at)) for at in range(PAGE - 1, (PAGES - 1) * PAGE, PAGE)) + 1, missed)
os.pread(fd, 1, 0)

for name, copy in ("sent", lambda a, b: os.sendfile(b, a, 0, PAGES * PAGE)), ("copied", lambda a, b: os.copy_file_range(a, b, PAGES * PAGE, 0)):
    fd, to = cold(name), os.open(name + "-to", os.O_WRONLY | os.O_CREAT, 0o600)
    missed = PAGES - resident(fd)
    assert copy(fd, to) == PAGES * PAGE
    to2 = os.open(name + "-again", os.O_WRONLY | os.O_CREAT, 0o600)
    assert copy(fd, to2) == PAGES * PAGE
    told(name, 2 * PAGES, missed)
    print(name + "-to dirtied", PAGES)
    print(name + "-again dirtied", PAGES)

fd = cold("direct")
try:
    direct = os.open("direct-read", os.O_RDONLY | os.O_DIRECT)
    os.preadv(direct, [mmap.mmap(-1, PAGE)], 0)
except OSError as e:
    print("no direct reads:", e, file=sys.stderr)

fd = cold("mapped")
missed = PAGES - resident(fd)
with mmap.mmap(fd, PAGES * PAGE) as m:
    sum(m[at] for at in range(0, PAGES * PAGE, PAGE))
print(missed, file=sys.stderr)
open("/proc/self/status").read()
PY
# cells ARCHIVE DIR: its files, as the account tells them
cells() {
	sql "$1" "SELECT replace(part(x.key, s.keys, 'file'), '$2/', '') || ' ' || group_concat(part(x.key, s.keys, 'event') || ' ' || x.pages, ' ') FROM
		(SELECT capture_id, probe, series, key, sum(sum) AS pages FROM counter WHERE probe = 'file' AND series = 'cache' GROUP BY key ORDER BY key) x
		JOIN series s USING (capture_id, probe, series) WHERE x.key LIKE '%$2/%' AND x.key NOT LIKE 'bash%' GROUP BY part(x.key, s.keys, 'file')" | LC_ALL=C sort
}
judged() { # WHAT DIR
	"$OBREC" -q -e file --debuginfo none -o "$T/c.obz" -- python3 "$T/cached.py" "$2" >"$T/account" 2>"$T/err" || { cat "$T/err"; fail "$1"; }
	is "$1" "$(cells "$T/c.obz" "$2" | grep -E -- '-(read|to|again) ' | xargs -d '\n')" "$(LC_ALL=C sort "$T/account" | xargs -d '\n')"
	within "$1: added by page faults" "$(sql "$T/c.obz" "SELECT total(sum) FROM counter WHERE probe = 'file' AND series = 'cache' AND key LIKE '%added%(device%'")" "$(tail -n 1 "$T/err")" 1e9
	is "$1: of /proc" "$(sql "$T/c.obz" "SELECT count(*) FROM counter WHERE probe = 'file' AND series = 'cache' AND key LIKE '%/status'")" 0
	is "$1: losses" "$(lost "$T/c.obz")" 0
}
mkdir "$T/d"
judged "plain files" "$T/d"
for name in cachestat file-cache-files; do "$OBANA" show $name "$T/c.obz" >"$T/shown" && grep -q '^HITS  MISSES' "$T/shown" || { cat "$T/shown"; fail "show $name"; }; done

# ---- two processes of one slot: their numbers differ by a multiple of 8192
cat >"$T/slots.py" <<'PY'
import os, sys
for n in range(1, 200):
    with open("/proc/sys/kernel/ns_last_pid", "w") as f: f.write(str((os.getpid() + 8192 * n) % int(open("/proc/sys/kernel/pid_max").read()) - 1))
    pid = os.fork()
    if not pid:
        if os.getpid() % 8192 != os.getppid() % 8192: os._exit(3)
        fd = os.open(sys.argv[1], os.O_RDONLY)
        for i in range(100): os.pread(fd, 10, 0)
        os._exit(0)
    if os.waitpid(pid, 0)[1] == 0: sys.exit(0)
sys.exit(77)
PY
echo 0123456789 >"$T/d/slot"
if "$OBREC" -q -e file:min=0s,rate=0 --debuginfo none -o "$T/c.obz" -- python3 "$T/slots.py" "$T/d/slot" 2>"$T/err"; then
	is "without a slot" "$(sql "$T/c.obz" "SELECT sum(count), sum(sum) FROM counter WHERE probe = 'file' AND series = 'bytes' AND key LIKE '%/slot'")" 100,1000
	is "losses" "$(lost "$T/c.obz")" 0
else
	cat "$T/err"; echo "processes cannot be numbered here"
fi

mkdir -p "$T/o/lower" "$T/o/upper" "$T/o/work" "$T/o/merged"
mount -t overlay overlay -o lowerdir="$T/o/lower",upperdir="$T/o/upper",workdir="$T/o/work" "$T/o/merged" 2>"$T/err" || skip "ok so far; no overlayfs: $(cat "$T/err")"
trap 'umount "$T/o/merged"; cleanup' EXIT
judged "overlayfs" "$T/o/merged"
