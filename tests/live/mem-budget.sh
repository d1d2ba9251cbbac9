# --cpu-budget with probe mem: its samples are thinned out in recorded steps, and their weights still add up to the faults that the kernel
# has counted, within five standard errors of the choice.
# alone: is about time on CPUs
. tests/live/lib.inc
grep -q '^mem .* yes' "$T/list" || skip "no probe 'mem': $(grep '^mem ' "$T/list")"
minor() { sed 's/.*) //' /proc/$load/stat | awk '{print $8}'; }
stands() { [ "$(sed 's/.*) //' /proc/$load/stat | cut -c1)" = T ]; }
stop() { kill -STOP $load; eventually "it stands still" stands; }

start "$WORKLOAD/burden" faults 3600 >/dev/null; load=$!
worked 5 $load
stop
for budget in 4% 2% 1% 0.5% 0.3%; do # a busy machine leaves the load less to record
	obrec_start -e mem:period=31,step=0 --cpu-budget $budget -p $load --debuginfo none -o "$T/b.obz"
	before=$(minor)
	kill -CONT $load
	worked 300 $load
	stop
	faults=$(($(minor) - before))
	obrec_stop
	steps=$(sql "$T/b.obz" "SELECT count(*) FROM thinning WHERE what = 'mem'")
	[ "$steps" = 0 ] || break
done
is "losses" "$(lost "$T/b.obz" "source IN ('ring', 'mem')")" 0
within "steps of mem at $budget" "$steps" 1 100
within "the least share" "$(sql "$T/b.obz" "SELECT min(kept) FROM thinning WHERE what = 'mem'")" 0 0.5
weights="FROM sample WHERE kind = 'minflt'"
within "weights, in periods of 31 faults" "$(sql "$T/b.obz" "SELECT count(DISTINCT value / count) $weights AND value / count IN (31, 62, 124, 248, 496, 992, 1984, 3968, 7936, 15872, 31744)")" 1 11
is "others" "$(sql "$T/b.obz" "SELECT count(*) $weights AND value / count NOT IN (31, 62, 124, 248, 496, 992, 1984, 3968, 7936, 15872, 31744)")" 0
error=$(sql "$T/b.obz" "SELECT CAST(5 * sqrt(sum(1.0 * value * value / count)) + 62 * $(nproc --all) AS INTEGER) $weights")
within "faults by weight, of $faults" "$(sql "$T/b.obz" "SELECT sum(value) $weights")" $((faults - error)) $((faults + error))
within "the error, of all" "$(awk -v e=$error -v n=$faults 'BEGIN {print e / n}')" 0 1
