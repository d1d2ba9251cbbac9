# Targets that run code without a file, and lay what they like where a JIT compiler's names are looked for: /tmp/perf-PID.map.
. tests/live/hostile.inc
one() { # SIGNAL KIND
	mkdir -p "$T/root/tmp"
	target "$WORKLOAD/hostile" -r "$T/root" perfmap $2
	targets=$target
	held "$1"
	left
}
# A line before the hole and one behind it: both are found, or it is said that one was not looked for.
ends() {
	one "$@"
	is "the function before the hole" "$(sql "$T/a.obz" "SELECT count(*) FROM function WHERE name = 'before_the_hole'")" 1
	is "the function behind it, or a loss" "$(sql "$T/a.obz" "SELECT (SELECT count(*) FROM function WHERE name = 'behind_the_hole') + (SELECT count(*) FROM loss WHERE source LIKE 'file access%' OR cause LIKE '%perf%map%') > 0")" 1
}
beside hole one INT hole
beside ends ends TERM ends
beside grow one INT grow
beside churn one INT churn
beside lines one "" lines
beside link one INT link
beside fifo one INT fifo
passed
