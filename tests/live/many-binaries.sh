# Ever new programs, each for some milliseconds: memory goes with those of the last seconds and not with how many there were, each is
# named and unwound as the first was, and one that comes back is the same. (record_forget counts the bytes.)
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
command -v cc >/dev/null || skip "needs a compiler"
N=${BINARIES:-70}
# 80,000 rows: its table takes 320 KiB
cat >"$T/large.c" <<'C'
static volatile unsigned long sink;
static __attribute__((noinline)) void burn(void)
{
	for (int i = 0; i < 100000; i++)
		sink += i;
}
int main(void)
{
	for (;;)
		burn();
}
__asm__(".text\n.rept 40000\n.cfi_startproc\nnop\n.cfi_adjust_cfa_offset 8\nnop\n.cfi_endproc\n.endr\n");
C
cc -O1 -g -Wl,--build-id -o "$T/large" "$T/large.c"
cat >"$T/breed.py" <<'PY'
# The same code under ever new build-ids: each runs until it has used 4 ms of CPU.
import os, subprocess, sys, time
program, at, count, pace = sys.argv[1], sys.argv[2], int(sys.argv[3]), 1 / 50
data = bytearray(open(program, "rb").read())
notes = subprocess.run(["readelf", "-n", program], capture_output=True, text=True).stdout
id = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])
where = data.index(id)
null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]

def run(n, path):
    data[where:where + 4] = n.to_bytes(4, "little")
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, 0o755)
    pid = os.posix_spawn(path, [path], os.environ, file_actions=null)
    while int(open(f"/proc/{pid}/schedstat").read().split()[0]) < 4e6:
        time.sleep(0.001)
    os.kill(pid, 9)
    os.waitpid(pid, 0)

for line in sys.stdin: # FIRST: `count` of them, from that number on
    first = int(line)
    for n in range(first, first + count):
        begin = time.monotonic()
        run(n, at + "/p%d" % n)
        os.unlink(at + "/p%d" % n)
        time.sleep(max(0, pace - (time.monotonic() - begin)))
    print("ran", flush=True)
PY
mkdir "$T/bin"
coproc BREED { exec python3 "$T/breed.py" "$T/large" "$T/bin" "$N"; }
pids+=($BREED_PID)
breed() { echo "$1" >&"${BREED[1]}"; read -r -t 300 <&"${BREED[0]}" || fail "the programs did not run"; }
# MiB resident, and locked by maps that are not mapped
size() {
	python3 - "$1" <<'PY'
import os, sys
pid, maps = sys.argv[1], {}
for fd in os.listdir(f"/proc/{pid}/fdinfo"):
    try:
        f = dict(l.split(":", 1) for l in open(f"/proc/{pid}/fdinfo/{fd}") if ":" in l)
    except FileNotFoundError:
        continue
    if "map_id" in f and int(f.get("map_type", 0)) != 27: # rings are mapped
        maps[f["map_id"]] = int(f["memlock"])
rss = [int(l.split()[1]) << 10 for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS")][0]
print((rss + sum(maps.values())) >> 20)
PY
}
obrec_start -p $BREED_PID -F 999 -e cpu -o "$T/m.obz"
# What ended is remembered for 3 s, a table rests for a second, and each second is looked for what can go. On a host so busy that
# this takes longer more room is taken, hence the wide bound. Some that are idle are kept; they came with the first.
generation() { breed "$1"; sleep 6; at=$(size $obrec); echo "$at MiB after those from $1 on"; }
generation 1
generation $((N + 1)); second=$at
generation $((2 * N + 1))
breed 1
fds=$(ls /proc/$obrec/fd | wc -l)
kill -INT $obrec; obrec_wait
is "exit" $status 0
tail -n 1 "$T/obrec.err"
within "KiB more for each binary" $(((at - second) * 1024 / N)) -1024 128
within "descriptors" "$fds" 10 400
is "binaries that are two" "$(sql "$T/m.obz" "SELECT count(*) - count(DISTINCT build_id) FROM binary WHERE path LIKE '$T/bin/%'")" 0
# A program that is new runs for a moment before its table is built.
of="FROM sample JOIN stack ON stack.id = stack_id JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id WHERE exe LIKE '$T/bin/%'"
known="$of AND ifnull(error, '') != 'process not known yet'"
within "programs with samples, of $((4 * N))" "$(sql "$T/m.obz" "SELECT count(DISTINCT process_id) $known")" $N $((4 * N))
within "complete stacks of them, %" "$(sql "$T/m.obz" "SELECT 100.0 * total((ifnull(error, '') = '') * count) / total(count) $known")" 95 100
within "of them in burn, %" "$(sql "$T/m.obz" "SELECT 100.0 * total(count * (stack_id IN (SELECT stack_id FROM stack_frame JOIN frame ON frame.id = frame_id JOIN function ON function.id = function_id JOIN binary ON binary.id = frame.binary_id WHERE function.name LIKE 'burn%' AND binary.path LIKE '$T/bin/%'))) / total(count) $known")" 80 100
