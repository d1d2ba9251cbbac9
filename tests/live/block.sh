# A known number of direct reads and writes on a loop device: each is a row, a sample and counted in three histograms, and the
# counts and bytes are those of the disk's own account (/sys/block/DISK/stat); beyond the rate the histograms stay complete.
# alone: changes what the whole host uses
. tests/live/lib.inc
. tests/live/carriers.inc
command -v losetup >/dev/null || skip "needs losetup"
grep -q '^block .* yes' "$T/list" || skip "no probe 'block': $(grep '^block ' "$T/list")"
truncate -s 16M "$T/image"
loop=$(losetup -f --show "$T/image" 2>"$T/err") || skip "no loop device: $(cat "$T/err")"
trap 'losetup -d "$loop"; cleanup' EXIT
disk=${loop#/dev/}
read_all="dd if=$loop of=/dev/null bs=16k iflag=direct count=200 status=none"
write_some="dd if=/dev/zero of=$loop bs=4k oflag=direct count=100 status=none"
account() { awk '{print $1, $3 * 512, $5, $7 * 512}' "/sys/block/$disk/stat"; } # reads, bytes, writes, bytes
counts() { # SERIES KEY-PREFIX
	counted "$T/b.obz" block "$1" "$2"
}

settled() { [ "$(account)" = "$(sleep 0.2; account)" ]; } # what opens a new disk reads it
eventually "nobody else uses $disk" settled
before=$(account)
"$OBREC" -q -e biolatency:rate=0,stack -o "$T/b.obz" --debuginfo none -- sh -c "$read_all; $write_some"
diff=$(paste -d' ' <(echo "$before") <(account) | awk '{print $5 - $1, $6 - $2, $7 - $3, $8 - $4}')
read -r reads read_bytes writes write_bytes <<<"$diff"
is "reads and writes of dd" "$reads $writes" "200 100"
tab=$(printf '\t')
# About once in 15,000 requests 6.18 calls no tracepoint for one: two of 300 can be missing. All counts are of the same ones.
n_reads=$(counts latency "$disk${tab}read") n_writes=$(counts latency "$disk${tab}write") n=$((n_reads + n_writes))
within "reads counted by latency" "$n_reads" $((reads - 2)) $reads
within "writes counted by latency" "$n_writes" $((writes - 2)) $writes
n_bytes=$((n_reads * 16384 + n_writes * 4096)) missed=$((300 - n))
is "reads counted by time in the queue" "$(counts queued "$disk${tab}read")" $n_reads
is "reads counted by size, of dd" "$(counts size "dd${tab}$disk${tab}read")" $n_reads
size=$(series "$T/b.obz" block size)
is "bytes of all that dd did" $((read_bytes + write_bytes)) $((200 * 16384 + 100 * 4096))
is "bytes in the histogram" "$(rows "$T/b.obz" cell "r.sum if r.series == $size and '$disk' in r.key else None" | awk '{n += $1} END {print n}')" $n_bytes
is "each size has a bucket of its own that holds it" "$(rows "$T/b.obz" cell "next(b for b in (4096, 16384) if r.low <= b < r.high) if r.series == $size and '$disk' in r.key else None" | sort -un | xargs)" "4096 16384"
is "rows" "$(rows "$T/b.obz" block "(r.op, r.bytes, r.error) if r.disk == '$disk' else None" | sort | uniq -c | xargs)" "$n_reads (read, 16384, 0) $n_writes (write, 4096, 0)"
# rows of several CPUs come in any order: dd may move, and with a loop device it does
is "sectors of the reads, in order of time" "$(rows "$T/b.obz" block "'%d %d' % (r.ts_ns, r.sector) if r.op == 'read' and r.disk == '$disk' else None" | sort -n |
	awk '$2 % 32 == 0 && $2 < 200 * 32 && (NR == 1 || $2 > last) {n++} {last = $2} END {print n}')" $n_reads
is "with stacks, a thread, and time on the device" "$(rows "$T/b.obz" block "r.kernel_stack > 0 and r.user_stack > 0 and r.thread > 0 and r.device_ns > 0 if r.disk == '$disk' else None" | sort -u)" True
q() { sql "$T/b.obz" "$1"; }
is "flags" "$(q "SELECT op, rwbs, partno, count(*) FROM block WHERE disk = '$disk' GROUP BY 1, 2, 3" | xargs)" "read,RS,0,$n_reads write,WS,0,$n_writes"
of="FROM counter WHERE probe = 'block' AND key LIKE '$disk%' AND series"
is "requests, in order or not, and bytes" "$(q "SELECT sum(count), sum(sum) $of = 'pattern'")" "$n,$n_bytes"
within "in order: dd's, but the first and what follows one that was missed" "$(q "SELECT total(count) $of = 'pattern' AND key LIKE '%sequential'" | cut -d. -f1)" $((n - 2 - missed)) $n
is "busy for as long as they took, one after the other" "$(q "SELECT sum(sum) $of = 'busy'")" "$(q "SELECT sum(device_ns) FROM block WHERE disk = '$disk'")"
is "in flight" "$(q "SELECT low, sum(count) FROM histogram WHERE probe = 'block' AND series = 'in_flight' AND key = '$disk' GROUP BY 1")" "1,$n"
is "counted by cgroup" "$(q "SELECT sum(count) FROM histogram WHERE probe = 'block' AND series = 'cgroup_latency' AND key LIKE '%$disk%'")" $n
is "samples" "$(rows "$T/b.obz" sample "1 if r.kind == 3 else None" | wc -l)" "$(rows "$T/b.obz" block 1 | wc -l)"

"$OBREC" -q -e block:rate=10 -o "$T/b.obz" --debuginfo none -- sh -c "$read_all"
within "counted, beyond the rate" "$(counts latency "$disk${tab}read")" 198 200
sent=$(q "SELECT count(*) FROM block b JOIN thread t ON t.id = b.thread_id WHERE t.comm = 'dd'") # also of the disk that dd itself is on
is "what was left out was counted" $((sent + $(counts throttled dd))) "$(counts events dd)"
within "rows at 10 a second" "$sent" 1 199

# a partition of the disk, which needs no table
if addpart "$loop" 1 2048 16384 2>"$T/err"; then
	mknod "$T/part" b $(tr : ' ' <"/sys/block/$disk/${disk}p1/dev")
	"$OBREC" -q -e block:rate=0 -o "$T/b.obz" --debuginfo none -- dd if="$T/part" of=/dev/null bs=4k iflag=direct count=72 skip=1 status=none
	is "reads of the partition" "$(q "SELECT disk, partno, count(*) >= 70, min(sector) / 16 FROM block WHERE disk = '$disk' GROUP BY 1, 2")" "$disk,1,1,128"
	delpart "$loop" 1
else
	echo "no partition: $(cat "$T/err")"
fi

# The file behind the device ends amid a read: the device completes a part, refuses the rest for now (a requeue), takes it again and
# fails. It is one request, of all its bytes, from its first issue.
traced=/sys/kernel/tracing/instances/obrec-block-$$
if mkdir "$traced" 2>"$T/err"; then
	trap 'rmdir "$traced"; losetup -d "$loop"; cleanup' EXIT
	for event in block_rq_requeue block_rq_complete; do echo 1 >"$traced/events/block/$event/enable"; done
fi
eventually "nobody else uses $disk" settled
truncate -s $((8 * 1024 * 1024 + 4096)) "$T/image"
for ((try = 0; try < 3; try++)); do # one request, for which the kernel may call no tracepoint
	[ ! -d "$traced" ] || echo >"$traced/trace"
	"$OBREC" -q -e block:rate=0 -o "$T/b.obz" --debuginfo none -- dd if="$loop" of=/dev/null bs=16k iflag=direct count=1 skip=512 2>"$T/err" && fail "a read behind the end"
	[ "$(q "SELECT count(*) FROM block WHERE disk = '$disk'")" = 0 ] || break
done
if [ -d "$traced" ]; then
	dev=$(tr : , <"/sys/block/$disk/dev")
	is "the kernel completed it in two parts, and requeued it" "$(grep -c "block_rq_complete: $dev .* 16384 + 8 \|block_rq_complete: $dev .* 16392 + 24 " "$traced/trace") $(grep -c "block_rq_requeue: $dev " "$traced/trace")" "2 1"
fi
is "a request in two parts" "$(q "SELECT op, sector, bytes, errno_name(error) FROM block WHERE disk = '$disk'" | xargs)" "read,16384,16384,EIO"
is "counted once, by latency, size and in flight" "$(q "SELECT series, sum(count) FROM histogram WHERE probe = 'block' AND key LIKE '%$disk%' AND series IN ('latency', 'size', 'in_flight') GROUP BY 1" | xargs)" \
	"in_flight,1 latency,1 size,1"
is "lost" "$(q "SELECT ifnull(sum(count), 0) FROM loss")" 0
