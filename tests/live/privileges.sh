# Without root, with the capabilities the manual names: the same recording. What is not needed any more is given up.
# alone: records the whole host
. tests/live/lib.inc
command -v setpriv >/dev/null || skip "needs setpriv"
TARGET=65534
mkdir "$T/own"; chmod 777 "$T/own"; chmod 755 "$T"
cp "$OBREC" "$WORKLOAD/demo" "$T/own/"
REQUIRED=+bpf,+perfmon
ALL=$REQUIRED,+sys_ptrace,+dac_read_search,+checkpoint_restore,+syslog
as() { (run_as "$@"); } # CAPABILITIES COMMAND...: as nobody
run_as() {
	local caps=-all,$1
	shift
	exec setpriv --reuid $TARGET --regid $TARGET --clear-groups --inh-caps "$caps" --ambient-caps "$caps" --bounding-set "$caps" "$@"
}
# capture_still TICKS PID ARG...: as capture, of one that stands still from the stop on. Symbols are then read at idle priority, for 10 s
# at most: its spinning threads leave none of that on a slow machine.
capture_still() {
	obrec_start -p $2 "${@:3}"
	worked $1 $2
	kill -STOP $2; kill -INT $obrec; obrec_wait; kill -CONT $2
	is "exit" $status 0
}
# capture_as CAPABILITIES TICKS PID ARG...: in $T/own, as nobody
capture_as() {
	local caps=$1
	shift
	OBREC=obrec_as CAPS=$caps capture_still "$@"
}
obrec_as() { cd "$T/own"; run_as "$CAPS" ./obrec "$@"; }
as $ALL true 2>/dev/null || skip "this process may not hand on the capabilities: $(as $ALL true 2>&1)"
start "$WORKLOAD/demo" 3600 >/dev/null; root_demo=$!
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
trap 'echo $paranoid >/proc/sys/kernel/perf_event_paranoid; cleanup' EXIT
echo 3 >/proc/sys/kernel/perf_event_paranoid
echo "perf_event_paranoid $(cat /proc/sys/kernel/perf_event_paranoid), unprivileged_bpf_disabled $(cat /proc/sys/kernel/unprivileged_bpf_disabled)"

# everything, as nobody with capabilities
capture_as $ALL 70 $root_demo -e cpu,offcpu,l4,l7 -o all.obz
is "nobody with all capabilities: warnings" "$(grep -c without "$T/obrec.err" || true)" 0
within "samples" "$(sql "$T/own/all.obz" "SELECT count(*) FROM sample WHERE kind='cpu'")" 50 100000
within "complete stacks, %" "$(sql "$T/own/all.obz" "SELECT 100.0*total((error='' OR error IS NULL)*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='cpu'")" 97 100
within "functions with their source" "$(sql "$T/own/all.obz" "SELECT count(*) FROM function WHERE file LIKE '%demo.cpp'")" 5 100000

# another user's process takes CAP_SYS_PTRACE (or CAP_PERFMON alone on newer kernels), one's own does not
if ! as $REQUIRED cat /proc/$root_demo/maps >/dev/null 2>&1; then
status=0; (cd "$T/own" && as $REQUIRED ./obrec -d 1s -p $root_demo -o x.obz) 2>"$T/err" || status=$?
is "without CAP_SYS_PTRACE, a process of root: exit" $status 4
grep -q 'needs CAP_SYS_PTRACE' "$T/err" || { cat "$T/err"; fail "it is not named"; }
[ ! -e "$T/own/x.obz" ] || fail "an archive was left"
fi
start setpriv --reuid $TARGET --regid $TARGET --clear-groups "$T/own/demo" 3600 >/dev/null; own_demo=$!
worked 10 $own_demo # it is what it will be
capture_as $REQUIRED 70 $own_demo -o own.obz
within "own process: complete stacks, %" "$(sql "$T/own/own.obz" "SELECT 100.0*total((error='' OR error IS NULL)*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='cpu'")" 97 100
for cap in CAP_DAC_READ_SEARCH CAP_CHECKPOINT_RESTORE; do
	is "$cap: lines that say what is lost" "$(grep -c "without $cap:" "$T/obrec.err")" 1
done
for pair in +bpf,+sys_ptrace:CAP_PERFMON +perfmon,+sys_ptrace:CAP_BPF; do
	status=0; (cd "$T/own" && as ${pair%:*} ./obrec -d 1s -p $own_demo -o x.obz) 2>"$T/err" || status=$?
	is "without ${pair#*:}: exit" $status 4
	is "without ${pair#*:}: lines" "$(wc -l <"$T/err")" 1
	grep -q "${pair#*:}" "$T/err" || { cat "$T/err"; fail "it is not named"; }
done
kill $own_demo

# Of root's capabilities the main thread keeps just these, in its permitted and effective set and for execve(2); workers of them the first at
# most: CAP_DAC_READ_SEARCH (2), CAP_SYS_PTRACE (19), CAP_SYS_NICE (23), CAP_BPF (39), CAP_CHECKPOINT_RESTORE (40).
recording=$((1 << 2 | 1 << 19 | 1 << 23 | 1 << 39 | 1 << 40)) to_kill=$((1 << 5))
caps_of() { echo $((16#$(awk -v s=$2: '$1 == s {print $2}' "/proc/$obrec/task/$1/status"))); } # THREAD SET
keeps() { # WHAT MASK
	local t set threads=0
	for set in CapPrm CapEff CapBnd; do is "$1: $set" "$(printf %x $(caps_of $obrec $set))" "$(printf %x $2)"; done
	for set in CapInh CapAmb; do is "$1: $set" "$(caps_of $obrec $set)" 0; done
	for t in /proc/$obrec/task/*; do
		t=${t##*/}
		is "$1: thread $t: no_new_privs" "$(awk '/^NoNewPrivs/{print $2}' "/proc/$obrec/task/$t/status")" 1
		threads=$((threads + 1))
		[ $t != $obrec ] || continue
		for set in CapInh CapPrm CapEff CapBnd CapAmb; do
			[ $(($(caps_of $t $set) & ~(1 << 2))) = 0 ] || fail "$1: worker $t keeps $set $(printf %x $(caps_of $t $set))"
		done
	done
	within "$1: threads looked at" $threads 2 10
}
# Probe tls is attached to what is mapped later by a process of its own, with CAP_BPF and CAP_PERFMON (38) alone; before 6.6 such kernels as
# Debian's want CAP_SYS_ADMIN (21) if perf_event_paranoid is above 2.
helper() { # COMM: pid of obrec's child
	local p
	for p in $(cat /proc/$obrec/task/*/children); do [ "$(cat /proc/$p/comm)" != $1 ] || echo $p; done
}
obrec_start -p $root_demo -e cpu,l4,tls -o "$T/tls.obz"; keeps "with tls" $recording
uprobes=$(helper obrec-uprobes)
for set in CapPrm CapEff CapBnd; do is "obrec-uprobes: $set" "$(printf %x $((16#$(awk -v s=$set: '$1 == s {print $2}' /proc/$uprobes/status) & ~(1 << 21))))" "$(printf %x $((3 << 38)))"; done
is "obrec-uprobes: no_new_privs, seccomp, threads" "$(awk '/^(NoNewPrivs|Seccomp|Threads):/ {print $2}' /proc/$uprobes/status | sort | xargs)" "1 1 2"
is "obrec-uprobes: files it can write to" "$(find /proc/$uprobes/fd -lname '/[^d]*' | wc -l)" 0
obrec_stop "with tls"
# COMMAND ends when it is told to, not by a signal, which it could not be sent later
mkfifo "$T/go"
for probes in cpu cpu,tls; do
	obrec_start -e $probes -o "$T/command.obz" -- sh -c "read -r line <'$T/go'"
	keeps "COMMAND, $probes" $((recording | to_kill))
	echo >"$T/go"; obrec_wait; is "COMMAND: exit" $status 0
done
obrec_start -p $root_demo -e cpu,offcpu,l4,l7 -o "$T/root.obz"
keeps "default" $recording
is "not dumpable: owner of its /proc files" "$(stat -c %u /proc/$obrec/environ)" 0
status=0; setpriv --reuid $TARGET --regid $TARGET --clear-groups cat /proc/$obrec/environ >/dev/null 2>&1 || status=$?
is "its memory is nobody's" $status 1

# what comes later is recorded nevertheless: a new program with tables of its own, of another user
cp "$WORKLOAD/demo-static-pie" "$T/own/later"; chmod 755 "$T/own/later"
kill -INT $obrec; obrec_wait
is "exit" $status 0
obrec_start -a -o "$T/later.obz"
start setpriv --reuid $TARGET --regid $TARGET --clear-groups "$T/own/later" 100 >/dev/null; worked 100 $!
obrec_stop
within "a program started after the drop: complete stacks, %" "$(sql "$T/later.obz" "SELECT 100.0*total((error='' OR error IS NULL)*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id JOIN thread ON thread.id=thread_id JOIN process ON process.id=process_id WHERE kind='cpu' AND process.comm='later'")" 90 100

# capabilities of the file: any user may start it, and children of it get none
if command -v setcap >/dev/null; then
	cp "$OBREC" "$T/own/capable"
	setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_read_search,cap_checkpoint_restore,cap_syslog,cap_sys_nice+ep "$T/own/capable" || skip "no capabilities of files here"
	nobody() { setpriv --reuid $TARGET --regid $TARGET --clear-groups "$@"; }
	capable() { cd "$T/own"; exec setpriv --reuid $TARGET --regid $TARGET --clear-groups ./capable "$@"; }
	OBREC=capable capture_still 70 $root_demo -e cpu,offcpu,l4,l7 -o file.obz
	is "setcap, nobody: warnings" "$(grep -c without "$T/obrec.err" || true)" 0
	within "setcap: complete stacks, %" "$(sql "$T/own/file.obz" "SELECT 100.0*total((error='' OR error IS NULL)*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='cpu'")" 97 100
	within "setcap: functions with their source" "$(sql "$T/own/file.obz" "SELECT count(*) FROM function WHERE file LIKE '%demo.cpp'")" 5 100000
	(cd "$T/own" && nobody ./capable -q -e cpu -o command.obz -- sh -c 'grep -E "^Cap(Prm|Eff|Amb)" /proc/self/status; id -u') >"$T/out" 2>"$T/err" || { cat "$T/err"; fail "exit $?"; }
	is "setcap: what COMMAND may" "$(awk '{print $NF}' "$T/out" | sort -u | xargs)" "0000000000000000 $TARGET"
	# without CAP_SYS_ADMIN the kernel does not count what programs cost: said, and the rest of the budget holds
	if [ "$(cat /proc/sys/kernel/bpf_stats_enabled)" = 0 ]; then
		(cd "$T/own" && nobody ./capable -d 3s -p $root_demo -F 999 -e cpu,offcpu --stats --cpu-budget 0.1% -o budget.obz) 2>"$T/err" || { cat "$T/err"; fail "exit $?"; }
		is "without CAP_SYS_ADMIN: lines that say so" "$(grep -c "run times of BPF programs are not measured.*CAP_SYS_ADMIN" "$T/err")" 1
		within "without CAP_SYS_ADMIN: steps to hold --cpu-budget" "$(sql "$T/own/budget.obz" "SELECT count(*) FROM thinning")" 1 60
		within "without CAP_SYS_ADMIN: samples" "$(sql "$T/own/budget.obz" "SELECT count(*) FROM sample")" 1 100000
	fi
fi
