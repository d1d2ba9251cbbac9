# Words that look as if they had an owner, in a pid namespace whose threads have the numbers that are in them: an allocator's lock with a
# flag where glibc's mutex has its owner, a mutex of musl that has none, a count of readers. Nobody is said to hold them; a mutex's owner is.
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
unshare -pf --mount-proc true 2>/dev/null || skip "needs pid namespaces"
cat >"$T/words.c" <<'C'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAITS = 20, SLEEPERS = 20 };
static struct {
	uint32_t before, word, flags, third, pad[30];
} __attribute__((aligned(64))) like[] = {
	{0, 2, 0, 1, {0}},		     /* malloc's arena: mutex, flags, have_fastchunks */
	{0, 0x80000010, 0, 0, {0}},	     /* musl: EBUSY and FUTEX_WAITERS, type 0 */
	{0x1234, 0x80000001, 1, 0, {0}},     /* a reader, others wait */
	{0, 2, 1, 1, {1}},		     /* Rust: a mutex of numbers */
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *sleeper(void *arg) { pause(); return arg; }
static void *waiter(void *arg)
{
	struct timespec ms = {0, 2000000};

	for (unsigned k = 0; k < sizeof(like) / sizeof(like[0]); k++)
		for (int i = 0; i < WAITS; i++)
			syscall(SYS_futex, &like[k].word, FUTEX_WAIT_PRIVATE, like[k].word, &ms, NULL, 0);
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return arg;
}
static int waits(pid_t tid) /* whether it sleeps in futex(2) for the mutex */
{
	char path[64], line[64] = "";
	FILE *f;
	unsigned long call = 0, address = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	f = fopen(path, "r");
	if (f && fgets(line, sizeof(line), f)) sscanf(line, "%lu 0x%lx", &call, &address);
	if (f) fclose(f);
	return call == SYS_futex && address == (uintptr_t)&mutex;
}
static pid_t tid;
static void *named(void *arg) { tid = gettid(); return waiter(arg); }
int main(void)
{
	pthread_t t, s;

	for (int i = 0; i < SLEEPERS; i++) pthread_create(&s, NULL, sleeper, NULL);
	pthread_mutex_lock(&mutex);
	pthread_create(&t, NULL, named, NULL);
	while (!tid || !waits(tid)) usleep(1000);
	pthread_mutex_unlock(&mutex);
	pthread_join(t, NULL);
	printf("%zx\n", (size_t)&mutex);
	return 0;
}
C
cc -O1 -pthread -no-pie -o "$T/words" "$T/words.c" || fail "cc"
"$OBREC" -q -e lock:rate=0,min=0s --attach lock=futex --debuginfo none -o "$T/a.obz" -- unshare -pf --mount-proc "$T/words" >"$T/mutex" || fail "obrec: $?"
asked() { sql "$T/a.obz" "$1"; }
is "losses" "$(asked "SELECT source, cause, count FROM loss")" ""
is "waits for words that have no owner" "$(asked "SELECT count(*), sum(owner > 0) FROM lock WHERE error = 110")" 80,0
is "waits for the mutex" "$(asked "SELECT count(*) > 0, sum(l.owner > 0) = count(*), count(*) FILTER (WHERE t.tid = l.owner) FROM lock l LEFT JOIN thread t ON t.tid = l.owner
	WHERE l.error = 0 AND printf('%x', l.address) = '$(cat "$T/mutex")'")" 1,1,1
