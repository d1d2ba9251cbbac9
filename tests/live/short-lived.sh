# Programs that live for a millisecond: their mappings are published soon enough for most of their samples, and a
# sample amid an exec is not counted as a broken stack.
. tests/live/lib.inc
"$OBREC" -q -F 999 -o "$T/s.obz" -- bash -c 'for ((i = 0; i < 1000; i++)); do /bin/true; done'
percent() { sql "$T/s.obz" "SELECT 100.0 * total(($1) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id"; }
within "images" "$(sql "$T/s.obz" "SELECT count(*) FROM process WHERE comm = 'true'")" 200 100000
within "complete stacks, %" "$(percent "ifnull(error, '') = ''")" 75 100
within "stack memory not readable, %" "$(percent "error = 'stack memory not readable'")" 0 3
