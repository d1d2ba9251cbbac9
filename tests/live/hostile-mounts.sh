# Targets whose files lie on filesystems (FUSE, as NFS) that stop answering: who asks them anything waits, and SIGKILL does not end that.
# obrec leaves behind who asked and goes on.
# alone: changes what the whole host uses
. tests/live/hostile.inc
[ -c /dev/fuse ] && grep -qw fuse /proc/filesystems || skip "no FUSE here"
command -v cc >/dev/null || skip "needs a C compiler"
mkdir "$T/try"
unshare -m sh -c 'exec 5<>/dev/fuse && mount -t fuse -o fd=5,rootmode=40755,user_id=0,group_id=0 try "$1"' sh "$T/try" 2>"$T/err" || skip "no FUSE mounts here: $(cat "$T/err")"
echo 'void work(void) { for (volatile int i = 0; i < 300000; i++) ; }' >"$T/lib.c"
cc -shared -fPIC -nostdlib -O1 -Wl,--build-id -o "$T/lib.so" "$T/lib.c"
"$WORKLOAD/badelf" plain "$T/plain"

# before SIGNAL WHAT FILE MODE [ARG...]: no more answers before obrec starts
before() {
	on_stuckfs "${@:2}"
	targets=$target
	held "$1"
	# Nothing obrec wants to know has to be looked up by name.
	if [ $2 = lookup ]; then is "its file was read" "$(sql "$T/a.obz" "SELECT count(*) FROM binary WHERE path LIKE '%/mnt/x' AND build_id <> ''")" 1; else told; fi
	left
}
# waiting SIGNAL MODE: its threads wait when the capture ends, and their stacks cannot be read
waiting() {
	on_stuckfs now,read "$plain" $2
	targets=$target
	held "$1" -e cpu,offcpu
	told
	left
}
# later SIGNAL WHAT FILE: a child of a target of obrec's maps it, and nobody ever answered
later() {
	mkfifo "$T/go"
	mkdir "$T/mnt"
	target sh -c 'echo ready $$; read -r _ <"$1"; shift; exec "$@"' sh "$T/go" "$WORKLOAD/stuckfs" "$T/mnt" "$3" "now,$2" -- "$WORKLOAD/hostile" map "$T/mnt/x"
	stuck+=($target)
	honest
	ready -p "$honest,$target"
	echo >"$T/go"
	IFS= read -r -t 60 line <&$said && [[ $line == "ready "* ]] || fail "no hostile target"
	recorded $1
	told
	left
}
# storm SIGNAL: executes the file all the time while the answers end
storm() {
	mkdir "$T/mnt"
	target "$WORKLOAD/stuckfs" "$T/mnt" "$WORKLOAD/hostile" all -- "$WORKLOAD/hostile" execs "$T/mnt/x"
	honest
	ready -p "$honest,$target"
	worked 20 $honest
	no_answers
	worked 20 $honest
	spent
	stopped $1
	of_honest 40
	left
}
# executed SIGNAL: the file is the program itself
executed() {
	mkdir "$T/mnt"
	target "$WORKLOAD/stuckfs" "$T/mnt" "$WORKLOAD/hostile" all -- sh -c 'exec "$1" spin' sh "$T/mnt/x"
	no_answers
	targets=$target
	held "$1"
	told
	left
}
# in_root SIGNAL DIR FILE MODE ARG...: the filesystem lies at DIR of the target's own root
in_root() {
	mkdir -p "$T/root/$2"
	cp --sparse=always "$T/../plain" "$T/root/plain"
	target "$WORKLOAD/stuckfs" "$T/root/$2" "$3" now,all -- "$WORKLOAD/hostile" -r "$T/root" "${@:4}"
	targets=$target
	held "$1"
	told
	left
}
plain=$T/plain lib=$T/lib.so
echo "1000 10 f" >"$T/map"
beside all before INT all "$plain" map
beside getattr before TERM getattr "$plain" map
beside open before INT open "$plain" map
beside read before INT read "$plain" map
beside flush before INT flush "$plain" map
beside lookup before "" lookup "$plain" map
beside dlopen before "" all "$lib" dlopen
beside exec executed INT
beside lock before INT now,read "$plain" lock
beside asleep waiting INT asleep
beside asleep-locked waiting TERM lock
beside later later TERM getattr "$plain"
beside storm storm INT
beside tmp in_root INT tmp "$T/map" perfmap none
beside debug in_root INT usr/lib/debug "$plain" map /plain
passed
