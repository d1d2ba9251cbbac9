# Threads with names of their own: every probe that counts by process has them under their process's name, which is that of its first
# thread; rows have both.
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/named.c" <<'C'
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
__attribute__((noinline)) void called(void) { nanosleep(&(struct timespec){0, 1000000}, NULL); }
static void *run(void *number)
{
	struct sockaddr_in nobody = {.sin_family = AF_INET, .sin_port = htons(1), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char name[16];
	snprintf(name, sizeof(name), "worker-%ld", (long)number);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++) {
		int s = socket(AF_INET, SOCK_STREAM, 0);
		pthread_mutex_lock(&mutex);
		called();
		pthread_mutex_unlock(&mutex);
		close(open("/there/is/none", O_RDONLY));
		connect(s, (void *)&nobody, sizeof(nobody));
		close(s);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	return NULL;
}
static void nothing(int number) {}
int main(void)
{
	pthread_t t[4];
	signal(SIGUSR1, nothing);
	for (long i = 0; i < 4; i++) pthread_create(&t[i], NULL, run, (void *)i);
	for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
	return 0;
}
C
cc -O1 -pthread -o "$T/named" "$T/named.c" || fail "cc"
probes=$(for p in func open signal tcp syscall file lock runq block irq; do ! grep -q "^$p .* yes" "$T/list" || echo $p; done | sed "s|^func$|func:$T/named:called|" | paste -sd,)
"$OBREC" -q -e "$probes" --debuginfo none -o "$T/cap.obz" -- "$T/named" || fail "obrec"
cells="(SELECT probe, series, key, count FROM counter UNION ALL SELECT probe, series, key, count FROM histogram) JOIN series USING (probe, series)"
is "series by process that have a thread instead" "$(sql "$T/cap.obz" "SELECT DISTINCT probe, series FROM $cells WHERE part(key, keys, 'process') LIKE 'worker-%'")" ""
for p in ${probes//,/ }; do
	p=${p%%:*}
	case $p in block | irq) continue ;; esac # as it happens
	within "cells of $p with the process" "$(sql "$T/cap.obz" "SELECT count(*) FROM $cells WHERE probe = '$p' AND part(key, keys, 'process') = 'named'")" 1 inf
done
case $probes in *open*) is "opens of the process, and threads of the rows" "$(sql "$T/cap.obz" "SELECT
	(SELECT total(count) FROM counter WHERE probe = 'open' AND series = 'events' AND key = 'named') >= 80,
	(SELECT group_concat(DISTINCT t.comm) FROM (SELECT thread.comm FROM open JOIN thread ON thread.id = thread_id WHERE path = '/there/is/none' ORDER BY 1) t)")" \
	"1,\"worker-0,worker-1,worker-2,worker-3\"" ;; esac
