# Programs that live for a millisecond: their mappings are published soon enough for many of their samples (how many depends on what
# else runs: 89 % on an idle machine, 53 % seen on a busy one), the stacks of those are complete, and a sample amid an exec is not
# counted as a broken stack.
# alone: needs all of the machine
. tests/live/lib.inc
"$OBREC" -q -F 999 -o "$T/s.obz" -- bash -c 'for ((i = 0; i < 1000; i++)); do /bin/true; done'
percent() { sql "$T/s.obz" "SELECT 100.0 * total(($1) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id"; }
within "images" "$(sql "$T/s.obz" "SELECT count(*) FROM process WHERE comm = 'true'")" 200 100000
unknown=$(percent "ifnull(error, '') = 'process not known yet'")
within "samples before their process is known, %" $unknown 0 75
within "complete stacks of the others, %" "$(percent "ifnull(error, '') = ''" | awk "{print 100 * \$1 / (100 - $unknown)}")" 92 100
within "stack memory not readable, %" "$(percent "error = 'stack memory not readable'")" 0 3
