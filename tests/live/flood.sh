# A million and more events a second of a kind, from two processes: the cells hold each of them, as the programs count; the rows are
# bounded, and what was not sent is counted.
# alone: needs all of the machine
. tests/live/lib.inc
. tests/live/carriers.inc
sql() { "$OBANA" query "$1" "$2" --csv | tail -n +2; }
# flood PROBE MODE SECONDS: the archive $T/MODE-SECONDS.obz; what the two counted in $counted
flood() {
	"$OBREC" -q -e "$1" --debuginfo none -o "$T/$2-$3.obz" -- sh -c '"$0" "$1" "$2" & "$0" "$1" "$2"; wait' "$WORKLOAD/burden" "$2" "$3" >"$T/counts" 2>"$T/err" ||
		fail "$(cat "$T/err")"
	is "$2: those that counted" "$(wc -l <"$T/counts")" 2
	counted=$(awk '{n += $1} END {print n}' "$T/counts")
}
# cells ARCHIVE TABLE PROBE SERIES [KEY]: of the two, what they add up to
cells() { sql "SELECT ifnull(sum(count), 0) FROM $2 WHERE probe = '$3' AND series = '$4' AND key GLOB 'burden${5-}'" "$1"; }
# each PROBE MODE TABLE SERIES KEY: as many in the cells as there were; those of their start and end apart, which a run of no length has
each() {
	local probe=${1%%:*} mode=$2 others
	flood "$1" "$mode" 0
	others=$(($(cells "$T/$mode-0.obz" "$3" "$probe" "$4" "$5") - counted))
	flood "$1" "$mode" 2
	is "$mode: in the cells, of $((counted / 2)) a second" "$(($(cells "$T/$mode-2.obz" "$3" "$probe" "$4" "$5") - others))" "$counted"
}
# bounded PROBE MODE: rows and those that were not sent are all
bounded() {
	local archive=$T/$2-2.obz rows
	rows=$(sql "SELECT count(*) FROM $1 x JOIN thread t ON t.id = x.thread_id WHERE t.comm = 'burden'" "$archive")
	is "$2: $rows rows, and those not sent" "$((rows + $(cells "$archive" counter "$1" throttled)))" "$(cells "$archive" counter "$1" events)"
	within "$2: rows at a rate of 500, of two processes" "$rows" 1 "$(sql "SELECT 2 * 500 * (duration_ns / 1000000000 + 2) FROM capture" "$archive")"
}
each open:rate=500 opens counter events ""
bounded open opens
each signal:rate=500 signals counter events ""
bounded signal signals
each syscall calls histogram latency "	getppid*"

# Switches by the hundred thousand a second: as many waits for a CPU as the kernel counts switches away. A thread's last is to its end,
# its first was its start.
cat >"$T/switches.py" <<'PY'
import os, sys
pid = os.spawnv(os.P_NOWAIT, sys.argv[1], ["burden", "switches", "2"])
_, status, used = os.wait4(pid, 0)
print(used.ru_nvcsw + used.ru_nivcsw)
sys.exit(status != 0)
PY
"$OBREC" -q -e runq --debuginfo none -o "$T/switches.obz" -- python3 "$T/switches.py" "$WORKLOAD/burden" >"$T/out" 2>"$T/err" || fail "$(cat "$T/err" "$T/out")"
away=$(tail -n 1 "$T/out") waits=$(cells "$T/switches.obz" histogram runq latency "	*")
within "switches: waits for a CPU, of $away switches away" $((waits - away)) $((-20 - $(sql "SELECT ifnull(sum(count), 0) FROM loss" "$T/switches.obz"))) 20
