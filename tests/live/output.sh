# Where the archive goes: what another user laid there is not touched, special files are written to as they are, a reader that stands still holds nobody.
. tests/live/lib.inc
start "$WORKLOAD/demo" 3600 >/dev/null
demo=$!
OTHER=65534
chmod 755 "$T"; mkdir "$T/shared"; chmod 1777 "$T/shared"
cd "$T/shared"
other() { setpriv --reuid $OTHER --regid $OTHER --clear-groups "$@"; }
short() { status=0; timeout 60 "$OBREC" -q -d 200ms -e cpu --debuginfo none -p $demo "$@" 2>"$T/err" || status=$?; }
# refused WHAT FILE WORDS: exit 1 and one line that says why
refused() {
	short -o "$2"
	is "$1: exit" $status 1
	is "$1: lines" "$(wc -l <"$T/err")" 1
	grep -q -- "$3" "$T/err" || { cat "$T/err"; fail "$1: not the right line"; }
}
whole() { "$OBANA" verify "$1" >"$T/out" 2>&1 || { cat "$T/out"; fail "$1 is not whole"; }; }

# laid by another user, whatever fs.protected_* say
echo precious >"$T/precious"
other ln -s "$T/precious" link; other ln -s "$T/made" new; other mkfifo fifo; other touch file
refused "another user's link" link "link of another user"
refused "another user's dangling link" new "link of another user"
refused "another user's FIFO" fifo "belongs to another user"
refused "another user's file" file "belongs to another user"
is "what the link leads to" "$(cat "$T/precious")" precious
[ ! -e "$T/made" ] && [ ! -e "$T/precious.old" ] && [ ! -e file.old ] || fail "something was made"

# one's own
short -o own.obz; is "exit" $status 0; whole own.obz
is "mode" "$(stat -c %a own.obz)" 600
ln -s own.obz mine
short -o mine; is "own link: exit" $status 0; whole own.obz; whole own.obz.old
is "own link: still one" "$(readlink mine)" own.obz
rm own.obz.old; other ln -s "$T/precious" own.obz.old
refused "another user's link as .old" mine "existing .old"
is "what it leads to" "$(cat "$T/precious")" precious
mkfifo unread; refused "a FIFO without reader" unread "no process reads from this FIFO"
refused "a directory" "$T" "s a directory"

# special files
short -o /dev/null; is "/dev/null: exit" $status 0
[ -c /dev/null ] || fail "/dev/null is no device any more"
cat unread >"$T/fifo.obz" & reader=$!
for _ in $(seq 100); do short -o unread; [ $status != 0 ] || break; done # it has to be there first
is "FIFO: exit" $status 0; wait $reader; whole "$T/fifo.obz"
[ -p unread ] || fail "the FIFO is none any more"
for name in - /dev/stdout /dev/fd/1 /proc/self/fd/1; do
	short -o "$name" >"$T/stdout.obz"; is "$name: exit" $status 0; whole "$T/stdout.obz"
	{ short -o "$name"; } | cat >"$T/stdout.obz"; whole "$T/stdout.obz"
done
short -o >(cat >"$T/sub.obz"); is ">(cmd): exit" $status 0
eventually "what >(cmd) got" "$OBANA" verify "$T/sub.obz"

# nobody reads: the stop does not wait for that
# (the pipe of 64 KiB has room for the start of an archive, which an archive of few samples is, and not for symbols and a second of samples)
mkfifo "$T/stalled"
room=$((($(stat -c %s own.obz) + 4095) / 4096 * 4096))
[ $room -lt 49152 ] || fail "an archive of 200 ms has $room bytes"
for how in -d -INT; do
	sleep 3600 <>"$T/stalled" & idle=$!
	head -c $((65536 - room)) /dev/zero >"$T/stalled"
	rm -f "$T/ready"; mkfifo "$T/ready"
	more=(-d 1s); [ $how = -d ] || more=()
	"$OBREC" --ready-fd 9 -F 999 -e cpu -p $demo "${more[@]}" -o - 9>"$T/ready" >"$T/stalled" 2>"$T/err" & obrec=$!
	pids+=($obrec)
	read -r -t 60 <"$T/ready" || fail "not ready: $(cat "$T/err")"
	if [ $how = -INT ]; then worked 200 $demo; kill -INT $obrec; fi
	eventually "the end of obrec ($how)" sh -c "! kill -0 $obrec"
	obrec_wait
	kill $idle; wait $idle || true
	is "stalled reader, $how: exit" $status 3
	grep -q "its reader did not read for 2 s" "$T/err" || { cat "$T/err"; fail "the stalled reader is not named"; }
	grep -q "sample: not written [1-9]" "$T/err" || { cat "$T/err"; fail "the loss is not told"; }
done
