# --cpu-budget under a fork storm, 2,000 threads, hundreds of thousands of switches, 1,000 mappings (BUDGET_SECONDS, BUDGET)
# What obrec and its programs use in the last two thirds of each run, of one CPU; the first third is there to settle.
. scripts/bench.d/lib.inc
SECONDS_EACH=${BUDGET_SECONDS:-45} BUDGET=${BUDGET:-5%}
# used PID: ns of CPU so far, of its recording thread and of its programs
used() {
	local hz own bpf
	hz=$(getconf CLK_TCK)
	own=$(sed 's/.*) //' /proc/"$1"/task/"$1"/stat | awk '{print $12 + $13}')
	bpf=$(for f in /proc/"$1"/fdinfo/*; do awk '/^prog_id/ {id = $2} /^run_time_ns/ {print id, $2}' "$f" 2>/dev/null; done | sort -u | awk '{s += $2} END {printf "%d", s}')
	echo $((own * (1000000000 / hz) + bpf))
}
head_row
for load in forks threads switches mappings; do
	ready=$T/ready
	rm -f "$ready"; mkfifo "$ready"
	"$WORKLOAD/burden" $load $((SECONDS_EACH + 20)) >"$T/count" & load_pid=$!
	pids+=($load_pid)
	sleep 1
	case $load in forks) target=-a;; *) target="-p $load_pid";; esac
	# shellcheck disable=SC2086
	"$OBREC" $target -e cpu,offcpu,l4,l7 --offcpu-period 1ms -F 999 --cpu-budget "$BUDGET" --debuginfo none -q --ready-fd 9 -o "$T/b.obz" 9>"$ready" 2>"$T/err" & obrec=$!
	pids+=($obrec)
	read -r -t 120 <"$ready" || { cat "$T/err"; exit 1; }
	sleep $((SECONDS_EACH / 3))
	before=$(used $obrec) from=$(date +%s%N)
	sleep $((SECONDS_EACH - SECONDS_EACH / 3))
	share=$(calc "100 * ($(used $obrec) - $before) / ($(date +%s%N) - $from)")
	rc=0; kill -INT $obrec; wait $obrec || rc=$?
	[ $rc = 0 ] || { cat "$T/err"; exit 1; }
	kill $load_pid 2>/dev/null || true
	wait $load_pid 2>/dev/null || true
	steps=$(sql "$T/b.obz" "SELECT group_concat(what || ' ' || kept, ', ') FROM (SELECT what, printf('%.2g%%', 100 * kept) AS kept, max(ts_ns) FROM thinning GROUP BY what)")
	row "$load: % of a CPU at $BUDGET; thinned to" "$share; ${steps:-nothing}"
done
