# A known number of signals of each kind, between two processes of which the first sends: each is a row with sender, receiver, cause and
# what became of it; those that were handled are counted with the time they were pending; other processes are left out.
. tests/live/lib.inc
. tests/live/carriers.inc
command -v cc >/dev/null || skip "needs a C compiler"
grep -q '^signal .* yes' "$T/list" || skip "no probe 'signal': $(grep '^signal ' "$T/list")"
cat >"$T/signals.c" <<'C'
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile int handled;
static void handler(int n) { handled = 1; }
static void wait_handled(void)
{
	sigset_t none;

	sigemptyset(&none);
	while (!handled) sigsuspend(&none);
	handled = 0;
}
static void on(int n, void (*what)(int))
{
	struct sigaction a = {.sa_handler = what};

	sigaction(n, &a, NULL);
}
static int receive(int to) /* says when it has handled one */
{
	sigset_t all;
	char c = 0;

	prctl(PR_SET_NAME, "receiver");
	on(SIGUSR1, handler); on(SIGRTMIN, handler); on(SIGUSR2, SIG_IGN);
	sigfillset(&all); sigdelset(&all, SIGUSR2);
	sigprocmask(SIG_SETMASK, &all, NULL); /* open only while it waits: no signal comes in between */
	write(to, &c, 1);
	for (;;) {
		wait_handled();
		write(to, &c, 1);
	}
}
int main(int argc, char **argv)
{
	struct itimerval soon = {.it_value = {0, 10000}};
	union sigval v = {.sival_int = 1};
	int n = atoi(argv[1]), back[2];
	char go;
	pid_t p;

	if (read(0, &go, 1) != 1) return 1;
	prctl(PR_SET_NAME, "sender");
	pipe(back);
	if (!(p = fork())) return receive(back[1]);
	read(back[0], &go, 1);
	for (int i = 0; i < n; i++) { kill(p, SIGUSR1); read(back[0], &go, 1); }
	for (int i = 0; i < n; i++) { sigqueue(p, SIGRTMIN, v); read(back[0], &go, 1); }
	for (int i = 0; i < n; i++) { syscall(SYS_tgkill, p, p, SIGUSR1); read(back[0], &go, 1); }
	for (int i = 0; i < n; i++) kill(p, SIGUSR2);
	kill(p, 0); /* sends nothing */
	on(SIGALRM, handler);
	setitimer(ITIMER_REAL, &soon, NULL);
	wait_handled();
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
	if (!(p = fork())) { prctl(PR_SET_NAME, "crasher"); signal(SIGSEGV, SIG_DFL); *(volatile int *)8 = 0; }
	waitpid(p, NULL, 0);
	return 0;
}
C
cc -O1 -w -o "$T/signals" "$T/signals.c"
mkfifo "$T/go" "$T/go2"
# run COUNT OBREC-OPTION...: records a run of COUNT rounds, beside another that is no target
run() {
	"$T/signals" "$1" <"$T/go" & local seen=$!
	"$T/signals" "$1" <"$T/go2" & local other=$!
	pids+=($seen $other)
	exec 8>"$T/go" 7>"$T/go2"
	obrec_start -p $seen --debuginfo symtab -o "$T/s.obz" "${@:2}"
	echo >&7; echo >&8
	wait $seen $other
	obrec_wait
	exec 8>&- 7>&-
	is "exit" $status 0
	sender=$seen
}
# told SIGNAL...: rows of these by target, cause and result
told() { sql "SELECT target, cause, result, count(*) FROM signal WHERE signal IN ($1) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3" | xargs; }
sql() { "$OBANA" query "$T/s.obz" "$1" --csv | tail -n +2; }

out=$T tmp=$T
. tests/live/probes.inc
peer_start sigsnoop
run 40 -e sigsnoop:rate=0,stack
for p in $peers; do if kill -INT $p 2>/dev/null; then wait $p || true; fi; done
# The receiver opens its mask while it waits, and is mostly there before the next comes; if not, the signal waits: "blocked".
sent() { sql "SELECT cause, count(*) FROM signal WHERE signal = $1 AND result IN ('queued', 'blocked') GROUP BY 1" | xargs; }
is "USR1" "$(sent 10)" "kill,40 tgkill,40"
is "RTMIN" "$(sent 34)" "sigqueue,40"
is "USR2" "$(told 12)" "receiver,kill,ignored,40"
is "ALRM" "$(told 14)" "sender,timer,queued,1"
is "KILL" "$(told 9)" "receiver,kill,queued,1"
is "SEGV, with its code" "$(sql "SELECT target, cause, result, code FROM signal WHERE signal = 11")" "crasher,fault,queued,1"
is "ends of children" "$(sql "SELECT count(*) FROM signal WHERE signal = 17 AND cause = 'child' AND target = 'sender'")" 2
is "counted" "$(counted "$T/s.obz" signal events)" "$(sql "SELECT count(*) FROM signal")"
is "by the sender, to one process" "$(sql "SELECT DISTINCT p.pid, s.target_pid <> p.pid FROM signal s JOIN thread t ON t.id = s.thread_id JOIN process p ON p.id = t.process_id WHERE signal IN (10, 12, 34)")" "$sender,1"
is "tgkill names the thread" "$(sql "SELECT DISTINCT target_tid = target_pid FROM signal WHERE cause = 'tgkill'")" 1
is "stacks" "$(sql "SELECT DISTINCT stack_id > 0 FROM signal WHERE cause = 'kill'")" 1
is "the sender's function" "$(sql "SELECT DISTINCT f.name FROM signal s JOIN stack_frame sf USING (stack_id) JOIN frame r ON r.id = sf.frame_id JOIN function f ON f.id = r.function_id WHERE cause = 'kill' AND f.name = 'main'")" main
is "handled" "$(sql "SELECT key, sum(count) FROM histogram WHERE probe = 'signal' AND key LIKE 'receiver%' AND key NOT LIKE '%KILL' GROUP BY 1 ORDER BY 1" | tr '\t' ' ' | xargs -d '\n')" "receiver 34,40 receiver SIGUSR1,80"
if [ -s "$T/peer-sigsnoop" ] && [ ! -s "$T/peer-sigsnoop.err" ]; then
	for n in 10 34 12; do is "signal $n by sigsnoop" "$(awk -v sender="$sender" -v n=$n '$2 == sender && $4 == n' "$T/peer-sigsnoop" | wc -l)" "$(sql "SELECT count(*) FROM signal WHERE signal = $n")"; done
else echo "no sigsnoop of libbpf-tools: $(head -n 1 "$T/peer-sigsnoop.err" 2>/dev/null)"; fi
is "losses" "$(sql "SELECT ifnull(sum(count), 0) FROM loss")" 0
"$OBANA" show sigsnoop "$T/s.obz" >"$T/out" && grep -q 'SIGSEGV.*crasher.*fault' "$T/out" || { tail -3 "$T/out"; fail "show sigsnoop"; }

run 40 -e signal:rate=5
is "by sender and receiver, beyond the rate" "$("$OBANA" show signals-by-pair "$T/s.obz" --csv | grep -E '^[0-9]+,(SIGUSR2,sender|SIGALRM,sender|SIGSEGV,crasher|SIGKILL,sender),' | xargs)" \
	"40,SIGUSR2,sender,receiver,kill,ignored 1,SIGALRM,sender,sender,timer,queued 1,SIGKILL,sender,receiver,kill,queued 1,SIGSEGV,crasher,crasher,fault,queued"
is "of all" "$("$OBANA" show signals-by-pair "$T/s.obz" --csv | tail -n +2 | awk -F, '{ n += $1 } END { print n }')" "$(counted "$T/s.obz" signal events)"

run 20 -e signal:only=USR2,failed,rate=0
is "only what was asked for" "$(sql "SELECT signal, result, count(*) FROM signal GROUP BY 1, 2")" "12,ignored,20"
