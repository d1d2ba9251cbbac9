# Containers: a server in namespaces and a root directory of its own is recorded from the host as it sees itself, named by the
# host's ids; obrec in a container with the host's PID namespace records it too, and in any other says so and records nothing.
. tests/live/lib.inc
for c in unshare ip chroot pivot_root nsenter redis-server redis-benchmark busybox cc pgrep; do
	command -v $c >/dev/null || skip "needs $c"
done
unshare -pmunC -f true 2>/dev/null || skip "no namespaces here"

# Ended by force alone: unshare and the init of a PID namespace are deaf to anything else.
inits=()
trap 'kill -KILL "${inits[@]}" 2>/dev/null || true; cleanup' EXIT

# ---- what obrec cannot do right it does not begin
refused() { # WHAT PATTERN COMMAND...
	local what=$1 pattern=$2 status=0
	shift 2
	"$@" >"$T/out" 2>"$T/err" || status=$?
	is "$what: exit" $status 4
	is "$what: lines" "$(wc -l <"$T/err")" 1
	grep -q -- "$pattern" "$T/err" || fail "$what: no '$pattern' in '$(cat "$T/err")'"
	[ ! -e "$T/x.obz" ] || fail "$what: an archive"
}
own_pids="unshare -pm -f --kill-child --mount-proc"
refused "own PID namespace, -p" hostPID $own_pids sh -c 'sleep 60 & exec "$0" "$@" -p $!' "$OBREC" -q -d 1s -o "$T/x.obz"
refused "own PID namespace, all" hostPID $own_pids "$OBREC" -q -d 1s -o "$T/x.obz"
refused "own PID namespace, COMMAND" hostPID $own_pids "$OBREC" -q -o "$T/x.obz" -- touch "$T/ran"
[ ! -e "$T/ran" ] || fail "COMMAND ran"
refused "own PID namespace, --list" hostPID $own_pids "$OBREC" --list
refused "own PID namespace, the host's /proc" hostPID unshare -p -f --kill-child "$OBREC" -q -d 1s -o "$T/x.obz"
# nsenter into a container's mount namespace alone
start unshare -pm -f --kill-child --mount-proc sleep 600; inner=$!
has_child() { pgrep -P $inner -x sleep >/dev/null; }
eventually "the inner process" has_child
inits+=("$(pgrep -P $inner -x sleep)")
refused "another PID namespace's /proc" hostPID nsenter -m -t ${inits[0]} "$OBREC" -q -d 1s -o "$T/x.obz"
users=yes
unshare -U --map-root-user true 2>/dev/null || users=
if [ "$users" ]; then refused "own user namespace" "user namespace" unshare -U --map-root-user "$OBREC" -q -d 1s -o "$T/x.obz"
else echo "no user namespaces here"; fi

# ---- a time namespace: obrec's times are the kernel's nevertheless, or it says so; COMMAND stays in it
if unshare -T --monotonic 50000 --boottime 90000 -f true 2>/dev/null; then
	moved="unshare -T --monotonic 50000 --boottime 90000 -f"
	start sh -c 'while :; do :; done'; busy=$!
	"$OBREC" -q -d 1s -e cpu -p $busy --debuginfo none -o "$T/host.obz"
	$moved "$OBREC" -q -d 1s -e cpu -p $busy --debuginfo none -o "$T/moved.obz"
	within "time namespace: samples" "$(sql "$T/moved.obz" "SELECT count(*) FROM sample")" 1 100000
	is "time namespace: samples outside of the capture" "$(sql "$T/moved.obz" "SELECT count(*) FROM sample, capture
		WHERE ts_ns NOT BETWEEN started_at_ns - 60000000000 AND started_at_ns + duration_ns + 60000000000")" 0 # a busy machine attaches late
	started="SELECT started_ns FROM process WHERE pid = $busy"
	within "time namespace: start of a process, ms apart" $((($(sql "$T/moved.obz" "$started") - $(sql "$T/host.obz" "$started")) / 1000000)) -1000 1000
	$moved "$OBREC" -q -e cpu -o "$T/moved.obz" -- readlink /proc/self/ns/time >"$T/out"
	! grep -qF "$(readlink /proc/self/ns/time)" "$T/out" || fail "COMMAND has left its time namespace"
	start $moved sh -c 'while :; do :; done'; eventually "a target in a time namespace" pgrep -P $!; busy=$(pgrep -P $!)
	"$OBREC" -q -d 1s -e cpu -p $busy --debuginfo none -o "$T/target.obz"
	is "a target in a time namespace: its start is long before its samples" "$(sql "$T/target.obz" "SELECT count(*) FROM process, capture
		WHERE pid = $busy AND started_ns BETWEEN started_at_ns - 600000000000 AND started_at_ns")" 1
	kill $busy
	refused "time namespace without CAP_SYS_ADMIN" "time namespace" $moved setpriv --inh-caps -sys_admin --bounding-set -sys_admin "$OBREC" -q -d 1s -o "$T/x.obz"
else echo "no time namespaces here"; fi

# ---- a root directory: /bin/cat is another program than the host's, and a library is in it that the host has nowhere
root=$T/root
mkdir -p "$root"/{bin,dev,etc,old,proc,tmp}
echo 'void spin_in_library(void) { for (volatile unsigned long n = 0; n < 1000000; n++); }' >"$T/lib.c"
echo 'void spin_in_library(void); void spin_in_program(void) { for (volatile unsigned long n = 0; n < 1000000; n++); }
	int main(void) { for (;;) { spin_in_program(); spin_in_library(); } }' >"$T/spin.c"
cc -O1 -fPIC -shared -o "$root/libinside.so" "$T/lib.c"
cc -O1 -o "$root/bin/cat" "$T/spin.c" -L "$root" -linside -Wl,-rpath,/
for f in busybox redis-server redis-benchmark; do cp "$(readlink -f "$(command -v $f)")" "$root/bin/$f"; done
ln -s busybox "$root/bin/sh"; ln -s busybox "$root/bin/sleep"
mknod "$root/dev/null" c 1 3
{ ldd 2>/dev/null "$root"/bin/{busybox,redis-server,redis-benchmark} || true; } | grep -o '/[^ :]*' | sort -u | while read -r f; do
	case $f in "$root"*) ;; *) cp --parents -L "$f" "$root" ;; esac
done
echo 'root:x:0:0::/:/bin/sh' >"$root/etc/passwd"
cat >"$root/init" <<'I'
redis-server --port 7700 --save "" --appendonly no --dir /tmp --logfile /tmp/log &
cat &
read -r _ </go
redis-benchmark -p 7700 -q -c 5 -n 2000 -t set,lpush >/tmp/out && echo done >/tmp/done
exec sleep 600
I
mkfifo "$root/go"
cat >"$T/enter" <<'E'
ip link set lo up
case $1 in
chroot) exec chroot "$2" /bin/sh /init ;;
esac
mount --bind "$2" "$2" && cd "$2" && pivot_root . old && exec /bin/sh -c 'cd / && busybox umount -l /old && exec sh /init'
E

# inside WHAT HOW UNSHARE-OPTION...: $redis and $spin get the host's pids, $init that of the namespace's init
inside() {
	local what=$1 how=$2 outer
	shift 2
	rm -f "$root"/tmp/*
	start env PATH="/bin:$PATH" unshare "$@" -f --kill-child bash "$T/enter" $how "$root"; outer=$!
	eventually "$what: its init" pgrep -P $outer
	init=$(pgrep -P $outer)
	inits+=($init)
	eventually "$what: redis" grep -q "Ready to accept" "$root/tmp/log"
	eventually "$what: cat" pgrep -P $init -f '^cat'
	redis=$(pgrep -P $init -f ^redis-server) spin=$(pgrep -P $init -f '^cat')
}
# judge WHAT ARCHIVE: what it did is said as it saw it itself
judge() {
	local a=$2
	is "$1: losses" "$(lost "$a")" 0
	is "$1: ids here and inside" "$(sql "$a" "SELECT DISTINCT pid, ns_pid FROM process WHERE pid IN ($redis, $spin) ORDER BY comm")" \
		"$(for p in $spin $redis; do awk -v p=$p '$1 == "NSpid:" {print p "," $NF}' /proc/$p/status; done)"
	is "$1: messages, paired" "$(sql "$a" "SELECT count(*), sum(paired) FROM message m JOIN connection c ON c.id = connection_id
		JOIN process p ON p.id = process_id WHERE pid = $redis AND role = 'server' AND method IN ('SET', 'LPUSH')")" 4000,4000
	is "$1: where they were sent" "$(sql "$a" "SELECT DISTINCT c.netns, local_addr, local_port, remote_addr FROM connection c
		JOIN process p ON p.id = process_id WHERE pid = $redis")" \
		"$(stat -Lc %i /proc/$redis/ns/net),127.0.0.1,7700,127.0.0.1"
	is "$1: functions, of which file, symbols" "$(sql "$a" "SELECT DISTINCT f.name, b.path, b.symbols FROM function f
		JOIN binary b ON b.id = binary_id WHERE f.name LIKE 'spin_in_%' ORDER BY 1")" \
		"$(printf 'spin_in_library,/libinside.so,symtab\nspin_in_program,/bin/cat,symtab')"
	within "$1: complete stacks of it, %" "$(sql "$a" "SELECT 100.0 * total((ifnull(error, '') = '') * count) / total(count)
		FROM sample JOIN stack k ON k.id = stack_id JOIN thread t ON t.id = thread_id JOIN process p ON p.id = process_id
		WHERE pid = $spin HAVING total(count) >= 10")" 98 100
}
# recorded WHAT TARGET...: what is inside ends with it
recorded() {
	local what=$1
	shift
	obrec_start -q -e cpu,l4,l7 "$@" -o "$T/a.obz"
	echo >"$root/go"
	eventually "$what: the load" written "$root/tmp/done"
	worked 20 $spin
	obrec_stop "$what"
	judge "$what" "$T/a.obz"
	kill -KILL $init; unset 'inits[-1]'
}
inside chroot chroot -pmunC
recorded "chroot, -p" -p $redis,$spin
if [ "$users" ]; then
	inside "pivot_root" pivot_root -U --map-root-user -pmunC
	recorded "pivot_root, user namespace, -p" -p $redis,$spin
fi
# obrec in a container with the host's processes: docker run --privileged --pid=host
inside "beside" chroot -pmun
here=$OBREC
OBREC="unshare -mnu $here" recorded "obrec in a container, -p" -p $redis,$spin
# its cgroup, of either version; from a cgroup namespace that does not hold it nobody can tell who is in it
cgroups=$(awk '$3 == "cgroup2" || $3 == "cgroup" && $4 ~ /memory/ { print $2; exit }' /proc/mounts)
if [ -n "$cgroups" ] && mkdir -p "$cgroups/obrec-ns-$$"/{a,b} 2>/dev/null; then
	group=$cgroups/obrec-ns-$$
	trap 'kill -KILL "${inits[@]}" 2>/dev/null || true; cleanup; rmdir "$group"/{a,b} "$group"' EXIT
	inside "cgroup" chroot -pmunC
	for p in $init $redis $spin; do echo $p >"$group/a/cgroup.procs"; done
	status=0
	sh -c 'echo $$ >"$1/b/cgroup.procs" && exec unshare -C "$2" -q -d 1s --cgroup "$1/a" -o "$3"' \
		sh "$group" "$here" "$T/x.obz" 2>"$T/err" || status=$?
	is "from a cgroup namespace below: exit" $status 1
	is "from a cgroup namespace below: says why" "$(grep -c -- --cgroupns=host "$T/err") $(wc -l <"$T/err")" "1 1"
	recorded "--cgroup" --cgroup "$group/a"
else
	echo "no cgroups here"
fi
