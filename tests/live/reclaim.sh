# Stalls for memory: the pages that a reader in a full cgroup reclaims are those that the cgroup gave up; compaction by whom asks for it;
# a writer of more dirty pages than its disk may have is paused as long as it takes, and another, which is no target, is left out.
# alone: records the whole host
. tests/live/lib.inc
. tests/live/reclaim.inc
grep -q '^reclaim .* yes' "$T/list" || skip "no probe 'reclaim': $(grep '^reclaim ' "$T/list")"
out=$T tmp=$T PATH=$(dirname "$OBREC"):$PATH
reclaim_cgroup || skip "no memory cgroup can be made"
trap 'cleanup; rmdir "$group" 2>/dev/null || true' EXIT
truncate -s 96M "$T/many"
reclaim_run "$T/many" 96
is "exit" $status 0
reclaim_told
for name in reclaim-by-process reclaim-latency reclaim-time reclaim-longest drsnoop; do
	"$OBANA" show $name "$T/reclaim.obz" >"$T/shown" && grep -q 'cgroup reclaim' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done

# ---- write-back
truncate -s 64M "$T/image"
loop=$(losetup -f --show "$T/image" 2>"$T/err") || skip "ok so far; no loop device: $(cat "$T/err")"
trap 'cleanup; losetup -d "$loop"' EXIT
bdi=/sys/class/bdi/$(cat "/sys/block/${loop#/dev/}/dev")
{ echo 1 >"$bdi/strict_limit" && echo 65536 >"$bdi/max_bytes"; } 2>/dev/null || skip "ok so far; dirty pages of a disk cannot be bounded before Linux 6.2"
w() { sql "$T/w.obz" "$1"; }
for attempt in 1 2 3 4 5 6 7 8 9 10 11 12; do # the disk keeps up with a writer that seldom gets a CPU
	dd if=/dev/zero of="$loop" bs=64k seek=512 count=160 status=none & other=$!
	pids+=($other)
	begin=$(date +%s%N)
	"$OBREC" -q -e reclaim:rate=0,min=0s -e file -o "$T/w.obz" -- dd if=/dev/zero of="$loop" bs=64k count=128 status=none
	took=$(($(date +%s%N) - begin))
	wait $other
	[ "$(w "SELECT count(*) FROM stall WHERE cause = 'write-back'")" = 0 ] || break
done
echo "attempt $attempt"
is "who was paused" "$(w "SELECT DISTINCT t.comm, s.cause FROM stall s JOIN thread t ON t.id = s.thread_id")" "dd,write-back"
is "processes paused" "$(w "SELECT count(DISTINCT thread_id) FROM stall")" 1
within "ms of pauses, of $((took / 1000000)) in all" "$(w "SELECT sum(duration_ns) / 1000000 FROM stall")" 4 $((took / 1000000))
is "each within the 200 ms that the kernel allows" "$(w "SELECT count(*) FROM stall WHERE duration_ns NOT BETWEEN 1000000 AND 200000000")" 0
is "where" "$(w "SELECT count(*) FROM stall WHERE stack_id NOT IN (SELECT stack_id FROM stack_frame sf JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id WHERE f.name LIKE 'balance_dirty_pages%')")" 0
is "counted" "$(w "SELECT sum(count) FROM histogram WHERE probe = 'reclaim' AND key = 'dd' || char(9) || 'write-back'")" "$(w "SELECT count(*) FROM stall")"
paused="FROM histogram x JOIN series s USING (capture_id, probe, series) WHERE x.probe = 'file' AND x.series = 'paused'"
is "by file, of probe 'file'" "$(w "SELECT part(x.key, s.keys, 'process'), part(x.key, s.keys, 'file'), sum(x.count), sum(x.sum) $paused GROUP BY 1, 2")" "dd,$loop,$(w "SELECT count(*), sum(duration_ns) FROM stall")"
"$OBANA" show file-paused "$T/w.obz" >"$T/shown" && grep -q " dd  *$loop" "$T/shown" || { cat "$T/shown"; fail "show file-paused"; }
