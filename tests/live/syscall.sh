# A known number of system calls of many kinds: each is counted in its cell, errors by errno, exactly, also of a thousand threads, of 32-bit
# and unknown numbers, and at a million a second; slow and failed calls are rows with arguments, paths and stacks; calls that never return
# are counted at the end; other processes are left out. Counts equal those of strace and syscount of the same run.
. tests/live/lib.inc
. tests/live/carriers.inc
command -v cc >/dev/null || skip "needs a C compiler"
grep -q '^syscall .* yes' "$T/list" || skip "no probe 'syscall': $(grep '^syscall ' "$T/list")"
cat >"$T/calls.c" <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <unistd.h>
static int cnt, hold[2];
static void *many(void *n)
{
	for (long i = 0; i < (long)n; i++) syscall(SYS_getppid);
	return NULL;
}
static void *group(void *n)
{
	for (long i = 0; i < (long)n; i++) syscall(SYS_getpgid, 0);
	return NULL;
}
static void threads(int threads, void *(*what)(void *), long each)
{
	pthread_t t[threads];
	pthread_attr_t small;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (int i = 0; i < threads; i++) if (pthread_create(&t[i], &small, what, (void *)each)) exit(4);
	for (int i = 0; i < threads; i++) pthread_join(t[i], NULL);
}
static void handler(int n) {}
static void *held(void *p) { char c; read(hold[0], &c, 1); return NULL; }
__attribute__((noinline)) static void slow_read(int fd) { char c; if (read(fd, &c, 1) != 1) exit(5); asm volatile(""); }
static void await_read(int pid)
{
	char path[64];
	int nr = -1;

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	while (nr != SYS_read) {
		FILE *f = fopen(path, "r");
		if (fscanf(f, "%d", &nr) != 1) nr = -1;
		fclose(f);
	}
}
static void errors(void)
{
	int quiet[2], dir = open("/", O_RDONLY | O_DIRECTORY);
	char c;

	pipe2(quiet, O_NONBLOCK);
	for (int i = 0; i < cnt; i++) {
		open("missing/a", O_RDONLY);                                      /* ENOENT */
		close(-1);                                                        /* EBADF */
		read(dir, &c, 1);                                                 /* EISDIR */
		mkdir("/", 0700);                                                 /* EEXIST */
		rename("from/a", "to/b");                                         /* ENOENT, with two paths */
		read(quiet[0], &c, 1);                                            /* EAGAIN */
		syscall(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY);               /* EFAULT: no path to read */
	}
	if (!fork()) { /* without root's privileges */
		prctl(PR_SET_NAME, "nobody");
		setresuid(65534, 65534, 65534);
		for (int i = 0; i < cnt; i++) { open("/etc/shadow", O_RDONLY); kill(1, 0); } /* EACCES, EPERM */
		_exit(0);
	}
	wait(NULL);
}
static void rejected(void) /* getppid() by EPERM, chroot() by ENOSYS */
{
	struct sock_filter code[] = {
		{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr)},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_getppid}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
		{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, SYS_chroot}, {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | ENOSYS},
		{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
	};
	struct sock_fprog filter = {sizeof(code) / sizeof(*code), code};

	if (!fork()) {
		prctl(PR_SET_NAME, "jailed");
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) exit(7);
		for (int i = 0; i < cnt; i++) { syscall(SYS_getppid); chroot("/jail"); getpid(); syscall(SYS_getpgid, 0); }
		_exit(0);
	}
	wait(NULL);
}
static void slow(void)
{
	struct sigaction a = {.sa_handler = handler};
	struct itimerval soon = {.it_value = {0, 20000}, .it_interval = {0, 20000}}, never = {0};
	struct timespec nap = {0, 20000000};
	int fd[2];

	pipe(fd);
	for (int i = 0; i < 5; i++) {
		if (!fork()) { await_read(getppid()); nanosleep(&nap, NULL); write(fd[1], "", 1); _exit(0); }
		slow_read(fd[0]); /* at least as long as the child sleeps */
		wait(NULL);
		syscall(SYS_nanosleep, &nap, NULL);
	}
	sigaction(SIGALRM, &a, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
	setitimer(ITIMER_REAL, &never, NULL);
}
static void foreign(void)
{
	for (int i = 0; i < cnt; i++) syscall(100000);
}
static void compat(void)
{
#if defined(__x86_64__)
	int nr = 20, got; /* getpid of i386 */
	for (int i = 0; i < cnt; i++) { asm volatile("int $0x80" : "=a"(got) : "a"(nr) : "memory"); if (got != getpid()) exit(6); }
#endif
}
int main(int argc, char **argv)
{
	char go;
	pthread_t t;

	if (argc < 3 || (argc > 3 && read(0, &go, 1) != 1)) return 1;
	cnt = atoi(argv[2]);
	if (strchr(argv[1], 'e')) errors();
	if (strchr(argv[1], 'r')) rejected();
	if (strchr(argv[1], 's')) slow();
	if (strchr(argv[1], 'f')) foreign();
	if (strchr(argv[1], 'i')) compat();
	if (strchr(argv[1], 'm')) threads(2, many, 1000000);
	if (strchr(argv[1], 't')) threads(1000, group, cnt);
	if (strchr(argv[1], 'h')) {
		pipe(hold);
		pthread_create(&t, NULL, held, NULL);
		puts("held"); fflush(stdout);
		read(0, &go, 1);
	}
	if (argc > 3) syscall(SYS_getsid, 0);
	return 0;
}
C
cc -O1 -g -w -pthread -o "$T/calls" "$T/calls.c"
mkfifo "$T/go" "$T/go2"
case $(uname -m) in x86_64) read=0 ;; *) read=63 ;; esac
out=$T tmp=$T
. tests/live/probes.inc
# run WHAT COUNT OBREC-OPTION...: records that run, beside another that is no target
run() {
	(cd "$T" && exec ./calls "$1" "$2" - <go >did) & target=$!
	(cd "$T" && exec ./calls "$1" "$2" - <go2 >did2) & local other=$!
	pids+=($target $other)
	exec 8<>"$T/go" 7<>"$T/go2"
	[ -z "${PEER-}" ] || peer_start $PEER -p $target
	obrec_start -p $target -o "$T/y.obz" "${@:3}"
	echo >&7; echo >&8
	if [[ $1 = *h* ]]; then
		eventually "two threads in read()" in_read 2
		sleep 0.05 # and for at least as long
		kill -INT $obrec
	fi
	obrec_wait
	echo >&7; echo >&8
	wait $target $other
	for p in $peers; do if kill -INT $p 2>/dev/null; then wait $p || true; fi; done
	exec 8>&- 7>&-
	is "exit" $status 0
}
in_read() { [ "$(cat /proc/$target/task/*/syscall | grep -c "^$read ")" = $1 ]; }
query() { sql "$T/y.obz" "$1"; }
# calls CALL: how many were counted; errors CALL: by errno
calls() { query "SELECT ifnull(sum(count), 0) FROM histogram WHERE probe = 'syscall' AND series = 'latency' AND key = 'calls' || char(9) || '$1'"; }
errors() { query "SELECT part(key, 'process' || char(9) || 'call' || char(9) || 'error', 'error') AS e, sum(count) FROM counter WHERE probe = 'syscall' AND series = 'errors' AND key LIKE '${2-calls}' || char(9) || '$1' || char(9) || '%' GROUP BY 1 ORDER BY 1" | xargs; }

# A kernel without 32-bit calls ends who tries with a signal.
compat=
[ "$(uname -m)" != x86_64 ] || ! "$T/calls" i 1 2>/dev/null || compat=i

# ---- counts, errors, rows
PEER="syscount -T 1000"
run erf$compat 40 -e syscount:errors,rate=0 --debuginfo none
is "openat" "$(errors openat)" "EFAULT,40 ENOENT,40"
is "close" "$(errors close)" "EBADF,40"
is "read" "$(errors read)" "EAGAIN,40 EISDIR,40"
is "rename" "$(errors rename%)" "ENOENT,40"
is "mkdir" "$(errors mkdir%)" "EEXIST,40"
is "without privileges" "$(errors openat nobody) $(errors kill nobody)" "EACCES,40 EPERM,40"
is "rejected by seccomp" "$(errors getppid jailed) $(errors chroot jailed) $(errors getpgid jailed)" "EPERM,40 ENOSYS,40 "
is "rejected calls are calls" "$(query "SELECT sum(count), sum(sum) FROM histogram WHERE probe = 'syscall' AND series = 'latency' AND key IN ('jailed' || char(9) || 'getppid', 'jailed' || char(9) || 'chroot')")" 80,0
is "rejected calls are rows" "$(query "SELECT count(*), min(path), max(path), max(duration_ns) FROM syscall WHERE call = 'chroot' AND error > 0")" 40,/jail,/jail,0
is "unknown number" "$(calls unknown) $(errors unknown)" "40 ENOSYS,40"
if [ -n "$compat" ]; then is "32-bit calls: getpid beside that of each check" "$(calls getpid) $(calls writev)" "80 0"
else echo "no 32-bit calls: this kernel has no int 0x80 (CONFIG_IA32_EMULATION, ia32_emulation=)"; fi
is "rows of errors are all errors counted" "$(query "SELECT count(*) FROM syscall WHERE error > 0")" "$(counted "$T/y.obz" syscall errors)"
is "a relative path" "$(query "SELECT DISTINCT path, args, arg0 & 0xffffffff, arg2 FROM syscall WHERE call = 'openat' AND error = 2")" "missing/a,4,4294967196,0"
is "two paths" "$(query "SELECT DISTINCT path, path2 FROM syscall WHERE call LIKE 'rename%' AND error = 2")" "from/a,to/b"
is "a path that cannot be read" "$(query "SELECT DISTINCT path, arg1 FROM syscall WHERE error = 14")" ",8"
is "no arguments beyond a call's own" "$(query "SELECT DISTINCT args, arg1, arg5 FROM syscall WHERE call = 'close'")" "1,0,0"
is "who it was" "$(query "SELECT DISTINCT p.comm FROM syscall s JOIN thread t ON t.id = s.thread_id JOIN process p ON p.id = t.process_id WHERE error = 13")" nobody
"$OBANA" show syscount "$T/y.obz" >"$T/out" && grep -q '^ *40 .* close$' "$T/out" || { cat "$T/out"; fail "show syscount"; }
is "lost" "$(lost "$T/y.obz")" 0
PEER=
if [ -s "$T/peer-syscount" ]; then
	for call in close rename mkdir; do is "$call, by syscount of libbpf-tools" "$(awk -v c=$call '$1 == c {print $2}' "$T/peer-syscount")" "$(calls $call)"; done
else echo "no syscount of libbpf-tools: $(head -n 1 "$T/peer-syscount.err" 2>/dev/null)"; fi

# ---- exact counts, of two busy threads and of a thousand that share slots
run mt 50 -e syscall --debuginfo none
is "2 threads as fast as they can" "$(calls getppid)" 2000000
is "1000 threads" "$(calls getpgid)" 50000
within "mean time of the fast calls, ns" "$(query "SELECT sum(sum) / sum(count) FROM histogram WHERE probe = 'syscall' AND key LIKE '%getppid'")" 10 100000
is "each in a bucket that holds it" "$(query "SELECT count(*) FROM histogram WHERE probe = 'syscall' AND (sum < count * low OR sum >= count * high)")" 0
is "lost" "$(lost "$T/y.obz")" 0

# ---- slow calls: those of the program, not those that wait by design; and one that has not returned at the end
run sh 1 -e syscall:rate=0
is "slow reads" "$(query "SELECT count(*), min(duration_ns >= 10000000), min(stack_id > 0) FROM syscall WHERE call = 'read' AND NOT unfinished AND thread_id IN (SELECT t.id FROM thread t JOIN process p ON p.id = process_id WHERE pid = $target)")" "5,1,1"
is "no rows of calls that wait" "$(query "SELECT count(*) FROM syscall WHERE call IN ('nanosleep', 'clock_nanosleep', 'wait4', 'pause')")" 0
is "but they are counted" "$(calls nanosleep) $(calls clock_nanosleep) $(errors pause)" "5 5 ERESTARTNOHAND,1"
is "the function that waited" "$(query "SELECT DISTINCT f.name FROM syscall s JOIN stack_frame sf USING (stack_id) JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id WHERE s.call = 'read' AND f.name = 'slow_read'")" slow_read
is "not returned" "$(query "SELECT call, arg2, duration_ns >= 10000000 FROM syscall WHERE unfinished AND duration_ns >= 10000000 ORDER BY arg0 DESC LIMIT 1")" "read,1,1"
is "not returned, counted" "$(query "SELECT sum(count) FROM counter WHERE probe = 'syscall' AND series = 'unreturned' AND key = 'calls' || char(9) || 'read'")" 2
"$OBANA" show syscall-slowest "$T/y.obz" | grep -q 'read *not returned' || fail "show syscall-slowest"

# ---- the rate
run e 400 -e syscall:errors,rate=10 --debuginfo none
total=$(counted "$T/y.obz" syscall errors) sent=$(query "SELECT count(*) FROM syscall")
is "errors, beyond the rate" "$(errors close)" "EBADF,400"
is "what was left out was counted" $((sent + $(counted "$T/y.obz" syscall throttled))) "$total"
within "rows at 10 a second" "$sent" 10 $((total / 2))

# ---- the same calls as strace counts them: all that come after the exec, which it counts too
command -v strace >/dev/null || { echo "no strace"; exit 0; }
"$OBREC" -q -e syscall --debuginfo none -o "$T/y.obz" -- strace -f -c -o "$T/strace" "$T/calls" erf$compat 30 >/dev/null
awk '$1 ~ /^[0-9.]+$/ && $NF != "total" && $NF !~ /^(execve$|exit|syscall_0x)/ {n[$NF] += $4; e[$NF] += NF == 6 ? $5 : 0}
	END {for (c in n) print c, n[c], e[c]}' "$T/strace" | sort >"$T/theirs"
query "SELECT c, n, ifnull(e, 0) FROM (SELECT substr(key, instr(key, char(9)) + 1) AS c, sum(count) AS n FROM histogram WHERE probe = 'syscall' AND series = 'latency' AND (key LIKE 'calls%' OR key LIKE 'nobody%' OR key LIKE 'jailed%')
	GROUP BY 1) LEFT JOIN (SELECT part(key, 'process' || char(9) || 'call', 'call') AS c, sum(count) AS e FROM counter WHERE probe = 'syscall' AND series = 'errors' AND (key LIKE 'calls%' OR key LIKE 'nobody%' OR key LIKE 'jailed%') GROUP BY 1) USING (c)" |
	tr ',' ' ' | grep -vE '^(unknown|execve|exit)' | sort >"$T/ours"
diff "$T/theirs" "$T/ours" >"$T/diff" || { cat "$T/diff"; fail "strace counted other calls (<)"; }
echo "ok: the same as strace: $(awk '{n += $2; e += $3} END {print NR " calls, " n " times, " e " errors"}' "$T/ours")"
