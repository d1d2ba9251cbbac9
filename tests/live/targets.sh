# Who is recorded: processes by pid, name and cgroup, those that come later, their children; what they are labelled with.
# alone: records the whole host
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/spin.c" <<'C'
#include <stdlib.h>
#include <time.h>
static volatile unsigned long n;
int main(int argc, char **argv)
{
	struct timespec a, b;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 100000; i++) n++;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
	} while (b.tv_sec - a.tv_sec < (argc > 1 ? atoi(argv[1]) : 1000));
}
C
cc -O2 -o "$T/spin-one" "$T/spin.c"
cp "$T/spin-one" "$T/spin-two"; cp "$T/spin-one" "$T/other"

# recorded ARCHIVE PID: whether there are samples of it
recorded() { sql "$1" "SELECT count(*) > 0 FROM sample JOIN thread t ON t.id = thread_id JOIN process p ON p.id = t.process_id WHERE pid = $2"; }
comms() { sql "$1" "SELECT group_concat(comm) FROM (SELECT DISTINCT p.comm FROM sample JOIN thread t ON t.id = thread_id JOIN process p ON p.id = t.process_id ORDER BY 1)"; }

# several -p, and nobody else
start "$T/spin-one"; one=$!
start "$T/spin-two"; two=$!
start "$T/other"; other=$!
both() { worked 20 $one; worked 20 $two; } # each of them
obrec_start -q -p $one,$two -o "$T/p.obz"; both; obrec_stop
is "-p A,B: the first" "$(recorded "$T/p.obz" $one)" 1
is "-p A,B: the second" "$(recorded "$T/p.obz" $two)" 1
is "-p A,B: nobody else" "$(comms "$T/p.obz" | tr -d '"')" spin-one,spin-two
obrec_start -q -p $one -p $two -o "$T/p2.obz"; both; obrec_stop
is "-p A -p B: both" "$(comms "$T/p2.obz" | tr -d '"')" spin-one,spin-two

# -a: all, but never obrec
obrec_start -q -o "$T/a.obz"; worked 20 $other; obrec_stop
is "-a: one of all" "$(recorded "$T/a.obz" $other)" 1
is "-a: obrec itself" "$(sql "$T/a.obz" "SELECT count(*) FROM process WHERE comm = 'obrec' AND cmdline LIKE '%$T/a.obz%'")" 0

# -a with COMMAND: all while COMMAND runs, COMMAND too, and its exit status
status=0
"$OBREC" -q -a -o "$T/ac.obz" -- sh -c '"$0" 1; exit 7' "$T/spin-two" || status=$?
is "-a -- COMMAND: exit status" $status 7
is "-a -- COMMAND: why it stopped" "$(sql "$T/ac.obz" "SELECT stop_reason FROM capture" | tr -d '"')" command-exit
is "-a -- COMMAND: COMMAND and another" "$(comms "$T/ac.obz" | tr ',' '\n' | tr -d '"' | grep -c '^spin-\(one\|two\)$')" 2
kill $one $two

# --comm, also of those that start later
obrec_start -F 499 --comm 'spin-*' -o "$T/c.obz"
"$T/spin-one" 1 & later=$!
wait $later || true
obrec_stop
is "--comm: a later one" "$(recorded "$T/c.obz" $later)" 1
is "--comm: nobody else" "$(comms "$T/c.obz" | tr -d '"')" spin-one
# Until obrec has read its program's table none is complete; then all are but those in a library whose table comes later.
within "--comm: complete stacks of the later one, from the first on, %" "$(sql "$T/c.obz" "WITH s AS (SELECT ts_ns, count, ifnull(error, '') = '' AS whole FROM sample JOIN stack k ON k.id = stack_id)
	SELECT 100.0 * total(whole * count) / total(count) FROM s WHERE ts_ns >= (SELECT min(ts_ns) FROM s WHERE whole)")" 80 100

# children: followed, or not
tree='for i in 1 2; do "$0" 1; done'
obrec_start -o "$T/k.obz" -- bash -c "$tree; true" "$T/spin-one"; obrec_wait
within "children followed" "$(sql "$T/k.obz" "SELECT count(DISTINCT pid) FROM process WHERE comm = 'spin-one'")" 2 2
mkfifo "$T/go"
bash -c "read -r _ <'$T/go'; $tree; while :; do :; done" "$T/spin-one" & parent=$!; pids+=($parent)
obrec_start --no-inherit -p $parent -o "$T/n.obz"; echo >"$T/go"; worked 30 $parent; obrec_stop
is "--no-inherit: the parent alone" "$(comms "$T/n.obz" | tr -d '"')" bash
is "--no-inherit: not warned of children" "$(wc -l <"$T/obrec.err") $(grep -c child "$T/obrec.err")" "1 0"
kill $parent

# those forked before are not: said at the start, with how to name them; of a server whose master does nothing, and who names all
"$T/other" 1000 & alone=$!; pids+=($alone)
bash -c '"$0" & "$0" & wait' "$T/spin-two" & master=$!; pids+=($master)
two_workers() { [ "$(pgrep -c -P $master -x spin-two)" = 2 ]; }
eventually "its workers" two_workers
workers=$(pgrep -d, -P $master)
pids+=(${workers//,/ })
obrec_start -p $alone,$master -o "$T/w.obz"; obrec_stop
is "children there before: a line" "$(grep -c "process $master already has 2 children, not recorded: .*-p $master,\$(pgrep -d, -P $master)" "$T/obrec.err") of $(grep -c children "$T/obrec.err")" "1 of 1"
obrec_start -p $master,$(pgrep -d, -P $master) -o "$T/w.obz"; worked 20 ${workers//,/ }; obrec_stop
is "named as it says: no line" "$(grep -c child "$T/obrec.err")" 0
is "named as it says: recorded" "$(comms "$T/w.obz" | tr -d '"')" spin-two
kill $alone $master ${workers//,/ }

# cgroups of both versions: members, those below, those that join later; the container's id from the path
id=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef
dirs=()
trap 'cleanup; for d in "${dirs[@]}"; do rmdir "$d"/docker-* "$d" 2>/dev/null || true; done' EXIT
cgroup() { # NAME HIERARCHY CHECK-ID
	local dir=$2/obrec-test-$$ args a b c
	mkdir -p "$dir/docker-$id.scope" 2>/dev/null || { echo "no $1 here"; return; }
	dirs+=("$dir")
	"$T/spin-one" & a=$!; "$T/spin-two" & b=$!; "$T/other" & c=$!
	pids+=($a $b $c)
	echo $a >"$dir/cgroup.procs"; echo $b >"$dir/docker-$id.scope/cgroup.procs"
	obrec_start --cgroup "${dir%/*}/.//${dir##*/}/." -o "$T/$1.obz" # another spelling
	worked 20 $a; worked 20 $b
	(echo $BASHPID >"$dir/cgroup.procs"; exec "$T/spin-two") & local d=$!
	pids+=($d)
	echo $c >"$dir/cgroup.procs"
	worked 50 $c; worked 50 $d # who belongs to it is looked at again and again
	obrec_stop
	is "$1: a member" "$(recorded "$T/$1.obz" $a)" 1
	is "$1: one below" "$(recorded "$T/$1.obz" $b)" 1
	is "$1: moved in later" "$(recorded "$T/$1.obz" $c)" 1
	is "$1: started in it later" "$(recorded "$T/$1.obz" $d)" 1
	is "$1: nobody else" "$(sql "$T/$1.obz" "SELECT count(*) FROM process WHERE pid NOT IN ($a, $b, $c, $d)")" 0
	kill $a $b $c $d 2>/dev/null || true
	wait $a $b $c $d 2>/dev/null || true
	[ "$3" = "" ] || is "$1: the container's id" "$(sql "$T/$1.obz" "SELECT container_id FROM process WHERE pid = $b" | head -n 1)" "$id"
}
# the hierarchies of memory and v2 are where runtimes are looked for; this machine may be in a container itself
v1=$(awk '$3 == "cgroup" && $4 ~ /memory/ { print $2; exit }' /proc/mounts)
v2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
[ -z "$v1" ] || cgroup cgroup-v1 "$v1" id
[ -z "$v2" ] || cgroup cgroup-v2 "$v2" "$([ -n "$v1" ] || echo id)"

# labels: those given, those named, no other variable's value anywhere in the archive
secret=hunter$RANDOM$RANDOM
STAGE=canary SECRET=$secret "$T/spin-one" 20 & env=$!; pids+=($env)
"$OBREC" -q -d 1s -p $env --label team=search --label "note=a=b c" --label-env STAGE --label-env UNSET -o "$T/l.obz"
is "labels" "$(sql "$T/l.obz" "SELECT group_concat(key || '=' || value, ' ') FROM (SELECT DISTINCT key, value FROM label ORDER BY key)" | tr -d '"')" "STAGE=canary note=a=b c team=search"
mkdir "$T/x"; tar xf "$T/l.obz" -C "$T/x"
find "$T/x" -name '*.zst' | xargs -n 1 zstd -qdc >"$T/bytes"
cat "$T/x"/*.json >>"$T/bytes"
grep -q canary "$T/bytes" || fail "the label is not where it was looked for"
! grep -q "$secret" "$T/bytes" || fail "a variable nobody named is in the archive"
