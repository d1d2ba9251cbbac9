# Interrupts and softirqs of the host: each is counted on its CPU as /proc/interrupts and /proc/softirqs count them; their times are
# those of libbpf-tools' hardirqs and softirqs in the same seconds; a busy target is charged with those that interrupt it.
# alone: is about time on CPUs
. tests/live/lib.inc
. tests/live/probes.inc
. tests/live/irq.inc
irq_least=0.5
grep -q '^irq .* yes' "$T/list" || skip "no probe 'irq': $(grep '^irq ' "$T/list")"
command -v python3 >/dev/null || skip "needs python3"
out=$T tmp=$T PATH=$(dirname "$OBREC"):$PATH:/usr/sbin
cat >"$T/packets.py" <<'P'
import os, socket, sys
a, b = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in "ab")
b.bind(("127.0.0.1", 0))
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
for i in range(int(sys.argv[1])):
    a.sendto(b"x", b.getsockname())
    b.recv(1)
P
load() {
	peer_start hardirqs -N 1000; peer_start softirqs -N 1000
	python3 "$T/packets.py" 20000
	dd if=/dev/zero of="$T/file" bs=64k count=200 conv=fsync status=none
	for p in $peers; do if kill -INT $p 2>/dev/null; then wait $p || true; fi; done
}
irq_run load
is "exit" $status 0
irq_told "$(uname -m)"
cpu=$(python3 -c 'import os; print(max(os.sched_getaffinity(0)))')
within "runs of NET_RX for 20000 packets on CPU $cpu" "$(awk -v c="$cpu" '$1 == "NET_RX" && $2 == c {print $3}' "$T/soft-cells")" 10000 100000000
# ours SERIES: time in ns
ours() { sql "$T/irq.obz" "SELECT total(sum) FROM histogram WHERE probe = 'irq' AND series = '$1'"; }
is "each in a bucket that holds it" "$(sql "$T/irq.obz" "SELECT count(*) FROM histogram WHERE probe = 'irq' AND (sum < count * low OR sum >= count * high)")" 0
# They saw less of the capture than obrec, but all of the packets; to softirqs, interrupts amid a softirq are part of it.
for tool in hardirqs softirqs; do
	theirs=$(awk '$NF ~ /^[0-9]+$/ {n += $NF} END {print n + 0}' "$T/peer-$tool" 2>/dev/null || true)
	[ "${theirs:-0}" -gt 0 ] || { echo "no $tool of libbpf-tools: $(head -n 1 "$T/peer-$tool.err" 2>/dev/null)"; continue; }
	case $tool in hardirqs) got=$(ours interrupts) ;; softirqs) got=$(awk -v a="$(ours interrupts)" -v b="$(ours softirqs)" 'BEGIN {print a + b}') ;; esac
	is "time of $tool, ns: $theirs, ours $got" "$(awk -v t="$theirs" -v o="$got" 'BEGIN {print (t <= o * 1.1)}')" 1
done
for name in hardirqs softirqs irq-by-cpu irq-interrupted irq-soft-delay irq-time; do
	"$OBANA" show $name "$T/irq.obz" >"$T/shown" || { cat "$T/shown"; fail "show $name"; }
done

# A busy process: with a timer interrupt each tick at least; another is no target.
start "$WORKLOAD/deep" recurse 600 40; target=$!
start "$WORKLOAD/deep-static" alloca 600 40
obrec_start -p $target -e irq --debuginfo none -o "$T/busy.obz"
worked 100 $target
obrec_stop
by_process() { sql "$T/busy.obz" "SELECT part(key, s.keys, 'process'), $1 FROM counter c JOIN series s USING (capture_id, probe, series) WHERE c.probe = 'irq' AND c.series = 'interrupted' GROUP BY 1"; }
is "processes interrupted" "$(by_process 1 | grep -v '^obrec,')" "deep,1" # obrec is one while it becomes the target's reader
within "interrupts of one second's CPU time" "$(by_process "sum(count) FILTER (WHERE part(key, s.keys, 'by') = 'interrupt')" | sed -n 's/^deep,//p')" 90 10000000
