# Fifty targets of each kind that holds up who looks at it, each with a file of its own, beside an honest one: it loses nothing.
# alone: needs all of the machine
. tests/live/hostile.inc
[ -c /dev/fuse ] && grep -qw fuse /proc/filesystems || skip "no FUSE here"
command -v cc >/dev/null || skip "needs a C compiler"
many=${MANY:-50}
echo 'void work(void) { for (volatile int i = 0; i < 300000; i++) ; }' >"$T/lib.c"
cc -shared -fPIC -nostdlib -O1 -Wl,--build-id -o "$T/lib.so" "$T/lib.c"
"$WORKLOAD/badelf" plain "$T/plain"
targets=
add() { targets+=${targets:+,}$target; echo "$1: $many"; }
stuck_kind() { # NAME ARGS-OF-on_stuckfs...
	local name=$1; shift
	case $name in ${KINDS:-*}) ;; *) return 0 ;; esac
	mkdir "$T/$name"
	T=$T/$name on_stuckfs "$@"
	add $name
}
kind() { case $1 in ${KINDS:-*}) target "${@:2}"; add $1 ;; esac; }

for ((i = 1; i <= many; i++)); do "$WORKLOAD/badelf" symtab "$T/symtab.$i" 300; done
mkdir -p "$T/root/tmp"
kind symtab "$WORKLOAD/hostile" -n $many map "$T/symtab"
kind hole "$WORKLOAD/hostile" -n $many -r "$T/root" perfmap hole
kind args "$WORKLOAD/hostile" -n $many args "$T/symtab"
stuck_kind all all "$T/plain" map
stuck_kind getattr getattr "$T/plain" map
stuck_kind open open "$T/plain" map
stuck_kind read read "$T/plain" map
stuck_kind flush flush "$T/plain" map
stuck_kind dlopen all "$T/lib.so" dlopen
stuck_kind lock now,read "$T/plain" lock
held INT
told
left
