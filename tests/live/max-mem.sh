# --max-mem with processes that come and go and ever new binaries: what obrec has resident and what its maps lock, together, stay
# under it; there is no room for some tables or the recording stops in order, and the archive says so. So does the extractor of symbols.
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
        if "map_id" in f and int(f.get("map_type", 0)) != 27: # rings are mapped
            maps[f["map_id"]] = int(f["memlock"])
except (FileNotFoundError, ProcessLookupError):
    pass
print((rss + sum(maps.values())) >> 20)
PY
}
"$WORKLOAD/churn" 60 30 >/dev/null & pids+=($!)
obrec_start -a -d 20s -F 499 -e cpu,offcpu,l4,l7 --max-mem ${BOUND}M -o "$T/m.obz"
(for p in "$T"/bin/p*; do timeout 0.3 "$p" 10 & sleep 0.05; done; wait) >/dev/null 2>&1 & pids+=($!)
peak=0 samples=0
while kill -0 $obrec 2>/dev/null && [ $samples -lt 60 ]; do
	now=$(size $obrec)
	[ "$now" -gt $peak ] && peak=$now
	samples=$((samples + 1))
	sleep 0.3
done
obrec_wait
is "exit" $status 0
tail -n 1 "$T/obrec.err"
within "looks at its memory" $samples 2 100
within "MiB at the most, of $BOUND" $peak 10 "$BOUND"
is "complete" "$(sql "$T/m.obz" "SELECT complete FROM capture")" 1
reason=$(sql "$T/m.obz" "SELECT stop_reason FROM capture")
said=$(sql "$T/m.obz" "SELECT (SELECT count(*) FROM loss WHERE cause LIKE '%room%') + (SELECT count(*) FROM capture WHERE stop_reason = 'max-mem')")
echo "stopped by $reason"
within "what the bound did is recorded" "$said" 1 100000
