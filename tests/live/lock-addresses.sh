# A million locks, each waited for once: every wait is counted, obrec's memory stays bounded, and a lock that comes behind them has its owner.
. tests/live/lib.inc
grep -q '^lock .* yes' "$T/list" || skip "no probe 'lock': $(grep '^lock ' "$T/list")"
addresses=$WORKLOAD/addresses n=1000000
[ -x "$addresses" ] || skip "needs make workload"
start_held "$addresses" $n >"$T/did"
obrec_start -q -p $held -e lock --debuginfo none -o "$T/a.obz"
before=$(awk '/^VmHWM/ {print $2}' /proc/$obrec/status)
let_go
wait $held || fail "the program"
while kill -0 $obrec 2>/dev/null && after=$(awk '/^VmHWM/ {print $2}' /proc/$obrec/status 2>/dev/null) && [ "$after" ]; do most=$after; sleep 0.1; done
obrec_wait
is "exit" $status 0
is "waits that timed out" "$(sql "$T/a.obz" "SELECT sum(count) FROM counter WHERE probe = 'lock' AND series = 'ended' AND key LIKE 'addresses%ETIMEDOUT'")" $n
within "KiB that obrec grew by, from $before" $((${most:-0} - before)) 0 65536
rows=$(sql "$T/a.obz" "SELECT count(*) FROM lock")
is "rows, and those not sent" $((rows + $(sql "$T/a.obz" "SELECT total(count) FROM counter WHERE probe = 'lock' AND series = 'throttled'" | cut -d. -f1))) \
	"$(sql "$T/a.obz" "SELECT sum(count) FROM counter WHERE probe = 'lock' AND series = 'events'")"
read -r address owner <"$T/did"
is "the last one's owner" "$(sql "$T/a.obz" "SELECT owner FROM lock WHERE address = $address")" $owner
