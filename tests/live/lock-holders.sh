# Threads that hold a mutex in known functions, asleep, computing, or giving it back as soon as somebody waits: the time others waited is that
# which they measured, each wait is accounted to the thread that held the lock, in the function that held it; threads that wait in line are
# a convoy.
. tests/live/lib.inc
. tests/live/carriers.inc
. tests/live/lock-holders.inc
[ -x "$WORKLOAD/holders" ] || skip "needs make workload"
grep -q '^lock .* yes' "$T/list" || skip "no probe 'lock': $(grep '^lock ' "$T/list")"
ln -s "$WORKLOAD/holders" "$OBREC" "$T/"
PATH=$T:$PATH
out=$T tmp=$T
same() { is "$@"; }
result() { echo "ok: $1: $2"; }
wrong() { fail "$1: $2"; }
for _ in 1 2 3 4 5 6 7 8 9 10; do # security_run.inc says why
	holders_run 100 -e lock:rate=0,min=0s,period=0s --debuginfo auto
	grep -q 'LOST.*running already' "$out/holders.txt" || break
done
! grep 'LOST.*running already' "$out/holders.txt" || skip "programs were skipped, and this told, in each of ten runs"
is "exit" $status 0
is "losses" "$(sql "$T/holders.obz" "SELECT source, cause, count FROM loss")" ""
holders_told "$T/holders.obz" "$T/holders.did"

# ---- in the report
shown() { "$OBANA" show $1 "$T/holders.obz" --csv "${@:2}" | tail -n +2; }
is "held by, by function" "$(shown lock-holders | awk -F, '$5 ~ /^hold_/ {print $5}' | LC_ALL=C sort | xargs)" "hold_asleep hold_briefly hold_computing"
is "held by: those that held long above the one that did not" "$(shown lock-holders | awk -F, '$5 ~ /^hold_/ {print $5}' | tail -n 1)" hold_briefly
is "waiters with holders" "$(shown lock-pairs --limit 1000 --where "waiting = 'wait_for_it'" | awk -F, '{n += $1} END {print (n >= 300)}')" 1
is "and what these did" "$(shown lock-pairs --limit 1000 --where "waiting = 'wait_for_it' AND holding LIKE '%nap_ms < hold_asleep%'" | wc -l | awk '{print ($1 > 0)}')" 1
