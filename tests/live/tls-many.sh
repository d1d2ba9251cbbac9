# Ever new TLS libraries, each in use for a moment: the probes of those that nobody maps any more are let go, and with them the file,
# whose place on the disk they keep; one that comes back is attached to again.
. tests/live/lib.inc
for c in openssl python3 readelf; do command -v $c >/dev/null || skip "needs $c"; done
grep -q '^tls .*yes.*yes' "$T/list" || skip "no uprobes here"
lib=$(ldd "$(command -v openssl)" | awk '/libssl/ {print $3}')
[ -e "$lib" ] || skip "openssl is not linked to libssl"
N=120
cat >"$T/breed.py" <<'PY'
# libssl under another build-id for each number of a line of stdin; a program that maps it, until obrec has attached, at most 10 s
import os, subprocess, sys, time
lib, at, log = sys.argv[1:]
name = os.path.basename(lib)
data = bytearray(open(lib, "rb").read())
notes = subprocess.run(["readelf", "-n", lib], capture_output=True, text=True).stdout
where = data.index(bytes.fromhex(notes.split("Build ID: ")[1].split()[0]))
def attached(path):
    return sum(path + ": SSL_free at " in line for line in open(log, errors="replace"))
for line in sys.stdin:
    for n in range(*map(int, line.split())):
        os.makedirs(f"{at}/{n}", exist_ok=True)
        path = f"{at}/{n}/{name}"
        data[where:where + 4] = n.to_bytes(4, "little")
        before = attached(path)
        open(path, "wb").write(data)
        p = subprocess.Popen(["openssl", "dgst"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=os.environ | {"LD_LIBRARY_PATH": f"{at}/{n}"})
        until = time.monotonic() + 10
        while attached(path) == before and time.monotonic() < until:
            time.sleep(0.01)
        p.communicate()
        os.unlink(path)
    print("ran", flush=True)
PY
mkdir "$T/lib"
coproc BREED { exec python3 "$T/breed.py" "$lib" "$T/lib" "$T/obrec.err"; }
pids+=($BREED_PID)
breed() { echo "$1 $2" >&"${BREED[1]}"; read -r -t 300 <&"${BREED[0]}" || fail "the programs did not run"; }
uprobes() { for p in $(cat /proc/$obrec/task/*/children); do [ "$(cat /proc/$p/comm)" != obrec-uprobes ] || echo $p; done; } # obrec's process that holds them
links() { ls -l /proc/$(uprobes)/fd | grep -cE 'bpf[-_]link|perf_event' || true; }
attached() { grep -c "$T/lib/$1/.*: SSL_free at " "$T/obrec.err" || true; }
few() { [ $((($(links) - before) / each)) -le 60 ]; }
: >"$T/obrec.err"
obrec_start -v -p $BREED_PID -e l4,tls --debuginfo none -o "$T/m.obz"
before=$(links); breed 1 2; each=$(($(links) - before))
within "links of one library" $each 2 200
breed 2 $N; sleep 5 # what ended is remembered for 3 s
breed $N $((N + 1)) # a new one makes obrec look for what can go
is "libraries attached to" "$(grep -c "SSL_free at " "$T/obrec.err")" $N
# 48 files that nobody maps are remembered, a few of them other ones.
eventually "links are let go: $(links) are there, $before before, $each a library" few
echo "ok: $(links) links after $N libraries, $before before, $each a library"
is "the first, attached to" "$(attached 1)" 1
breed 1 2
is "the first, back" "$(attached 1)" 2
obrec_stop
is "losses" "$(lost "$T/m.obz" "source = 'tls'")" 0
