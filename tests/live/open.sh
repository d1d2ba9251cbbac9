# A known number of opens by each system call: each is a row with path, flags, mode, descriptor or error; the counter is complete
# whatever the rate lets through; other processes are left out; a path of 4095 bytes comes whole.
. tests/live/lib.inc
. tests/live/carriers.inc
command -v cc >/dev/null || skip "needs a C compiler"
grep -q '^open .* yes' "$T/list" || skip "no probe 'open': $(grep '^open ' "$T/list")"
cat >"$T/opens.c" <<'C'
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static char deep[4096];
int main(int argc, char **argv)
{
	struct open_how how = {.flags = O_RDWR | O_CREAT, .mode = 0600};
	char go;

	for (int i = 0; i < 4095; i++) deep[i] = i % 2 ? '.' : '/';
	if (read(0, &go, 1) != 1) return 1;
	for (int i = 0; i < atoi(argv[1]); i++) {
#ifdef SYS_open
		close(syscall(SYS_open, "a.open", O_RDWR | O_CREAT, 0640));
		close(syscall(SYS_creat, "a.creat", 0604));
#endif
		close(syscall(SYS_openat, AT_FDCWD, "a.openat", O_RDONLY | O_CREAT, 0644));
		close(syscall(SYS_openat2, AT_FDCWD, "a.openat2", &how, sizeof(how)));
		syscall(SYS_openat, AT_FDCWD, "missing/a.openat", O_WRONLY);
	}
	syscall(SYS_openat, AT_FDCWD, deep, O_RDONLY);
	return 0;
}
C
cc -O2 -o "$T/opens" "$T/opens.c"
mkfifo "$T/go" "$T/go2"

# run COUNT OBREC-OPTION...: records a run of COUNT rounds, beside another that is no target
run() {
	(cd "$T" && exec ./opens "$1" <go) & local seen=$!
	(cd "$T" && exec ./opens "$1" <go2) & local other=$!
	pids+=($seen $other)
	exec 8>"$T/go" 7>"$T/go2"
	obrec_start -p $seen --debuginfo none -o "$T/o.obz" "${@:2}"
	echo >&7; echo >&8
	wait $seen $other
	obrec_wait
	exec 8>&- 7>&-
	is "exit" $status 0
}

run 50 -e opensnoop:rate=0,stack
calls=$(rows "$T/o.obz" open "r.path.rstrip('/.') or 'deep'" | sort | uniq -c | awk '{print $2 "=" $1}' | xargs)
[ "$(uname -m)" = x86_64 ] && expect="a.creat=50 a.open=50 a.openat=50 a.openat2=50 deep=1 missing/a.openat=50" ||
	expect="a.openat=50 a.openat2=50 deep=1 missing/a.openat=50"
is "rows by path" "$calls" "$expect"
total=$(echo "$expect" | tr ' ' '\n' | awk -F= '{n += $2} END {print n}')
is "counted" "$(counted "$T/o.obz" open events opens)" $total
is "throttled" "$(counted "$T/o.obz" open throttled)" 0
is "how openat2 was called" "$(rows "$T/o.obz" open "(oct(r.mode), r.flags & 0o103, r.error) if r.path == 'a.openat2' else None" | sort -u)" "('0o600', 66, 0)"
is "how openat was called" "$(rows "$T/o.obz" open "(oct(r.mode), r.flags & 0o103, r.error) if r.path == 'a.openat' else None" | sort -u)" "('0o644', 64, 0)"
is "what is missing" "$(rows "$T/o.obz" open "(r.error, r.fd, r.mode) if r.path.startswith('missing') else None" | sort -u)" "(2, 0, 0)"
is "the longest path" "$(rows "$T/o.obz" open "len(r.path) if r.path[0] == '/' else None")" 4095
is "descriptors" "$(rows "$T/o.obz" open "r.fd > 2 if not r.error else None" | sort -u)" True
is "with both stacks and their thread" "$(rows "$T/o.obz" open "r.user_stack > 0 and r.kernel_stack > 0 and r.thread > 0 and r.duration_ns > 0" | sort -u)" True

run 400 -e open:rate=7
total=$((total / 50 * 400 + 1))
is "counted, beyond the rate" "$(counted "$T/o.obz" open events opens)" $total
sent=$(rows "$T/o.obz" open 1 | wc -l)
is "what was left out was counted" $((sent + $(counted "$T/o.obz" open throttled))) $total
[ "$sent" -ge 7 ] && [ "$sent" -lt $((total / 2)) ] || fail "$sent rows of $total at 7 a second"

run 5 -e open:failed,rate=0
is "only those that failed" "$(rows "$T/o.obz" open "r.error > 0" | sort | uniq -c | xargs)" "5 True"
