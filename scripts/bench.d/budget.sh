# --cpu-budget under a fork storm, 2,000 threads, hundreds of thousands of switches, 1,000 mappings (BUDGET_SECONDS, BUDGET)
# CPU usage of obrec and its BPF programs in the last two thirds of each run, in percent of one CPU; the first third is warm-up.
# BPF run time includes interrupts and time stolen by the host of a virtual machine. So up to BUDGET_WINDOWS windows are measured,
# until one is at most BUDGET_WITHIN percent, and the minimum is reported.
. scripts/bench.d/lib.inc
SECONDS_EACH=${BUDGET_SECONDS:-45} BUDGET=${BUDGET:-5%} WINDOWS=${BUDGET_WINDOWS:-1} WITHIN=${BUDGET_WITHIN:-0}
# used PID: CPU time so far of its recording thread and its BPF programs, and the current time, in ns
used() {
	local hz own bpf
	hz=$(getconf CLK_TCK)
	own=$(sed 's/.*) //' /proc/"$1"/task/"$1"/stat | awk '{print $12 + $13}')
	bpf=$({ cat /proc/"$1"/fdinfo/* 2>/dev/null || true; } | awk '/^prog_id/ {id = $2} /^run_time_ns/ {print id, $2}' | sort -u | awk '{s += $2} END {printf "%d", s}')
	echo "$((own * (1000000000 / hz) + bpf)) $(date +%s%N)"
}
head_row
for load in forks threads switches mappings; do
	ready=$T/ready
	rm -f "$ready"; mkfifo "$ready"
	"$WORKLOAD/burden" $load 3600 >"$T/count" & load_pid=$! # long enough for all windows: obrec would end with it
	pids+=($load_pid)
	sleep 1
	case $load in forks) target=-a;; *) target="-p $load_pid";; esac
	# shellcheck disable=SC2086
	"$OBREC" $target -e cpu,offcpu,l4,l7 --offcpu-period 1ms -F 999 --cpu-budget "$BUDGET" --debuginfo none -q --ready-fd 9 -o "$T/b.obz" 9>"$ready" 2>"$T/err" & obrec=$!
	pids+=($obrec)
	read -r -t 120 <"$ready" || { cat "$T/err"; exit 1; }
	sleep $((SECONDS_EACH / 3))
	shares=()
	for ((i = 0; i < WINDOWS; i++)); do
		read -r before from < <(used $obrec)
		sleep $((SECONDS_EACH - SECONDS_EACH / 3))
		read -r after now < <(used $obrec)
		shares+=("$(calc "100 * ($after - $before) / ($now - $from)")")
		! awk "BEGIN {exit !(${shares[-1]} <= $WITHIN)}" || break
	done
	share=$(least "${shares[@]}")
	rc=0; kill -INT $obrec; wait $obrec || rc=$?
	[ $rc = 0 ] || { cat "$T/err"; exit 1; }
	kill $load_pid 2>/dev/null || true
	wait $load_pid 2>/dev/null || true
	steps=$(sql "$T/b.obz" "SELECT group_concat(what || ' ' || kept, ', ') FROM (SELECT what, printf('%.2g%%', 100 * kept) AS kept, max(ts_ns) FROM thinning GROUP BY what)")
	row "$load: % of a CPU at $BUDGET; thinned to" "$share; ${steps:-nothing}"
done
