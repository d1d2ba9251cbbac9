# Waits for futexes inside io_uring: each is a row with its word, its result, where it was submitted, and a time no longer than the program
# measured and no shorter than the other thread let it wait; one that nobody ends is told.
. tests/live/lib.inc
grep -q '^lock .* yes' "$T/list" || skip "no probe 'lock': $(grep '^lock ' "$T/list")"
uring=$WORKLOAD/uring n=20
[ -x "$uring" ] || skip "needs make workload"
start_held "$uring" $n >"$T/did"
obrec_start -q -p $held -e lock:rate=0,min=0s,period=0s -o "$T/a.obz"
let_go
told() { grep -q forever "$T/did" || ! kill -0 $held; }
eventually "the program has done its waits" told
kill -0 $held || { rc=0; wait $held || rc=$?; [ $rc != 77 ] || skip "no futexes in this kernel's io_uring"; fail "the program: exit $rc"; }
obrec_stop
is "losses" "$(lost "$T/a.obz" "source IN ('lock', 'ring', 'probe')")" 0
# waits_of OPERATION ADDRESS [CONDITION]: waits, those that were woken, those for this word
waits_of() { sql "$T/a.obz" "SELECT count(*), sum(error = 0), sum(address = $2) FROM lock WHERE operation = '$1'${3:+ AND $3}"; }
while read -r name address count ns; do
	case $name in
	wait) is "waits, woken, of the word" "$(waits_of "io_uring wait" $address "error = 0 AND unfinished = 0")" "$count,$count,$count" ;;
	waitv) is "waits for two words" "$(waits_of "io_uring waitv" $address)" "$count,$count,$count" ;;
	changed) is "refused" "$(sql "$T/a.obz" "SELECT count(*) FROM lock WHERE operation = 'io_uring wait' AND error = 11")" 1; continue ;;
	forever) is "still waiting" "$(sql "$T/a.obz" "SELECT sum(count) FROM counter WHERE probe = 'lock' AND series = 'ended' AND key LIKE '%io_uring wait%still waiting'")" 1; continue ;;
	esac
	within "$name: time waited, ns" "$(sql "$T/a.obz" "SELECT sum(wait_ns) FROM lock WHERE operation = 'io_uring $name' AND error = 0 AND NOT unfinished")" $((count * 10000000)) $ns
done <"$T/did"
is "submitted by" "$(sql "$T/a.obz" "SELECT DISTINCT f.name FROM lock l JOIN stack_frame s ON s.stack_id = l.stack_id JOIN frame r ON r.id = s.frame_id JOIN function f ON f.id = r.function_id WHERE l.operation LIKE 'io_uring%' AND f.name LIKE 'submit%'")" submit_wait
is "samples of them, submitted by it" "$(sql "$T/a.obz" "SELECT sum(count) FROM sample WHERE kind IN ('futex', 'lock') AND stack_id IN (SELECT stack_id FROM lock WHERE operation LIKE 'io_uring%')")" $((2 * n + 2)) # with the one that still waits
