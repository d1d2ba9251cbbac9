# What an event costs with a probe: ns in BPF and throughput kept by a load that does nothing else, against libbpf-tools and perf
# Each round runs the load alone, with obrec and with the peer; the medians of BENCH_ROUNDS rounds are reported.
# What a call takes longer is the minimum of many short rounds in CPU time, without kernel.bpf_stats_enabled: another load does not change it.
. scripts/bench.d/lib.inc
make -s build/tests/bench/call_loop build/tests/bench/bare_tracepoint
ROUNDS=${BENCH_ROUNDS:-3} SECS=${BENCH_SECONDS:-4}
stats=$(sysctl -n kernel.bpf_stats_enabled)
disk=
trap 'sysctl -qw kernel.bpf_stats_enabled=$stats; for p in "${pids[@]}"; do kill "$p" 2>/dev/null || true; done; [ -z "$disk" ] || losetup -d "$disk"; rm -rf "$T"' EXIT
sysctl -qw kernel.bpf_stats_enabled=1

# bpf_ns PID: time its programs have run
bpf_ns() { cat /proc/"$1"/fdinfo/* 2>/dev/null | awk '/^prog_id/ {id = $2} /^run_time_ns/ {print id, $2}' | sort -u | awk '{s += $2} END {printf "%d", s}'; }
# load MODE: waits for a byte on $T/go; its pid in $load
load() {
	rm -f "$T/go"; mkfifo "$T/go"
	sh -c 'read -r _; exec "$@"' - "$WORKLOAD/burden" "$1" "$SECS" "$disk" <"$T/go" >"$T/count" & load=$!
	exec {go}>"$T/go"
}
run() { echo >&$go; exec {go}>&-; wait "$load"; count=$(<"$T/count"); }

# round MODE PROBE PEER...: adds to the files base, ours and peer ("count ns"); the peer's arguments have PID for the load's pid
round() {
	local mode=$1 probe=$2 p i; shift 2
	load "$mode"; run; echo "$count 0" >>"$T/base"
	load "$mode"
	recording --stats -e "$probe" -p "$load" --debuginfo none -o "$T/p.obz"
	run
	wait "$o" # it ends with its target
	echo "$count $("$OBANA" info --json "$T/p.obz" | python3 -c 'import json, sys; print(sum(p["run_ns"] for p in json.load(sys.stdin)["end"]["programs"]))')" >>"$T/ours"
	[ $# != 0 ] && have "$1" || return 0
	load "$mode"
	"${@//PID/$load}" >/dev/null 2>&1 & p=$!
	for ((i = 0; i < 100; i++)); do # attached
		sleep 0.1
		kill -0 $p 2>/dev/null || break
		[ -z "$(find /proc/$p/fd -lname 'anon_inode:bpf*link' -o -lname 'anon_inode:\[perf_event\]' 2>/dev/null)" ] || break
	done
	sleep 1
	run
	if kill -0 $p 2>/dev/null; then
		echo "$count $(bpf_ns $p)" >>"$T/peer"
		kill -INT $p
	fi
	wait $p 2>/dev/null || true
}
each() { awk '{printf "%.1f\n", $2 / $1}' "$1" | sort -n | awk '{v[NR] = $1} END {n = int((NR + 1) / 2); print (v[n] > 0 ? v[n] : "-")}'; } # perf has no BPF
rate() { awk '{print $1}' "$1" | sort -n | awk '{v[NR] = $1} END {print NR ? v[int((NR + 1) / 2)] : "-"}'; }
ratio() { case "$1 $2" in *-*) echo - ;; *) calc "$1 / $2" ;; esac; }

# probe NAME MODE TARGET PEER...; its name in the table is $label if that is set
probe() {
	local name=$1 mode=$2 target=$3 i base ours peer; shift 3
	rm -f "$T/base" "$T/ours" "$T/peer"; : >"$T/peer"
	for ((i = 0; i < ROUNDS; i++)); do round "$mode" "$name" "$@"; done
	base=$(rate "$T/base") ours=$(rate "$T/ours") peer=$(rate "$T/peer")
	row "${label:-$name}: BPF ns an event${1:+, beside $1}" "$(each "$T/ours")" "$(each "$T/peer")" "$(ratio "$(each "$T/ours")" "$(each "$T/peer")")" "$target"
	row "${label:-$name}: throughput kept, of $(calc "$base / $SECS" 0)/s" "$(ratio "$ours" "$base")" "$(ratio "$peer" "$base")" "$(ratio "$ours" "$peer")"
}

# empty LABEL MODE TRACEPOINT...: the share of what kernel.bpf_stats_enabled counts that is measuring, by empty programs
empty() {
	local label=$1 mode=$2 i b; shift 2
	rm -f "$T/ours"
	for ((i = 0; i < ROUNDS; i++)); do
		coproc B { exec build/tests/bench/bare_tracepoint "$@"; }
		b=$B_PID; read -r _ <&"${B[0]}"
		load "$mode"; run
		echo "$count $(bpf_ns $b)" >>"$T/ours"
		kill $b; wait $b 2>/dev/null || true
	done
	row "$label: of these, what empty programs count" "$(each "$T/ours")" - -
}

# longer PROBE CALL TARGET: ns that a call takes longer with the probe, and with empty programs on sys_enter and sys_exit instead
longer() {
	local name=$1 call=$2 target=$3 loop="build/tests/bench/call_loop $2 0.4" i b plain=() with=() bare=() p
	sysctl -qw kernel.bpf_stats_enabled=0
	for ((i = 0; i < 2 * ROUNDS; i++)); do
		plain+=("$($loop)")
		with+=("$("$OBREC" -q -e "$name" --debuginfo none -o "$T/p.obz" -- $loop 2>>"$T/err")")
		coproc B { exec build/tests/bench/bare_tracepoint sys_enter sys_exit; }
		b=$B_PID; read -r <&"${B[0]}" || true
		bare+=("$($loop)"); kill $b; wait $b 2>/dev/null || true
	done
	sysctl -qw kernel.bpf_stats_enabled=1
	p=$(least "${plain[@]}") with=$(least "${with[@]}") bare=$(least "${bare[@]}")
	row "$name: ns more a $call; peer: empty programs" "$(calc "$with - $p" 0)" "$(calc "$bare - $p" 0)" "$(calc "$with - $bare" 0) ns" "$target"
}
# added FILE: ns that each call of $T/base takes longer in FILE
added() { case "$(rate "$1")" in -) echo - ;; *) calc "1e9 * $SECS * (1 / $(rate "$1") - 1 / $(rate "$T/base"))" 0 ;; esac; }
# function_cost NAME OPTIONS PEER...: of probe func, and what a call costs the program. VALUES: words behind the function
function_cost() {
	local label=$1
	probe "func:$2$WORKLOAD/burden:burden_function${VALUES-}" functions - "${@:3}"
	row "$1: ns a call takes longer${3:+, beside $3}" "$(added "$T/ours")" "$(added "$T/peer")" "$(ratio "$(added "$T/ours")" "$(added "$T/peer")")"
}
# waker_cost WHAT PERIOD TARGET: ns that the program at a wake-up takes, with waits of a period or more recorded
waker_cost() {
	local i ns=()
	for ((i = 0; i < ROUNDS; i++)); do
		load switches
		recording --stats -e "offcpu:period=$2,wakers" -p "$load" --debuginfo none -o "$T/p.obz"
		run
		wait "$o"
		ns+=("$("$OBANA" info --json "$T/p.obz" | python3 -c 'import json, sys
p = [p for p in json.load(sys.stdin)["end"]["programs"] if p["name"].startswith("wakers_waking")]
print(round(sum(x["run_ns"] for x in p) / sum(x["runs"] for x in p)))')")
	done
	row "wakers: BPF ns a wake-up $1" "$(median "${ns[@]}")" - - "${3:--}"
}
head_row
longer syscall getppid "<= 100 more"
longer file pread "<= 400 more"
probe syscall calls - syscount -p PID
probe open opens - opensnoop -p PID
cat >"$T/futex.bt" <<'B'
tracepoint:syscalls:sys_enter_futex /pid == $1 && ((args->op & 127) == 0 || (args->op & 127) == 9)/ { @at[tid] = nsecs; }
tracepoint:syscalls:sys_exit_futex /@at[tid]/ { @ns[ustack, comm] = sum(nsecs - @at[tid]); @hist[comm] = hist(nsecs - @at[tid]); delete(@at[tid]); }
B
probe lock handovers - bpftrace "$T/futex.bt" PID
probe file preads "<= 400 a call" filetop -p PID
probe signal signals - sigsnoop -p PID
probe bind binds - bindsnoop -p PID
probe exec forks - execsnoop
probe mem:step=0 faults "<= 200 a fault" perf record -q -e page-faults -c 97 -o "$T/perf.data" -p PID
probe mem faults "<= 500 a fault"
# fault_cost LABEL OPTIONS: ns that a page fault, with its change of the resident set, takes longer; peer: an empty program on rss_stat
fault_cost() {
	local i p b loop="build/tests/bench/call_loop fault 0.4" plain=() with=() bare=()
	sysctl -qw kernel.bpf_stats_enabled=0
	for ((i = 0; i < 2 * ROUNDS; i++)); do
		plain+=("$($loop)")
		with+=("$("$OBREC" -q -e "$2" --debuginfo none -o "$T/p.obz" -- $loop 2>>"$T/err")")
		coproc B { exec build/tests/bench/bare_tracepoint rss_stat; }
		b=$B_PID; read -r <&"${B[0]}" || true
		bare+=("$($loop)"); kill $b; wait $b 2>/dev/null || true
	done
	sysctl -qw kernel.bpf_stats_enabled=1
	p=$(least "${plain[@]}") with=$(least "${with[@]}") bare=$(least "${bare[@]}")
	row "$1: ns more a fault of $(calc "$p" 0); peer: an empty program" "$(calc "$with - $p" 0)" "$(calc "$bare - $p" 0)" "$(calc "$with - $bare" 0) ns" "${3-}"
}
fault_cost "mem, faults alone" mem:step=0
fault_cost "mem, resident alone" mem:period=1000000000
fault_cost mem mem "<= 500"
# allocations LABEL OPTIONS [TARGET [ENV]]: ns that a pair of malloc() and free() takes longer, by a program that does nothing else
allocations() {
	local loop="env ${4-} $WORKLOAD/allocs rate 1000000" i plain=() with=()
	for ((i = 0; i < ROUNDS; i++)); do
		plain+=("$($loop </dev/null | awk '{print 1e9 / $1}')")
		with+=("$("$OBREC" -q -e "$2" --debuginfo none -o "$T/p.obz" -- $loop </dev/null 2>>"$T/err" | awk '{print 1e9 / $1}')")
	done
	row "$1: ns more a malloc() and free()" "$(calc "$(least "${with[@]}") - $(least "${plain[@]}")" 0)" - - "${3-}"
}
allocations alloc alloc "<= 1500"
allocations "alloc:live=no" alloc:live=no "<= 800"
! [ -e /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 ] || allocations "alloc, jemalloc" alloc - LD_PRELOAD=libjemalloc.so.2
function_cost func ""
function_cost "func:uretprobe" uretprobe, funclatency "$(realpath "$WORKLOAD/burden"):burden_function"
VALUES=,arg1:long,ret:int function_cost "func:uretprobe, argument and result" uretprobe,
VALUES=:ret function_cost "func:uretprobe, result alone" uretprobe,
probe runq switches "<= 300 a switch" runqlat -p PID
empty runq switches sched_switch sched_wakeup
probe tcp connects - tcplife -p PID
label="tcp, a segment" probe tcp segments - tcprtt
label="pmu, one event" probe pmu:page-faults switches - perf stat -e page-faults -p PID
software=task-clock,page-faults,context-switches,cpu-migrations
label="pmu, four events" probe pmu:$software switches - perf stat -e $software -p PID
label="offcpu, each wait" probe offcpu:period=0s switches - offcputime -p PID
label="offcpu and wakers, each wait" probe offcpu:period=0s,wakers switches - wakeuptime -p PID
waker_cost "that is recorded" 0s "<= 500"
waker_cost "that is not" 10s
truncate -s 64M "$T/image"
if disk=$(losetup -f --show "$T/image"); then
	probe block reads "<= 1500" biolatency
	probe block:stack reads "<= 1500" biosnoop
fi
