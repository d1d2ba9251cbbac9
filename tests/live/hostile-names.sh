# Targets with much of everything obrec writes down about them: 2 MiB of arguments and environment, arguments that lie in a file, 60,000
# mappings of oddly named files that change all the time, thousands of cgroups with long names.
. tests/live/hostile.inc
title() { # SIGNAL
	targets=
	for _ in {1..10}; do target "$WORKLOAD/hostile" title; targets+=${targets:+,}$target; done
	held "$1" --label-env X
	is "the same program" "$(sql "$T/a.obz" "SELECT count(*) FROM process WHERE pid IN ($targets) AND exe = '$WORKLOAD/hostile' AND length(cmdline) BETWEEN 1000 AND 8192")" 10
	left
}
args() {
	"$WORKLOAD/badelf" plain "$T/plain"
	target "$WORKLOAD/hostile" args "$T/plain"; targets=$target
	held "$1"
	is "the program" "$(sql "$T/a.obz" "SELECT exe FROM process WHERE pid = $target")" "$WORKLOAD/hostile"
	left
}
maps() {
	local n; n=$(cat /proc/sys/vm/max_map_count)
	n=$((n < 62000 ? n - 2000 : 60000))
	mkdir "$T/names"
	target "$WORKLOAD/hostile" maps $n "$T/names"; targets=$target
	held "$1"
	is "names as they are" "$(sql "$T/a.obz" "SELECT count(*) FROM binary WHERE path LIKE '%/names/%' AND path NOT IN
		('$T/names/a' || char(10) || 'b 00400000-00401000 r-xp 0 00:00 1 ', '$T/names/\\012 (deleted)', '$T/names/' || char(27) || '[2J' || char(10, 10, 10), '$T/names/ x')")" 0
	left
}
# cgroups SIGNAL HIERARCHY: 2,000 of them side by side, and one 15 deep whose path is nearly as long as paths may be
cgroups() {
	local name p deep=$group/$2
	name=$(printf '%0240d' 0)
	(cd "$deep" && seq -f "%g:$name" 2000 | xargs mkdir)
	for i in {1..14}; do deep+="/$name" && mkdir "$deep" 2>/dev/null || break; done
	honest
	echo $honest >"$group/$2/cgroup.procs"
	for i in 1 2 3; do
		target "$WORKLOAD/hostile" args "$WORKLOAD/hostile"
		echo $target >"${deep%/*}/cgroup.procs"
	done
	ready --cgroup "$group/$2"
	recorded $1
	is "those deep down" "$(sql "$T/a.obz" "SELECT count(*) FROM process WHERE comm = 'hostile' AND length(cgroup) > 2000")" 3
	left
}
groups=()
remove_groups() { for g in "${groups[@]}"; do eventually "its processes are gone" sh -c '! find "$1" -name cgroup.procs -exec cat {} + | grep -q .' sh "$g"; find "$g" -depth -type d -exec rmdir {} +; done; }
trap 'end_all; remove_groups; cleanup' EXIT
beside title title INT
beside args args TERM
beside maps maps INT
for version in cgroup cgroup2; do
	at=$(awk -v t=$version '$3 == t && (t == "cgroup2" || $4 ~ /pids|memory/) { print $2; exit }' /proc/mounts)
	group=$at/obrec-hostile-$$
	[ "$at" ] && mkdir "$group" 2>/dev/null || { echo "$version: not to be had here"; continue; }
	groups+=("$group")
	beside $version cgroups INT .
done
passed
