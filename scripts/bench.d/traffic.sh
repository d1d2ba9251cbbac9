# redis-benchmark and wrk with l4,l7, against tcpdump -w and strace; cost per call; messages per second of obana
. scripts/bench.d/lib.inc
make -s build/tests/bench/call_loop build/tests/bench/bare_tracepoint
loop=build/tests/bench/call_loop

# ratio A B DIGITS ROUND...: median of A/B of each round, and its standard error (from the quartiles). Not the ratio of the medians,
# since the machine's speed varies by 10 % and more within a minute. The error of one round is 2 to 3 %, however long it is.
ratio() {
	local of="($1) / ($2)" digits=$3
	shift 3
	printf '%s\n' "$@" | awk "{print $of}" | sort -n | awk -v d="$digits" '
		{r[NR] = $1}
		END {printf "%.*f+-%.*f", d, r[int((NR + 1) / 2)], d, 0.93 * (r[NR + 1 - int((NR + 3) / 4)] - r[int((NR + 3) / 4)]) / sqrt(NR)}'
}

# compare NAME PORT PID RATE-COMMAND: alternates between no tool, obrec and tcpdump
compare() {
	local name=$1 port=$2 pid=$3 plain=() with=() dump=() rounds=() t
	"$4" >/dev/null
	plain=("$("$4")")
	for i in {1..30}; do
		recording -p "$pid" -e l4,l7 -o "$T/$name.obz"; with+=("$("$4")"); stopped
		if have tcpdump; then
			tcpdump -i lo -w "$T/t.pcap" port "$port" 2>>"$T/$name.tcpdump" & t=$!
			sleep 0.5; dump+=("$("$4")"); kill -INT $t; wait $t || true
		fi
		plain+=("$("$4")")
		rounds+=("${plain[-2]} ${plain[-1]} ${with[-1]} ${dump[-1]-}")
	done
	row "$name requests/s; peer: alone" "$(median "${with[@]}")" "$(median "${plain[@]}")" "$(ratio '100*$3' '($1+$2)/2' 1 "${rounds[@]}")%" ">= 92 %"
	[ ${#dump[@]} = 0 ] || row "$name requests/s; peer: tcpdump -w" "$(median "${with[@]}")" "$(median "${dump[@]}")" "$(ratio '$3' '$4' 2 "${rounds[@]}")x" ">= 1"
	row "$name losses; peer: packets tcpdump dropped" "$(sql "$T/$name.obz" "SELECT ifnull(sum(count),0) FROM loss WHERE source='ring'")" \
		"$(awk '/received by filter/ {all += $1} /dropped by kernel/ {no += $1} END {if (all) printf "%d%%", 100 * no / all; else print "-"}' "$T/$name.tcpdump" 2>/dev/null)" - 0
}

# messages NAME: messages of the archive that obana processes per CPU second
messages() {
	local n
	n=$(sql "$T/$1.obz" "SELECT count(*) FROM message")
	measured "$OBANA" query "$T/$1.obz" "SELECT count(*) FROM message"
	row "obana: $1 messages a second of CPU ($n)" "$(calc "$n/$cpu" 0)" - - ">= 500000"
}

head_row
port=$((20000 + RANDOM % 5000))
start redis-server --port $port --save '' --appendonly no; redis=$!
sleep 0.5
redis_rate() { redis-benchmark -p $port -c 50 -n "${1:-100000}" -q -t set 2>/dev/null | tr '\r' '\n' | sed -n 's/^SET: \([0-9.]*\) requests.*/\1/p' | tail -n 1; }
compare redis $port $redis redis_rate
row "redis SETs paired, of 100,000" "$(sql "$T/redis.obz" "SELECT count(*) FROM message WHERE method='SET' AND paired")" 100000 - equal
if have strace; then
	strace -f -o /dev/null -p $redis 2>/dev/null & s=$!
	sleep 0.5; row "peer: redis under strace" "$(redis_rate 10000)"; kill -INT $s; wait $s || true
fi
messages redis

if have nginx && have wrk; then
	web=$((port + 1))
	mkdir -p "$T/www/logs"; head -c 200 /dev/zero | tr '\0' x >"$T/www/index.html"
	printf 'worker_processes 1; daemon off; pid %s; error_log /dev/null; events {} http { access_log off; keepalive_requests 1000000;
		server { listen 127.0.0.1:%s; root %s; } }\n' "$T/nginx.pid" $web "$T/www" >"$T/nginx.conf"
	chmod -R a+rX "$T"
	start nginx -p "$T/www" -c "$T/nginx.conf"; nginx=$!
	sleep 0.5
	worker=$(pgrep -P $nginx | head -n 1)
	wrk_rate() { wrk -t 1 -c 50 -d 1s "http://127.0.0.1:$web/" | awk '/^Requests\/sec/ {print $2}'; }
	compare nginx $web "$worker" wrk_rate
	messages nginx
fi

# overhead for a process that is not a target while another one is, compared with empty programs on the same tracepoints
plain=() with=() bare=()
for i in 1 2 3 4 5 6 7 8; do
	plain+=("$($loop getppid 0.4) $($loop exchange 0.4)")
	recording -p $redis -e l4,l7 -o "$T/other.obz"
	with+=("$($loop getppid 0.4) $($loop exchange 0.4)"); stopped
	coproc B { exec build/tests/bench/bare_tracepoint sock_send_length sock_recv_length; }
	b=$B_PID; read -r <&"${B[0]}" || true
	bare+=("$($loop exchange 0.4)"); kill $b; wait $b 2>/dev/null || true
done
p=($(least "${plain[@]% *}") $(least "${plain[@]#* }")) w=($(least "${with[@]% *}") $(least "${with[@]#* }")) e=$(least "${bare[@]}")
row "no target: getppid, ns; peer: nothing on" "${w[0]}" "${p[0]}" "$(calc "${w[0]}-${p[0]}" 0) ns"
row "no target: socket call, ns; peer: nothing on" "$(calc "${w[1]}/2" 0)" "$(calc "${p[1]}/2" 0)" "$(calc "(${w[1]}-${p[1]})/2" 0) ns"
row "the same; peer: a bare tracepoint" "$(calc "${w[1]}/2" 0)" "$(calc "$e/2" 0)" "$(calc "(${w[1]}-$e)/2" 0) ns" "<= 60"

# obrec's CPU share at 100,000 calls per second, and BPF program time per call
$loop exchange 4 50000 >"$T/paced" & l=$!
recording -p $l -e l4,l7 -o "$T/paced.obz"
before=$(per_thread_ns $o); sleep 2; used=$(($(per_thread_ns $o) - before)); stopped; wait $l || true
row "obrec at 100,000 calls/s, % of a CPU" "$(calc "$used/2e7" 1)" - - "<= 10"
"$OBREC" -q --stats -e l4,l7 -o "$T/stats.obz" -- $loop exchange 1 >"$T/own" 2>>"$T/err"
row "BPF ns a captured call, 256 bytes" "$("$OBANA" info --json "$T/stats.obz" | python3 -c '
import json, sys
p = [x for x in json.load(sys.stdin)["end"]["programs"] if x["name"].startswith("net_sock")]
print(round(sum(x["run_ns"] for x in p) / sum(x["runs"] for x in p)))')" - - "<= 700"
