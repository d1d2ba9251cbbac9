# --attach: each way to attach that this kernel has gives the same counts; the rest is refused with the reason.
. tests/live/lib.inc
. tests/live/talk.inc

usage() { # PATTERN ARG...
	local pattern=$1 status=0
	shift
	"$OBREC" "$@" -d 1s -o "$T/x.obz" 2>"$T/err" || status=$?
	is "$*: exit and lines" "$status $(wc -l <"$T/err")" "2 1"
	grep -q -- "$pattern" "$T/err" || { cat "$T/err"; fail "no '$pattern' in it"; }
}
usage "cpu, offcpu, l4" --attach nosuch=kprobe
usage "tracepoint, syscall, fentry, kprobe" --attach l4=nosuch
usage "btf, classic" --attach offcpu
usage "empty" --attach l4=kprobe,
usage "not enabled" --attach l4=syscall -e cpu

ways() { awk -v p="$1" '/^[a-z]/ {at = $1} at == p && /^  [a-z]/ && !/^  also called/ {print $1, $2}' "$T/list"; }
is "ways of l4" "$(ways l4 | awk '{print $1}' | xargs)" "tracepoint syscall fentry kprobe"
is "one of l4's is taken" "$(ways l4 | grep -c taken)" 1
"$OBREC" --list --attach l4=syscall >"$T/forced"
is "the forced one is" "$(awk '$2 == "taken" {print $1}' "$T/forced" | grep -cx syscall)" 1

while read -r way state; do
	status=0
	"$OBREC" -q --attach "cpu=clock,l4=$way" --attach offcpu=btf -e cpu,offcpu,l4,l7 --debuginfo none -o "$T/$way.obz" -- "$WORKLOAD/talk" 50 >"$T/account" 2>"$T/err" || status=$?
	if [ "$state" = no ]; then
		is "$way: exit and lines" "$status $(wc -l <"$T/err")" "4 1"
		grep -q "'l4'.*$way: " "$T/err" || { cat "$T/err"; fail "does not say why"; }
		[ ! -e "$T/$way.obz" ] || fail "an archive of what could not be recorded"
		continue
	fi
	is "$way: exit" "$status" 0
	"$OBANA" info "$T/$way.obz" | grep -q "^attached .*l4=$way" || fail "info does not say l4=$way"
	counted=0
	each_end() { is "$way: $1" "$2" "$3"; counted=$((counted + 1)); }
	talk_ends "$T/$way.obz" "$T/account" each_end
	is "$way: ends" $counted 20
	is "$way: connections" "$(sql "$T/$way.obz" "SELECT count(*) FROM connection")" 20
done < <(ways l4)

for way in btf classic; do
	"$OBREC" -q --attach offcpu=$way -e offcpu --offcpu-period 0s --offcpu-min 1ms --debuginfo none -o "$T/$way.obz" -- "$WORKLOAD/naps" 20 100
	# It may also wait for a page of its program, and be preempted on its way into a nap, which is the shorter for it. Where a switch runs
	# no BPF program, as those away from threads of this machine's PID 1, the wait is counted as lost.
	is "$way: naps" "$(sql "$T/$way.obz" "SELECT (SELECT sum(count) FROM sample s WHERE kind = 'offcpu' AND thread_id IN (SELECT id FROM thread WHERE comm = 'naps') AND EXISTS
		(SELECT 1 FROM stack_frame sf JOIN frame ON frame.id = sf.frame_id JOIN function f ON f.id = function_id WHERE sf.stack_id = s.stack_id AND f.name LIKE '%nanosleep'))
		+ (SELECT ifnull(sum(count), 0) FROM loss WHERE source = 'offcpu') AS naps")" 20
done

# A probe of the default that is not available is left out with a line; one that was asked for is not.
if unshare -m true 2>/dev/null; then
	cp /sys/kernel/btf/vmlinux "$T/btf"
	hidden() { # ARG...: without the kernel's own types and tracefs there is no way to count bytes
		status=0
		unshare -m bash -c 'for d in /sys/kernel/btf /sys/kernel/tracing /sys/kernel/debug; do [ ! -d $d ] || mount -t tmpfs none $d; done; exec "$@"' - \
			"$OBREC" --btf "$T/btf" -d 500ms "$@" -o "$T/h.obz" 2>"$T/err" || status=$?
	}
	hidden --debuginfo none
	is "default probes, l4 not available: exit" $status 0
	is "lines that name what is left out" "$(grep -cE "probe 'l[47]' is skipped" "$T/err")" 2
	is "probes in the archive" "$("$OBANA" info "$T/h.obz" | sed -nE 's/^probes +//p')" "cpu, host"
	for asked in +l4 l7,cpu -cpu,-host; do
		rm -f "$T/h.obz"; hidden -e $asked
		is "-e $asked, not available: exit" $status 4
		grep -q available "$T/err" || { cat "$T/err"; fail "does not say so"; }
		[ ! -e "$T/h.obz" ] || fail "an archive of what could not be recorded"
	done
	hidden --attach l4=syscall
	is "--attach l4=syscall, not available: exit" $status 4
fi
