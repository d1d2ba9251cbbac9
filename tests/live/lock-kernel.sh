# Threads of one process that wait for locks of the kernel: for a file's, to write, for a file's position, and for a pipe's. The cells have as many waits of each
# kind as bpftrace counts on the same tracepoints, and the same time; so have rows and samples; who took the lock is a function of the wait's
# stack, who held it another thread of the process.
. tests/live/lib.inc
. tests/live/carriers.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/contend.c" <<'C'
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 10, SZ = 1 << 20, READ_SZ = 4 << 20, PIPE_SZ = 4096 };
static int file, whole, ends[2], cnt;
static volatile int is_read;
static char *from;
static void *contend(void *arg)
{
	for (int i = 0; i < cnt; i++)
		if (pwrite(file, from, SZ, 0) != SZ) exit(1);
	return arg;
}
static void *fill(void *arg)
{
	for (int i = 0; i < cnt * 10; i++)
		if (write(ends[1], from, PIPE_SZ) != PIPE_SZ) exit(1);
	return arg;
}
static void *drain(void *arg)
{
	static char to[PIPE_SZ];
	for (long left = 2L * cnt * 10 * PIPE_SZ, n; left; left -= n)
		if ((n = read(ends[0], to, sizeof(to))) <= 0) exit(1);
	return arg;
}
/* Holds the mutex of the position while it reads. Who is woken for it spins first, and may have to sleep again. */
static void *read_all(void *arg)
{
	char *to = malloc(READ_SZ);
	for (int i = 0; i < cnt; i++)
		if (!to || read(whole, to, READ_SZ) != READ_SZ || lseek(whole, 0, SEEK_SET)) exit(1);
	is_read = 1;
	return arg;
}
static void *seek(void *arg)
{
	while (!is_read)
		if (lseek(whole, 0, SEEK_SET)) exit(1);
	return arg;
}
static void *(*const work[THREADS])(void *) = {contend, contend, contend, fill, fill, drain, read_all, seek, seek, seek};
int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	char go;

	cnt = atoi(argv[1]);
	from = calloc(1, SZ);
	file = memfd_create("contended", 0);
	whole = memfd_create("read", 0);
	if (!from || file < 0 || whole < 0 || ftruncate(whole, 2L * READ_SZ) || pipe(ends) || read(0, &go, 1) != 1) return 1;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, work[i], NULL)) return 1;
	for (int i = 0; i < THREADS; i++) pthread_join(t[i], NULL);
	return 0;
}
C
cc -O1 -pthread -o "$T/contend" "$T/contend.c" || fail "cc"
awk '/^lock/ {at = 1} at && $1 == "all" {exit $2 == "no"}' "$T/list" || skip "no locks of the kernel here: $(awk '/^lock/ {at = 1} at && $1 == "all" {print; exit}' "$T/list")"
mkfifo "$T/go"
exec 5<>"$T/go"

# A wait for a mutex begins again each time it goes on spinning or asleep.
cat >"$T/peer.bt" <<'BT'
tracepoint:lock:contention_begin /pid == $1/ {
	if (@at[tid, args->lock_addr]) { @flags[tid, args->lock_addr] &= args->flags; }
	else { @flags[tid, args->lock_addr] = args->flags; @at[tid, args->lock_addr] = nsecs; }
}
tracepoint:lock:contention_end /pid == $1 && @at[tid, args->lock_addr]/ {
	@n[@flags[tid, args->lock_addr]] = count();
	@ns[@flags[tid, args->lock_addr]] = sum(nsecs - @at[tid, args->lock_addr]);
	delete(@at[tid, args->lock_addr]);
}
BEGIN { printf("ready\n"); }
END { clear(@at); clear(@flags); }
BT
ready() { grep -q '^ready' "$T/peer" || ! kill -0 $peer 2>/dev/null; }
once() {
	start sh -c 'exec "$1" 400 <"$2"' - "$T/contend" "$T/go"; of=$!
	peer=
	if command -v bpftrace >/dev/null; then
		bpftrace "$T/peer.bt" $of >"$T/peer" 2>&1 & peer=$!
		eventually "bpftrace" ready
		kill -0 $peer 2>/dev/null || peer=
	fi
	obrec_start -q -p $of -e lock:rate=0,min=0s,kernel-min=0s,period=0s --debuginfo none -o "$T/k.obz"
	echo >&5
	wait $of
	obrec_wait
	is "exit" $status 0
	[ -z "$peer" ] || { kill -INT $peer; wait $peer || true; }
}
# A wait amid a program, or one that an interrupt begins amid one, is not seen, and counted (security_run.inc).
for _ in 1 2 3 4 5 6 7 8 9 10; do
	once
	skipped=$(lost "$T/k.obz" "cause = 'program was running already'")
	[ "$skipped" != 0 ] || break
done
[ "$skipped" = 0 ] || skip "programs were skipped, and this told, in each of ten runs"
asked() { sql "$T/k.obz" "$1"; }
cells() { asked "SELECT count(*) > 0, sum(count), sum(sum) FROM histogram WHERE probe = 'lock' AND series = '$1'"; }
is "losses" "$(asked "SELECT source, cause, count FROM loss")" ""
is "cells by process, by lock" "$(cells kernel)" "$(cells kernel_locks)"
is "cells, rows" "$(cells kernel)" "$(asked "SELECT count(*) > 0, count(*), sum(wait_ns) FROM klock")"
is "rows, samples" "$(asked "SELECT count(*), sum(wait_ns) FROM klock")" "$(asked "SELECT sum(count), sum(value) FROM sample WHERE kind = 'klock'")"
is "rows, counted" "$(counted "$T/k.obz" lock klock_events)" "$(asked "SELECT count(*) FROM klock")"
is "the file's lock" "$(asked "SELECT count(*) > 0, count(DISTINCT address) FROM klock WHERE kind = 'rwsem, write' AND caller LIKE '%write_iter'")" 1,1
is "owners: other threads of the process" "$(asked "SELECT count(*) FROM klock k JOIN thread t ON t.id = k.thread_id JOIN process p ON p.id = t.process_id
	WHERE k.owner AND (k.owner_pid <> p.pid OR k.owner = t.tid OR k.owner_comm <> 'contend')")" 0
is "owners: threads" "$(asked "SELECT count(*) FROM klock WHERE owner AND owner NOT IN (SELECT tid FROM thread)")" 0
is "owners: of some waits for the file" "$(asked "SELECT sum(owner > 0) > 0 FROM klock WHERE kind = 'rwsem, write'")" 1 # it may be free when looked at
is "owners: of nobody who spins" "$(asked "SELECT count(*) FROM klock WHERE owner AND kind IN ('spinlock', 'rwlock, read', 'rwlock, write')")" 0
if [ "$(awk '$3 ~ /^__(sched|lock)_text_(start|end)$/ && $1 !~ /^0+$/' /proc/kallsyms | wc -l)" = 4 ]; then
	is "callers: on the stack, or (amid an interrupt) not known" "$(asked "SELECT count(*) FROM klock k WHERE caller <> '' AND NOT EXISTS (SELECT 1 FROM stack_frame sf
		JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id WHERE sf.stack_id = k.stack_id AND f.name = k.caller)")" 0
	is "callers: none takes locks itself" "$(asked "SELECT caller, kind, count(*) FROM klock WHERE caller GLOB '*mutex_lock*' OR caller GLOB '_raw_*' OR caller GLOB '*slowpath*' OR caller GLOB 'down_*' GROUP BY 1, 2")" ""
	is "callers: known" "$(asked "SELECT count(*) FROM klock WHERE caller = '' AND kind LIKE 'rwsem%'")" 0
fi
for name in lock-kernel lock-kernel-locks lock-kernel-owners lock-kernel-waits; do
	"$OBANA" show $name "$T/k.obz" >"$T/shown" && grep -q 'rwsem, write' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done

# ---- bpftrace
[ -n "$peer" ] || skip "ok so far; bpftrace: $(tail -n 1 "$T/peer" 2>/dev/null || echo none here)"
flags() { case $1 in spinlock) echo 1 ;; 'rwsem, write') echo 4 ;; 'rwsem, read') echo 2 ;; mutex) echo 32 ;; 'mutex, spun') echo 33 ;; 'rwlock, read') echo 3 ;; 'rwlock, write') echo 5 ;; *) echo "$1" ;; esac; }
asked "SELECT kind, count(*), sum(wait_ns) FROM klock GROUP BY 1" | tr -d '"' | sed 's/, \([a-z]\)/;\1/' | while IFS=, read -r kind n ns; do
	echo "$(flags "${kind/;/, }") $n $ns"
done | sort -n >"$T/ours"
sed -n 's/^@n\[\(.*\)\]: /\1 /p' "$T/peer" | sort -n >"$T/theirs"
is "waits by kind, as bpftrace counts them" "$(cut -d ' ' -f 1,2 "$T/ours" | xargs)" "$(xargs <"$T/theirs")"
sed -n 's/^@ns\[\(.*\)\]: /\1 /p' "$T/peer" | sort -n >"$T/theirs"
# Each takes its times before or behind the other's program; in between the host may take the CPU away.
while read -r kind n ns; do
	of=$(awk -v of=$kind '$1 == of {print $2}' "$T/theirs")
	within "time waited ($kind) less bpftrace's" $((ns - of)) $((-n * 20000 - of / 100 - 100000000)) $((n * 20000 + of / 100 + 100000000))
done <"$T/ours"
