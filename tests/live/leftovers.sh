# Nothing is left behind: no BPF program, map or link, no file, no process, however obrec ends.
# alone: what it compares with counts the whole host
. tests/live/lib.inc
command -v bpftool >/dev/null || skip "needs bpftool"
start "$WORKLOAD/demo" 3600 >/dev/null; demo=$!
mkdir "$T/dir" "$T/tmp"
export TMPDIR=$T/tmp
ours() { # PID: kinds and ids of the programs, maps and links it holds
	cat /proc/"$1"/fdinfo/* 2>/dev/null | sed -nE 's/^(prog|map|link)_id:[[:space:]]*([0-9]+)$/\1 \2/p' | sort -u || true
}
events() { # PID: perf events it holds; a kernel's are gone with their last descriptor
	find /proc/"$1"/fd -lname 'anon_inode:\[perf_event\]' 2>/dev/null | wc -l
}
exists() { bpftool "$1" show id "$2" >/dev/null 2>&1; }
none_exists() {
	left=0
	while read -r kind id; do ! exists "$kind" "$id" || left=$((left + 1)); done <"$T/ids"
	[ $left = 0 ]
}
gone() { # WHAT: every id of $T/ids is gone, within what RCU takes
	eventually "$1: the objects it held are gone" none_exists
	is "$1: of $(wc -l <"$T/ids") objects left" $left 0
	is "$1: perf events left" "$(events $obrec)" 0
	is "$1: temporary files" "$(find "$T/tmp" -type f | wc -l)" 0
}
probes=cpu,offcpu,l4,l7
cpus=$(getconf _NPROCESSORS_ONLN) # nproc counts those that this test may run on
held() {
	ours $obrec >"$T/ids"; within "objects held" "$(wc -l <"$T/ids")" 10 $((200 + 4 * cpus)) # rings are the CPUs' own
	# the side-band's and the sampler's of each CPU, one more for each tracepoint of a system call
	within "perf events held" "$(events $obrec)" $((2 * cpus)) $((200 + 2 * cpus))
}

obrec_start -p $demo -e $probes -o "$T/dir/a.obz"; held; kill -INT $obrec; obrec_wait
is "Ctrl-C: exit" $status 0; gone "Ctrl-C"
obrec_start -d 2s -p $demo -e $probes -o "$T/dir/b.obz"; held; obrec_wait
is "-d: exit" $status 0; gone "-d"
obrec_start -a -e $probes -o "$T/dir/c.obz"; held; kill -9 $obrec; obrec_wait
gone "kill -9"
mkdir "$T/small"; mount -t tmpfs -o size=64k tmpfs "$T/small"
obrec_start -d 30s -F 999 -p $demo -e $probes --debuginfo none -o "$T/small/d.obz"; held; obrec_wait
is "disk full: exit" $status 3; gone "disk full"

# COMMAND gets none of them
mkfifo "$T/end"
obrec_start -e $probes --debuginfo none -o "$T/dir/g.obz" -- bash -c "exec 3<\"\$1\"; read -r -u 3 _" - "$T/end"; held
executed() { # the one child that executes something else than obrec does (the other is its nursery of readers)
	for command in $(pgrep -P $obrec); do
		case $(readlink /proc/"$command"/exe) in "$OBREC" | '') ;; *) return 0 ;; esac
	done
	return 1
}
eventually "COMMAND is executed" executed
is "COMMAND: objects of obrec's" "$(find /proc/"$command"/fd -lname 'anon_inode:*' | wc -l)" 0
echo >"$T/end"; obrec_wait
is "COMMAND: exit" $status 0; gone "COMMAND"

# at the start: killed while it loads, and refused
programs() { bpftool prog show | grep -cE 'name (core_fork|core_exec|cpu_sample|offcpu_|net_)' || true; }
before=$(programs)
for ms in 020 060 120 250; do
	"$OBREC" -q -p $demo -e $probes -o "$T/dir/e.obz" 2>/dev/null & obrec=$!
	sleep 0.$ms; kill -9 $obrec 2>/dev/null || true; obrec_wait
done
# Setting up fails at one place after the other: a few more descriptors each time, until there are enough. How many
# that takes depends on the machine's CPUs, so nothing here names a number of them; attaching takes more than a dozen.
attaching=0 enough=0
for n in $(seq 40 3 $((1000 + 8 * cpus))); do
	status=0; prlimit --nofile=$n:$n "$OBREC" -q -d 100ms -p $demo -e $probes --debuginfo none -o "$T/dir/h.obz" 2>"$T/err" || status=$?
	if [ $status = 0 ]; then enough=$n; break; fi
	[ $status = 1 ] || fail "$n descriptors: exit $status: $(tail -n 1 "$T/err")"
	! grep -qE 'cannot (attach|sample|follow)' "$T/err" || attaching=$((attaching + 1))
	[ ! -e "$T/dir/h.obz" ] || fail "an archive of what could not be recorded"
done
within "descriptors that were enough" $enough 43 $((1000 + 8 * cpus))
within "attaching that failed half way" $attaching 2 $((300 + 8 * cpus))
status=0; "$OBREC" -q -d 1s -p 4194299 -e $probes -o "$T/dir/f.obz" 2>/dev/null || status=$?
is "no such process: exit" $status 1
no_more() { after=$(programs); [ "$after" -le "$before" ]; }
eventually "killed while starting, failed, refused: their programs are gone" no_more
within "killed while starting, failed, refused: programs more than before" $((after - before)) -100 0
is "temporary files" "$(find "$T/tmp" -type f | wc -l)" 0
is "pinned objects" "$(find /sys/fs/bpf -name '*obrec*' 2>/dev/null | wc -l)" 0
is "files beside the archives" "$(find "$T/dir" -type f ! -name '*.obz' ! -name '*.old' | wc -l)" 0
