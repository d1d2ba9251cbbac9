# Probe host against /proc itself: what it counted is at least what two looks inside the capture differ by, and at most what two looks
# around it do, for the host's CPU, activity, pressure, disks and interfaces, for a process of known use and for its cgroup, throttled or not.
# Its constant values (threads, descriptors) are exact, other processes are left out. vmstat -s is a peer of the same looks.
# alone: what it compares with counts the whole host
. tests/live/lib.inc
grep -q '^host .* yes' "$T/list" || skip "no probe 'host': $(grep '^host ' "$T/list")"
cat >"$T/load.py" <<'PY'
import ctypes, os, socket, sys, threading, time
held = [os.open("/dev/null", os.O_RDONLY) for _ in range(37)]
wait = threading.Event()
for _ in range(4): threading.Thread(target=wait.wait, daemon=True).start()
print(len(os.listdir("/proc/self/fd")) - 1, flush=True)
sys.stdin.readline()
out, to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to.bind(("127.0.0.1", 0))
for i in range(1000): out.sendto(b"x" * 100, to.getsockname()); to.recv(100)
out.close(); to.close()
memory = bytearray(64 << 20)
while time.process_time() < 1: pass
ctypes.CDLL(None).prctl(15, b"renamed\tload")
while time.process_time() < 2: pass
print("worked", flush=True)
sys.stdin.readline()
PY
# look FILE PID CGROUP-DIR: lines "series<TAB>key value", read without obrec
cat >"$T/look.py" <<'PY'
import os, subprocess, sys
pid, cgroup = sys.argv[1:3]
tick = 10**9 // os.sysconf("SC_CLK_TCK")
def put(series, key, count, total): print(series, key.replace("\t", "/"), count, total, sep="\t")
def lines(path):
    try: return open(path).read().splitlines()
    except OSError: return []
for l in lines("/proc/stat"):
    f = l.split()
    if f[0] == "cpu":
        v = [int(n) for n in f[1:]]
        for name, n in zip("system irq softirq steal".split(), (v[2], v[5], v[6], v[7])): put("cpu", name, 0, n * tick)
        put("cpu", "user", 0, (v[0] - v[8]) * tick)
for l in lines("/proc/vmstat"):
    name, n = l.split()
    if name in ("pgfault", "pgmajfault", "pgpgin", "pgpgout", "pswpin", "oom_kill"): put("activity", name, n, 0)
for l in subprocess.run(["vmstat", "-s"], stdout=subprocess.PIPE, text=True).stdout.splitlines():
    n, _, name = l.strip().partition(" ")
    if name in ("interrupts", "CPU context switches", "forks"):
        put("activity", {"interrupts": "intr", "CPU context switches": "ctxt", "forks": "processes"}[name], n, 0)
for what in ("cpu", "memory", "io"):
    for l in lines("/proc/pressure/" + what):
        put("pressure", what + "/" + l.split()[0], 0, int(l.rsplit("=", 1)[1]) * 1000)
for l in lines("/proc/diskstats"):
    f = l.split()
    if not os.path.exists("/sys/block/" + f[2]): continue
    put("disk", f[2] + "/read", f[3], int(f[5]) * 512)
    put("disk", f[2] + "/write", f[7], int(f[9]) * 512)
for l in lines("/proc/net/dev")[2:]:
    name, f = l.split(":")[0].strip(), l.split(":")[1].split()
    put("net", name + "/received", f[1], f[0])
    put("net", name + "/sent", f[9], f[8])
stat = lines("/proc/%s/stat" % pid)
if stat:
    f = stat[0].rsplit(")", 1)[1].split()
    put("process_cpu", pid + "/user", 0, int(f[11]) * tick)
    put("process_cpu", pid + "/system", 0, int(f[12]) * tick)
    put("process_faults", pid + "/minor", f[7], 0)
for l in lines(cgroup + "/cpu.stat"):
    name, n = l.split()
    if name == "nr_periods": put("periods", "all", n, 0)
    if name == "nr_throttled": throttled = n
    if name in ("throttled_time", "throttled_usec"): put("periods", "throttled", throttled, int(n) * (1000 if name[-1] == "c" else 1))
PY
look() { python3 "$T/look.py" $load "${cgroup:-/nowhere}" >"$T/$1"; }

# a cgroup that is throttled at first, where the machine lets this make one; even beside many others a loop gets 2 ms in 100
cgroup=
quota() { if [ -e "$cgroup/cpu.max" ]; then echo "$1 100000" >"$cgroup/cpu.max"; else echo "${1/max/-1}" >"$cgroup/cpu.cfs_quota_us"; fi || fail quota; }
throttled() { awk '/^nr_throttled/ {print $2}' "$cgroup/cpu.stat"; }
throttled_since() { [ $(throttled) -ge $(($1 + 3)) ]; }
if grep -q ' /sys/fs/cgroup/cpu cgroup ' /proc/mounts; then cgroup=/sys/fs/cgroup/cpu/obrec-test-$$
elif grep -qw cpu /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then cgroup=/sys/fs/cgroup/obrec-test-$$; fi
if [ -n "$cgroup" ] && mkdir "$cgroup" 2>/dev/null; then
	trap 'cleanup; rmdir "$cgroup"' EXIT
	quota 2000
else cgroup=; fi

mkfifo "$T/go" "$T/did"
sleep 1000 & pids+=($!) other=$!
python3 "$T/load.py" <"$T/go" >"$T/did" & load=$!
pids+=($load)
exec 8>"$T/go" 7<"$T/did"
[ -z "$cgroup" ] || echo $load >"$cgroup/cgroup.procs"
read -r descriptors <&7
look 1
obrec_start -p $load -o "$T/h.obz" -e host
# On a busy machine the first reading is done behind the start.
has_read() { [ "$(sql "$T/h.obz" "SELECT count(*) FROM counter WHERE series = 'process_memory'")" -gt 0 ]; }
eventually "a reading before the load" has_read
look 2
[ -z "$cgroup" ] || before=$(throttled)
echo >&8
[ -z "$cgroup" ] || { eventually "throttled" throttled_since "$before"; quota max; }
read -r -t 60 <&7 || fail "no load"
look 3
obrec_stop
look 4
echo >&8
sql "$T/h.obz" "SELECT series, CASE WHEN series LIKE 'process%' THEN substr(key, instr(key, char(9)) + 1) WHEN series = 'cgroup_periods' THEN
	substr(key, instr(key, char(9)) + 1) ELSE key END AS k, sum(count), sum(sum), count(*) FROM counter WHERE probe = 'host' GROUP BY 1, 2" >"$T/counted"
python3 - "$T" $load <<'PY' || fail "not what /proc says"
import csv, sys
at, pid = sys.argv[1:3]
def look(n):
    rows = (l.rstrip("\n").split("\t") for l in open("%s/%d" % (at, n)))
    return {(s, k): (int(c), int(t)) for s, k, c, t in rows}
looks = [look(n) for n in (1, 2, 3, 4)]
got = {(s, k.replace("\t", "/")): (int(c), int(t)) for s, k, c, t, _ in csv.reader(open(at + "/counted"))}
bad, checked, moved = 0, 0, set()
for key, last in looks[3].items():
    if not all(key in l for l in looks): continue
    mine = got.get(("cgroup_periods" if key[0] == "periods" else key[0], key[1]), (0, 0))
    for i, what in enumerate(("count", "sum")):
        least, most = looks[2][key][i] - looks[1][key][i], last[i] - looks[0][key][i]
        checked += 1
        if least > 0: moved.add(key)
        if not least <= mine[i] <= most:
            bad += 1
            print("WRONG:", key, what, mine[i], "not from", least, "to", most)
for key in (("cpu", "user"), ("activity", "ctxt"), ("activity", "pgfault"), ("net", "lo/sent"), ("process_cpu", pid + "/user"), ("process_faults", pid + "/minor")):
    if key not in moved: bad += 1; print("WRONG: nothing moved:", key)
print("ok: %d values, %d of them moved" % (checked, len(moved)))
sys.exit(bad > 0)
PY
[ -z "$cgroup" ] && echo "no cgroup to throttle" || is "the cgroup was throttled" "$(sql "$T/h.obz" "SELECT sum(count) >= 3 AND sum(sum) > 0 AS is_throttled
	FROM counter WHERE series = 'cgroup_periods' AND key LIKE '%throttled'")" 1
values() { sql "$T/h.obz" "SELECT min(sum), max(sum) FROM counter WHERE series = 'process_objects' AND key LIKE '%$1'"; }
is "its threads" "$(values threads)" 5,5
is "its descriptors, before the sockets and after" "$(sql "$T/h.obz" "SELECT sum FROM counter WHERE series = 'process_objects' AND key LIKE '%descriptors' ORDER BY start_ns DESC LIMIT 1")" "$descriptors"
# The kernel adds up the pages of each CPU, 32 at a time, or twice as many as there are CPUs.
cpus=$(nproc --all)
slack=$((cpus * (cpus > 16 ? 2 * cpus : 32) * $(getconf PAGESIZE)))
within "its memory grew by 64 MiB" "$(sql "$T/h.obz" "SELECT max(sum) - min(sum) FROM counter WHERE series = 'process_memory'")" $(((64 << 20) - slack)) $(((70 << 20) + slack))
is "processes" "$(sql "$T/h.obz" "SELECT DISTINCT part(key, 'process' || char(9) || 'pid', 'pid') FROM counter WHERE series LIKE 'process%'")" $load
is "names without tabs" "$(sql "$T/h.obz" "SELECT DISTINCT part(key, 'process' || char(9) || 'pid', 'process') FROM counter WHERE series = 'process_memory' ORDER BY start_ns DESC LIMIT 1")" "renamed?load"
is "memory of the host" "$(sql "$T/h.obz" "SELECT max(sum) FROM counter WHERE series = 'memory' AND key = 'MemTotal'")" $(($(awk '/^MemTotal/ {print $2}' /proc/meminfo) * 1024))
"$OBANA" report "$T/h.obz" | grep -q '^Host: use and pressure' || fail "no section"
is "losses" "$(lost "$T/h.obz" "source = 'host'")" 0
