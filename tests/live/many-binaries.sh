# Ever new programs, each for some milliseconds: memory goes with those of the last seconds and not with how many there were, each is
# named and unwound as the first was, and one that comes back is the same. (record_forget counts the bytes.)
# alone: needs all of the machine
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
command -v cc >/dev/null || skip "needs a compiler"
N=80
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
# The same code under ever new build-ids: each runs until it has used 4 ms of CPU, every tenth 100 ms: long enough to be known and
# sampled in its own code on any machine; 20 a second at most, so that any can make their tables in time.
import os, subprocess, sys, time
program, at, pace = sys.argv[1], sys.argv[2], 1 / 20
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
    while int(open(f"/proc/{pid}/schedstat").read().split()[0]) < (4e6 if n % 10 else 100e6):
        time.sleep(0.001)
    os.kill(pid, 9)
    os.waitpid(pid, 0)

for line in sys.stdin: # FIRST COUNT
    first, count = map(int, line.split())
    for n in range(first, first + count):
        begin = time.monotonic()
        run(n, at + "/p%d" % n)
        os.unlink(at + "/p%d" % n)
        time.sleep(max(0, pace - (time.monotonic() - begin)))
    print("ran", flush=True)
PY
mkdir "$T/bin"
coproc BREED { exec python3 "$T/breed.py" "$T/large" "$T/bin"; }
pids+=($BREED_PID)
breed() { echo "$1 $2" >&"${BREED[1]}"; read -r -t 300 <&"${BREED[0]}" || fail "the programs did not run"; }
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
    if "map_id" in f and int(f.get("map_type", 0)) != 27 and not int(f["map_flags"], 16) & 0x400: # rings are mapped
        maps[f["map_id"]] = int(f["memlock"])
rss = [int(l.split()[1]) << 10 for l in open(f"/proc/{pid}/status") if l.startswith("VmRSS")][0]
print((rss + sum(maps.values())) >> 20)
PY
}
obrec_start -p $BREED_PID -F 999 -e cpu -o "$T/m.obz"
start=$(size $obrec)
fds=$(ls /proc/$obrec/fd | wc -l) # rings and events of each CPU among them
# What ended is remembered for 3 s, a table rests for a second, and each second is looked for what can go.
for i in 0 1 2 3 4; do
	breed $((i * N + 1)) $N; sleep 6
	echo "$(size $obrec) MiB after $(((i + 1) * N)) binaries; $start before"
done
end=$(size $obrec)
breed 1 10 # those again
fds=$(($(ls /proc/$obrec/fd | wc -l) - fds))
kill -INT $obrec; obrec_wait
is "exit" $status 0
tail -n 1 "$T/obrec.err"
# 320 KiB for each were 125 MiB. 48 that are idle are kept, those of two rounds may be there at once; obrec itself needs some.
within "MiB at the end" "$end" 10 2000
within "KiB more, a binary" $(((end - start) * 1024 / (5 * N))) -250 250
# For symbols those of 100 stay open, two each; kept for all they were 885 and more.
within "descriptors more than at the start" "$fds" 0 700
is "binaries that are two" "$(sql "$T/m.obz" "SELECT count(*) - count(DISTINCT build_id) FROM binary WHERE path LIKE '$T/bin/%'")" 0
# A program that is new runs for a moment before its mappings are published and its table is built.
of="FROM sample JOIN stack ON stack.id = stack_id JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id WHERE exe LIKE '$T/bin/%'"
known="$of AND ifnull(error, '') NOT IN ('process not known yet', 'address in no known mapping')"
within "programs with samples, of $((5 * N + 10))" "$(sql "$T/m.obz" "SELECT count(DISTINCT process_id) $known")" 20 $((5 * N + 10))
within "complete stacks of them, %" "$(sql "$T/m.obz" "SELECT 100.0 * total((ifnull(error, '') = '') * count) / total(count) $known")" 95 100
in_program() { echo "stack.id IN (SELECT stack_id FROM stack_frame JOIN frame ON frame.id = frame_id JOIN function ON function.id = function_id JOIN binary ON binary.id = frame.binary_id WHERE binary.path LIKE '$T/bin/%' AND function.name LIKE '$1')"; }
within "of those in the program's own code, in burn, %" "$(sql "$T/m.obz" "SELECT 100.0 * total(count * ($(in_program burn%))) / total(count * ($(in_program %))) $known")" 90 100
