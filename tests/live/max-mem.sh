# --max-mem with processes that come and go and ever new binaries: what obrec has resident and what its maps lock, together, stay
# under it, the extractor of symbols included. Where it has not enough, the recording stops in order, and the archive says so.
# alone: needs all of the machine
. tests/live/lib.inc
command -v python3 >/dev/null || skip "needs python3"
BOUND=${MAX_MEM_MIB:-92}
# programs of their own: the same code under other build-ids
mkdir "$T/bin"
python3 - "$WORKLOAD/demo-static-pie" "$T/bin" <<'PY'
import os, subprocess, sys
data = bytearray(open(sys.argv[1], "rb").read())
notes = subprocess.run(["readelf", "-n", sys.argv[1]], capture_output=True, text=True).stdout
id = bytes.fromhex(notes.split("Build ID: ")[1].split()[0])
at = data.index(id)
for n in range(250):
    data[at:at + 4] = n.to_bytes(4, "little")
    path = os.path.join(sys.argv[2], "p%d" % n)
    open(path, "wb").write(data)
    os.chmod(path, 0o755)
PY
size() { # PID: MiB resident, and locked by maps that are not mapped, whichever descriptors they have
	python3 - "$1" <<'PY'
import os, sys
pid, maps, rss = sys.argv[1], {}, 0
try:
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmRSS"): rss = int(line.split()[1]) << 10
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        f = dict(l.split(":", 1) for l in open(f"/proc/{pid}/fdinfo/{fd}") if ":" in l)
        if "map_id" in f and int(f.get("map_type", 0)) != 27 and not int(f["map_flags"], 16) & 0x400: # rings are mapped
            maps[f["map_id"]] = int(f["memlock"])
except (FileNotFoundError, ProcessLookupError):
    pass
print((rss + sum(maps.values())) >> 20)
PY
}
"$WORKLOAD/churn" 120 30 pct >/dev/null & pids+=($!)

# recording_within MIB DURATION: $peak of its memory, in $looks looks, as long as it records; ever new programs all the time
recording_within() {
	local now
	obrec_start -a -d "$2" -F 499 -e cpu,offcpu,l4,l7 --max-mem "$1M" -o "$T/m.obz"
	(for p in "$T"/bin/p*; do kill -0 $obrec 2>/dev/null || break; timeout 0.3 "$p" 10 & sleep 0.05; done; wait) >/dev/null 2>&1 & pids+=($!)
	peak=0 looks=0
	while kill -0 $obrec 2>/dev/null; do
		now=$(size $obrec)
		[ "$now" -gt $peak ] && peak=$now
		looks=$((looks + 1))
		sleep 0.3
	done
	obrec_wait
	is "exit" $status 0
	tail -n 1 "$T/obrec.err"
	is "complete" "$(sql "$T/m.obz" "SELECT complete FROM capture")" 1
}

recording_within "$BOUND" 20s
within "MiB at the most, of $BOUND" $peak 10 "$BOUND"
reason=$(sql "$T/m.obz" "SELECT stop_reason FROM capture")
case $reason in duration | max-mem) echo "ok: stopped by $reason after $looks looks" ;; *) fail "stopped by $reason" ;; esac

# the least that may be asked for is less than what is taken once there is something to record
recording_within 64 60s
is "stopped by" "$(sql "$T/m.obz" "SELECT stop_reason FROM capture")" max-mem
within "samples before" "$(sql "$T/m.obz" "SELECT count(*) FROM sample")" 1 1000000
