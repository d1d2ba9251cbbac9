# redis-benchmark and wrk with l4,l7 on, against tcpdump -w and strace; alternate runs
. scripts/bench.d/lib.inc
head_row
port=$((20000 + RANDOM % 5000))
redis-server --port $port --save '' --appendonly no --daemonize no >/dev/null & pids+=($!); redis=$!
sleep 0.5
rate() { redis-benchmark -p $port -c 50 -n "${1:-200000}" -q -t set 2>/dev/null | tr '\r' '\n' | sed -n 's/^SET: \([0-9.]*\) requests.*/\1/p' | tail -n 1; }
median() { printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"; }
plain=() with=() dump=()
for i in 1 2 3 4 5; do
	plain+=("$(rate)")
	"$OBREC" -q -p $redis -e l4,l7 --stats --ready-fd 9 -o "$T/r$i.obz" 9>"$T/ready" & o=$!
	while [ ! -s "$T/ready" ]; do sleep 0.05; done
	with+=("$(rate)")
	kill -INT $o; wait $o; : >"$T/ready"
	if command -v tcpdump >/dev/null; then
		tcpdump -i lo -w "$T/t.pcap" port $port 2>/dev/null & t=$!
		sleep 0.7; dump+=("$(rate)"); kill -INT $t; wait $t || true
	fi
done
a=$(median "${plain[@]}") b=$(median "${with[@]}")
row "redis SET/s under l4,l7; peer: alone" "$b" "$a" "$(calc "100*$b/$a" 1)%" ">= 92 %"
[ ${#dump[@]} -gt 0 ] && row "redis SET/s under l4,l7; peer: tcpdump -w" "$b" "$(median "${dump[@]}")" "$(calc "$b/$(median "${dump[@]}")" 2)x" ">= 1"
if command -v strace >/dev/null; then
	strace -f -o /dev/null -p $redis & s=$!
	sleep 0.5; row "peer: strace" "$b" "$(rate 20000)"; kill -INT $s; wait $s || true
fi
row "messages of 200,000 SETs" "$(sql "$T/r5.obz" "SELECT count(*) FROM message WHERE method='SET' AND paired")" 200000 - "equal"
row "losses" "$(sql "$T/r5.obz" "SELECT ifnull(sum(count),0) FROM loss WHERE source='ring'")" - - 0
"$OBANA" info --json "$T/r5.obz" | python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
p = [x for x in end["programs"] if x["name"].startswith("net_sock")]
print("%-44s %14.0f %14s %10s  <= 700" % ("BPF ns a captured call", sum(x["run_ns"] for x in p) / sum(x["runs"] for x in p), "-", "-"))'
