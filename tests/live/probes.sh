# A program of known behaviour: 70 % of its CPU time in f, 30 % in g; asleep in a place of its own, blocked on a pipe since
# before the start; children forked and replaced while recorded.
# alone: is about time on CPUs
. tests/live/lib.inc
command -v cc >/dev/null || skip "needs a C compiler"
cat >"$T/known.c" <<'C'
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#define FAR __attribute__((noinline, noclone, aligned(64)))
static volatile uint64_t x;
FAR void f(uint64_t n) { for (uint64_t i = 0; i < n; i++) x += i; }
FAR void g(uint64_t n) { for (uint64_t i = 0; i < n; i++) x += i; }
FAR void doze(long ns) { struct timespec t = {0, ns}; nanosleep(&t, NULL); x++; }
FAR void *blocked(void *fd) { char c; x += read(*(int *)fd, &c, 1); return NULL; }
FAR void *dozer(void *a) { for (;;) { doze(300000); doze(3000000); } return a; }
int main(int argc, char **argv)
{
	int p[2];
	pthread_t t;

	if (argc > 1) /* the child's second image */
		for (int i = 0; i < 1000; i++) g(1000000);
	if (argc > 1) return 0;
	if (pipe(p)) return 1;
	pthread_create(&t, NULL, blocked, p);
	pthread_create(&t, NULL, dozer, NULL);
	for (;;) {
		if (!access("fork", F_OK) && !fork()) {
			for (int i = 0; i < 1000; i++) f(1000000);
			execl(argv[0], argv[0], "child", NULL);
		}
		if (!access("fork", F_OK)) { unlink("fork"); }
		for (int i = 0; i < 10; i++) { f(700000); g(300000); }
		while (waitpid(-1, NULL, WNOHANG) > 0) ;
	}
}
C
cc -O2 -g -fomit-frame-pointer -pthread -o "$T/known" "$T/known.c"
cd "$T"; start "$T/known"; cd - >/dev/null
known=$!
sleep 0.3
obrec_start -F 499 -p $known -e cpu,offcpu -o "$T/k.obz"
touch "$T/fork"
eventually "the fork" [ ! -e "$T/fork" ]
children_gone() { ! pgrep -P $known; }
eventually "both images of the child have ended" children_gone
worked 200 $known
obrec_stop
lasted() { sql "$T/k.obz" "SELECT duration_ns / 1e9 * $1 FROM capture"; }

share() { # KIND FUNCTION, of the first image's main thread: percent of the time with FUNCTION on the stack
	sql "$T/k.obz" "WITH s AS (SELECT sample.* FROM sample JOIN thread ON thread.id=thread_id JOIN process ON process.id=process_id
		WHERE kind='$1' AND tid=$known)
	SELECT 100.0 * total(value) / (SELECT total(value) FROM s) FROM s WHERE EXISTS (SELECT 1 FROM stack_frame sf JOIN frame ON frame.id=sf.frame_id
		JOIN function ON function.id=frame.function_id WHERE sf.stack_id=s.stack_id AND function.name='$2')"
}
seconds() { # KIND FUNCTION, all threads and processes
	sql "$T/k.obz" "SELECT total(value)/1e9 FROM sample s WHERE kind='$1' AND EXISTS (SELECT 1 FROM stack_frame sf JOIN frame ON frame.id=sf.frame_id
		JOIN function ON function.id=frame.function_id WHERE sf.stack_id=s.stack_id AND function.name='$2')"
}
within "f's share" "$(share cpu f)" 60 80
within "g's share" "$(share cpu g)" 20 40
within "blocked in read since before the start, s" "$(seconds offcpu blocked)" $(lasted 0.9875) $(lasted 1.075)
within "asleep in doze, s" "$(seconds offcpu doze)" $(lasted 0.8) $(lasted 1.025)
is "images recorded" "$(sql "$T/k.obz" "SELECT count(*) FROM process WHERE comm='known'")" 3
within "samples of the forked image and the one it became" "$(sql "$T/k.obz" "SELECT count(*) FROM sample JOIN thread ON thread.id=thread_id JOIN process ON process.id=process_id WHERE pid<>$known AND kind='cpu'")" 40 100000
for kind in cpu offcpu; do
	within "$kind: complete stacks, %" "$(sql "$T/k.obz" "SELECT 100.0*total((error='' OR error IS NULL OR error='complete')*count)/total(count) FROM sample JOIN stack ON stack.id=stack_id WHERE kind='$kind'")" 98.5 100
done

# nothing is left in the kernel, also after kill -9
ours() { bpftool prog show 2>/dev/null | grep -cE 'name (cpu_sample|core_fork|core_exec|offcpu_)' || true; }
if command -v bpftool >/dev/null; then
	obrec_start -p $known -e cpu,offcpu -o "$T/kill.obz"
	with=$(ours)
	kill -9 $obrec; obrec_wait
	for _ in $(seq 50); do without=$(ours); [ "$without" -le $((with - 4)) ] && break; sleep 0.2; done
	[ "$without" -le $((with - 4)) ] || fail "BPF programs left after kill -9: $without of $with"
fi
