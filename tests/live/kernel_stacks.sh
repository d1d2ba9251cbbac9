# Kernel stacks that obrec remembers: a thread wakes others in several ways, from functions of these names, in any order and beside
# each other. The kernel's part of each stack, of those who wake and of those who sleep, is that of its user part.
# alone: is about time on CPUs
. tests/live/lib.inc
cat >"$T/ways.c" <<'C'
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAYS = 5, FIELDS = 2 };
#define APART __attribute__((noinline))
static int in[WAYS], out[WAYS], word, back[2];
static char byte;
static long long one = 1;

#define WAY(name, wake, wait)                                                    \
	static APART void wake_by_##name(void) { wake; __asm__ volatile(""); }   \
	static APART void wait_by_##name(void) { wait; __asm__ volatile(""); }
WAY(pipe, if (write(out[0], &byte, 1) != 1) abort(), if (read(in[0], &byte, 1) != 1) abort())
WAY(eventfd, if (write(out[1], &one, 8) != 8) abort(), if (read(in[1], &one, 8) != 8) abort())
WAY(unix, if (send(out[2], &byte, 1, 0) != 1) abort(), if (recv(in[2], &byte, 1, 0) != 1) abort())
WAY(vector, if (sendmsg(out[3], &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0) != 1) abort(),
    if (recvmsg(in[3], &(struct msghdr){.msg_iov = &(struct iovec){&byte, 1}, .msg_iovlen = 1}, 0) != 1) abort())
WAY(futex, __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0),
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0); word = 0)

static void (*const wakes[])(void) = {wake_by_pipe, wake_by_eventfd, wake_by_unix, wake_by_vector, wake_by_futex};
static void (*const waits[])(void) = {wait_by_pipe, wait_by_eventfd, wait_by_unix, wait_by_vector, wait_by_futex};

static void *waiter(void *arg)
{
	for (long way = (long)arg;;) {
		waits[way]();
		if (write(back[1], &byte, 1) != 1)
			abort();
	}
}

int main(int argc, char **argv)
{
	int ends[2];

	for (long i = 0; i < WAYS; i++) {
		pthread_t thread;

		if (i == 0)
			pipe(ends);
		else if (i == 1)
			ends[0] = ends[1] = eventfd(0, 0);
		else
			socketpair(AF_UNIX, i == 2 ? SOCK_STREAM : SOCK_DGRAM, 0, ends);
		in[i] = ends[0];
		out[i] = ends[1];
		pthread_create(&thread, NULL, waiter, (void *)i);
	}
	pipe(back);
	getchar();
	for (int i = 0; i < atoi(argv[1]); i++) {
		wakes[rand() % WAYS]();
		if (read(back[0], &byte, 1) != 1)
			abort();
	}
	return 0;
}
C
cc -O1 -g -w -pthread -o "$T/ways" "$T/ways.c" || fail "cc"
mkfifo "$T/go"; exec 8<>"$T/go"
"$T/ways" 5000 <&8 & pid=$!
pids+=($pid)
obrec_start -q -p $pid -e offcpu,wakers --offcpu-period 0s -o "$T/a.obz"
echo >&8
wait $pid
obrec_stop
# stacks KIND PREFIX: "WAY KERNEL COUNT" of the samples with a user function PREFIX_by_WAY; KERNEL: the functions below that are in the stack
stacks() {
	"$OBANA" query "$T/a.obz" "WITH named AS (SELECT sf.stack_id, f.name FROM stack_frame sf JOIN frame ON frame.id = sf.frame_id
		JOIN function f ON f.id = frame.function_id),
	way AS (SELECT stack_id, max(substr(name, 9)) AS way FROM named WHERE name GLOB '$2_by_*' GROUP BY 1),
	kernel AS (SELECT stack_id, group_concat(DISTINCT CASE WHEN name GLOB '*pipe_$3' THEN 'pipe' WHEN name = 'eventfd_$3' THEN 'eventfd'
		WHEN name GLOB 'unix_stream_$4*' THEN 'unix' WHEN name GLOB '*unix_dgram_$4*' THEN 'vector' WHEN name GLOB 'futex_$2*' THEN 'futex' END) AS way
		FROM named GROUP BY 1)
	SELECT w.way, k.way, sum(s.count) FROM sample s JOIN way w USING (stack_id) JOIN kernel k USING (stack_id) WHERE s.kind = '$1' GROUP BY 1, 2" --csv |
		tail -n +2 >"$T/$1"
	awk -F, '$1 != $2' "$T/$1" >"$T/wrong"
	[ ! -s "$T/wrong" ] || { cat "$T/$1"; fail "$1: user function, kernel function, times: not the same"; }
	is "$1: ways" "$(cut -d, -f1 "$T/$1" | sort -u | xargs)" "eventfd futex pipe unix vector"
	# of those that really waited: the thread that wakes can be overtaken
	awk -F, '$3 < 50 {print}' "$T/$1" >"$T/few"
	[ ! -s "$T/few" ] || { cat "$T/$1"; fail "$1: too few"; }
}
stacks wakeup wake write send
stacks offcpu wait read re
