# A program that forks, executes, loads a library that is then deleted, starts a thread and unloads it all again:
# each phase's samples carry the right process, binary and function.
. tests/live/lib.inc

cat >"$T/own.c" <<'EOF'
#include <time.h>
static volatile unsigned long n;
__attribute__((noinline)) void in_library(double seconds)
{
	struct timespec a, b;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	do {
		for (int i = 0; i < 100000; i++) n++;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	} while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < seconds);
}
EOF
cat >"$T/phases.c" <<'EOF'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long n;
#define SPIN(name) __attribute__((noinline)) void name(void) { struct timespec a, b; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a); \
	do { for (int i = 0; i < 100000; i++) n++; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b); } \
	while (b.tv_sec - a.tv_sec + (b.tv_nsec - a.tv_nsec) / 1e9 < 1.0); n++; }
SPIN(at_first) SPIN(in_child) SPIN(in_thread) SPIN(after_exec)
static void *thread(void *arg) { prctl(PR_SET_NAME, "second"); in_thread(); return NULL; }
int main(int argc, char **argv)
{
	char *lib = argv[1];
	pthread_t t;
	pid_t child;
	void *h;
	if (!strcmp(argv[0], "executed")) { after_exec(); return 7; }
	at_first();
	if (!(h = dlopen(lib, RTLD_NOW))) return 1;
	unlink(lib);
	((void (*)(double))dlsym(h, "in_library"))(1.0);
	dlclose(h);
	if (!(child = fork())) { in_child(); _exit(0); }
	waitpid(child, NULL, 0);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	unlink(argv[2]);
	execl("/proc/self/exe", "executed", "an argument", NULL);
	return 2;
}
EOF
cc -O2 -fomit-frame-pointer -fPIC -shared -o "$T/libown.so" "$T/own.c"
cc -O2 -fomit-frame-pointer -o "$T/phases" "$T/phases.c" -ldl -pthread
cp "$T/phases" "$T/kept"

status=0
DEPLOY=blue "$OBREC" -q -F 499 --label-env DEPLOY -o "$T/a.obz" -- "$T/phases" "$T/libown.so" "$T/phases" || status=$?
is "the command's status" $status 7
A=$T/a.obz

# samples WHERE: of the leaf functions
samples() {
	sql "$A" "SELECT ifnull(sum(s.count), 0) FROM sample s JOIN stack_frame sf ON sf.stack_id = s.stack_id
		JOIN frame f ON f.id = sf.frame_id LEFT JOIN function fn ON fn.id = f.function_id
		LEFT JOIN binary b ON b.id = f.binary_id
		JOIN thread t ON t.id = s.thread_id JOIN process p ON p.id = t.process_id WHERE s.kind = 'cpu' AND $1"
}
# 1 s of CPU time at 499 Hz are 499 samples, more or less what the timer of a busy (virtual) machine skips or catches up.
within "first phase" "$(samples "fn.name = 'at_first' AND p.id = (SELECT min(id) FROM process WHERE exe LIKE '%/phases%')")" 250 600
within "library, deleted" "$(samples "fn.name = 'in_library' AND b.path LIKE '%libown.so'")" 250 600
within "child" "$(samples "fn.name = 'in_child' AND p.ppid = (SELECT pid FROM process WHERE exe LIKE '%/phases%' ORDER BY started_ns LIMIT 1)")" 250 600
within "thread" "$(samples "fn.name = 'in_thread' AND t.comm = 'second'")" 250 600
within "after exec, program deleted" "$(samples "fn.name = 'after_exec' AND p.cmdline LIKE '%executed an argument'")" 250 600
is "functions in a wrong process" "$(samples "fn.name = 'after_exec' AND p.cmdline NOT LIKE '%executed an argument'")" 0
is "images" "$(sql "$A" "SELECT count(*) FROM process WHERE exe LIKE '%/phases%'")" 3
is "labels" "$(sql "$A" "SELECT count(DISTINCT process_id) FROM label WHERE key = 'DEPLOY' AND value = 'blue' AND process_id IN (SELECT id FROM process WHERE exe LIKE '%/phases%')")" 3
is "images with an end" "$(sql "$A" "SELECT count(*) FROM process WHERE exited_ns > started_ns AND exe LIKE '%/phases%'")" 3
# Until obrec has read an image's tables none of its stacks is complete; then all are.
within "complete stacks, from each image's first on, %" "$(sql "$A" "WITH s AS (SELECT process_id, ts_ns, count, ifnull(k.error, '') = '' AS whole FROM sample s
	JOIN stack k ON k.id = s.stack_id JOIN thread t ON t.id = s.thread_id WHERE s.kind = 'cpu')
	SELECT 100.0 * total(count * whole) / total(count) FROM s WHERE ts_ns >= (SELECT min(ts_ns) FROM s i WHERE whole AND i.process_id = s.process_id)")" 98 100
