# A known number of processes killed because a cgroup of their own reached its limit: rows with who ran out and who was killed, their
# memory and the limit, as the kernel's log tells, and oomkill. Counts are complete whatever the rate lets through.
# alone: changes what the whole host uses
. tests/live/lib.inc
. tests/live/security.inc
security_told oom 20 -e oomkill:rate=0 --debuginfo symtab
! grep "^skip: " "$T/oom.did" || exit 77
"$OBANA" show oomkill "$archive" >"$T/shown" && grep -q 'thin .* fat .* cgroup .*/obrec-known-' "$T/shown" || fail "show oomkill: $(head -n 3 "$T/shown")"
"$OBANA" show oom-by-limit "$archive" >"$T/shown" && grep -q '^ *2[12]  *cgroup  *24.0 MiB  */obrec-known-' "$T/shown" || fail "by limit: $(head -n 3 "$T/shown")"
is "functions of the allocation" "$(sql "$archive" "SELECT count(DISTINCT f.name) FROM oom o JOIN stack_frame sf USING (stack_id) JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id WHERE o.victim = 'hungry' AND f.name IN ('be_hungry', 'out_of_memory', 'mem_cgroup_out_of_memory')")" 3

security_run oom rated 20 -e oom:rate=1
kills=$(sed -n 's/^counted //p' "$T/rated.did")
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'oom' AND series = '$1'"; }
is "counted, beyond the rate" "$(of events) $(of killed)" "$kills $kills"
is "rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + (SELECT ifnull(sum(count), 0) FROM counter WHERE probe = 'oom' AND series = 'throttled') FROM oom")" $kills
