# Ctrl-C before everything is attached ends obrec at once, with nothing left; on a terminal it says what it does until then.
. tests/live/lib.inc
cat >"$T/terminal.py" <<'P'
# terminal.py TEXT LOG COMMAND...: runs it on a terminal of its own, presses Ctrl-C when TEXT is seen ('': never), exits with its status
import os, pty, sys
text, log = sys.argv[1].encode(), open(sys.argv[2], "wb")
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[3], sys.argv[3:])
seen, pressed = b"", not text
while True:
    try:
        got = os.read(fd, 4096)
    except OSError:
        break
    if not got:
        break
    seen += got
    if not pressed and text in seen:
        os.write(fd, b"\x03")
        pressed = True
log.write(seen)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(status if status >= 0 else 200)
P
terminal() { status=0; python3 "$T/terminal.py" "$1" "$T/log" "${@:2}" || status=$?; }

# interrupted WHAT TEXT ARG...: a machine that is slow to press finds it attached, and the capture stops in order: again then
interrupted() {
	local what=$1 text=$2
	shift 2
	for _ in $(seq 20); do
		rm -f "$T/started"; echo before >"$T/a.obz"
		terminal "$text" "$OBREC" "$@" -o "$T/a.obz"
		[ $status != 130 ] || break
		[ "$("$OBANA" info "$T/a.obz" | grep -c complete)" = 1 ] || fail "$what: exit $status: $(cat "$T/log")"
	done
	is "$what: exit" $status 130
	is "$what: lines" "$(grep -ac "^.*obrec: interrupted before the capture began" "$T/log")" 1
	! grep -aq "no such process" "$T/log" || fail "$what: $(cat "$T/log")"
	[ ! -e "$T/started" ] || fail "$what: COMMAND was started"
	is "$what: the old file" "$(cat "$T/a.obz")" before
	[ ! -e "$T/a.obz.old" ] || fail "$what: a file was left"
}
interrupted "while loading, with COMMAND" loading -- touch "$T/started"
interrupted "while attaching, with COMMAND" attaching -- touch "$T/started"
start "$WORKLOAD/demo" 3600 >/dev/null
interrupted "while loading, -p" loading -p $!

# a terminal is told what is going on; nothing else is
terminal "" "$OBREC" -d 300ms -e cpu,l4 -p $! -o "$T/b.obz"
is "exit" $status 0
for text in "checking" "loading BPF programs" "reading the running processes" "attaching probe 'cpu'"; do
	grep -aq "$text" "$T/log" || { cat -v "$T/log"; fail "not said: $text"; }
done
is "lines that stay" "$(tr '\r' '\n' <"$T/log" | sed 's/\x1b\[K//' | grep -c '^obrec: ')" 1
terminal "" "$OBREC" -q -d 300ms -e cpu -p $! -o "$T/b.obz"
is "-q: bytes on the terminal" "$(stat -c %s "$T/log")" 0
"$OBREC" -d 300ms -e cpu -p $! -o "$T/b.obz" 2>"$T/err"
is "no terminal: lines" "$(wc -l <"$T/err")" 1
