# obrec's startup until every probe is attached: CPU seconds, peak resident memory, instructions verified per program
. scripts/bench.d/lib.inc
make -s build/tests/bench/verify_insns
ROUNDS=${BENCH_ROUNDS:-5}

# starting ARG...: measures until obrec is ready: CPU seconds in $user and $sys, those of its child processes (tables, symbols) in $helpers, wall
# seconds in $wall, peak resident KiB in $rss
starting() {
	python3 - "$T/started" "$OBREC" -q -o "$T/s.obz" "$@" <<'PY'
import os, signal, subprocess, sys, time

def cpu(pid):
    """CPU seconds of a process: user, system, and those of its running and finished children."""
    f = [int(n) for n in open("/proc/%d/stat" % pid).read().rsplit(")", 1)[1].split()[11:15]]
    below = f[2] + f[3]
    for task in os.listdir("/proc/%d/task" % pid):
        for child in open("/proc/%d/task/%s/children" % (pid, task)).read().split():
            below += sum(cpu(int(child)))
    return f[0], f[1], below

ready, told = os.pipe()
t = time.monotonic()
p = subprocess.Popen(sys.argv[2:] + ["--ready-fd", str(told)], pass_fds=[told], stderr=subprocess.DEVNULL)
os.close(told)
if os.read(ready, 1) != b"\n":
    sys.exit("obrec did not start")
wall = time.monotonic() - t
user, system, helpers = cpu(p.pid)
hwm = next(l.split()[1] for l in open("/proc/%d/status" % p.pid) if l.startswith("VmHWM"))
p.send_signal(signal.SIGINT)
p.wait()
hz = os.sysconf("SC_CLK_TCK")
open(sys.argv[1], "w").write("%.3f %.3f %.3f %.3f %.3f %s\n" % (user / hz, system / hz, (user + system) / hz, helpers / hz, wall, hwm))
PY
	read -r user sys both helpers wall rss <"$T/started"
}

# start_row NAME CPU MIB ARG...
start_row() {
	local name=$1 cpu_max=$2 mem_max=$3 users=() systems=() boths=() below=() walls=() sizes=()
	shift 3
	starting "$@" # warms the page cache
	for _ in $(seq "$ROUNDS"); do
		starting "$@"
		users+=("$user") systems+=("$sys") boths+=("$both") below+=("$helpers") walls+=("$wall") sizes+=("$rss")
	done
	row "$name: CPU s (user $(median "${users[@]}"), system $(median "${systems[@]}"))" "$(median "${boths[@]}")" - - "${cpu_max:+<= $cpu_max}"
	row "$name: its helpers' CPU s; wall s as peer" "$(median "${below[@]}")" "$(median "${walls[@]}")"
	row "$name: peak resident, MiB" "$(calc "$(median "${sizes[@]}")/1024" 1)" - - "<= $mem_max"
}

head_row
start_row "default probes" 0.40 40
start_row "-e cpu" 0.12 40 -e cpu
start_row "-e cpu,offcpu" "" 40 -e cpu,offcpu
start_row "-e l4,l7" "" 40 -e l4,l7
echo
printf '%-44s %14s\n' "verified instructions (limit of the tests: 200000)" "$(uname -r)"
build/tests/bench/verify_insns | awk '
	/^#/ { print; next }
	{ printf "%-44s %14s%s\n", $1, $2, $3 == "used" ? "" : "  instead: " $3 }
	$3 == "used" { sum += $2 }
	END { printf "%-44s %14d\n", "all that the default probes load", sum }'
