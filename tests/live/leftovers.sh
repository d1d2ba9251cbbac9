# Nothing is left behind: no BPF program, map or link, no file, no process, however obrec ends.
. tests/live/lib.inc
command -v bpftool >/dev/null || skip "needs bpftool"
start "$WORKLOAD/demo" 120 >/dev/null; demo=$!
mkdir "$T/dir" "$T/tmp"
export TMPDIR=$T/tmp
ours() { # PID: kinds and ids of the programs, maps and links it holds
	cat /proc/"$1"/fdinfo/* 2>/dev/null | sed -nE 's/^(prog|map|link)_id:[[:space:]]*([0-9]+)$/\1 \2/p' | sort -u || true
}
exists() { bpftool "$1" show id "$2" >/dev/null 2>&1; }
gone() { # WHAT: every id of $T/ids is gone, within what RCU takes
	for _ in $(seq 100); do
		left=0
		while read -r kind id; do ! exists "$kind" "$id" || left=$((left + 1)); done <"$T/ids"
		[ $left = 0 ] && break
		sleep 0.1
	done
	is "$1: of $(wc -l <"$T/ids") objects left" $left 0
	is "$1: temporary files" "$(find "$T/tmp" -type f | wc -l)" 0
}
probes=cpu,offcpu,l4,l7
held() { ours $obrec >"$T/ids"; within "objects held" "$(wc -l <"$T/ids")" 10 200; }

obrec_start -p $demo -e $probes -o "$T/dir/a.obz"; held; kill -INT $obrec; obrec_wait
is "Ctrl-C: exit" $status 0; gone "Ctrl-C"
obrec_start -d 2s -p $demo -e $probes -o "$T/dir/b.obz"; held; obrec_wait
is "-d: exit" $status 0; gone "-d"
obrec_start -a -e $probes -o "$T/dir/c.obz"; held; kill -9 $obrec; obrec_wait
gone "kill -9"
mkdir "$T/small"; mount -t tmpfs -o size=64k tmpfs "$T/small"
obrec_start -d 30s -F 999 -p $demo -e $probes --debuginfo none -o "$T/small/d.obz"; held; obrec_wait
is "disk full: exit" $status 3; gone "disk full"

# at the start: killed while it loads, and refused
before=$(bpftool prog show | grep -cE 'name (core_fork|core_exec|cpu_sample|offcpu_|net_)' || true)
for ms in 020 060 120 250; do
	"$OBREC" -q -p $demo -e $probes -o "$T/dir/e.obz" 2>/dev/null & obrec=$!
	sleep 0.$ms; kill -9 $obrec 2>/dev/null || true; obrec_wait
done
status=0; "$OBREC" -q -d 1s -p 4194299 -e $probes -o "$T/dir/f.obz" 2>/dev/null || status=$?
is "no such process: exit" $status 1
for _ in $(seq 50); do
	after=$(bpftool prog show | grep -cE 'name (core_fork|core_exec|cpu_sample|offcpu_|net_)' || true)
	[ "$after" -le "$before" ] && break
	sleep 0.2
done
within "killed while starting, refused: programs more than before" $((after - before)) -100 0
is "temporary files" "$(find "$T/tmp" -type f | wc -l)" 0
is "pinned objects" "$(find /sys/fs/bpf -name '*obrec*' 2>/dev/null | wc -l)" 0
is "files beside the archives" "$(find "$T/dir" -type f ! -name '*.obz' ! -name '*.old' | wc -l)" 0
