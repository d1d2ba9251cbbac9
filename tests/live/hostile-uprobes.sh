# A process that is no target executes a library in which obrec attaches uprobes, and keeps the lock of its own memory for ever. The kernel
# waits for that lock, and so does every fork on the host meanwhile: between `locked` and `released` this shell uses nothing but builtins.
# alone: changes what the whole host uses
. tests/live/hostile.inc
[ -c /dev/fuse ] && grep -qw fuse /proc/filesystems || skip "no FUSE here"
library=$(ls /usr/lib/*/libssl.so.3 2>/dev/null | head -n 1)
[ "$library" ] || skip "needs libssl"

# hostile: it, and one that executes the same library and does nothing, in $target
hostile() {
	honest
	mkdir "$T/mnt"
	"$WORKLOAD/badelf" plain "$T/plain"
	cp "$library" "$T/libssl.so"
	target "$WORKLOAD/stuckfs" "$T/mnt" "$T/plain" now,read -- "$WORKLOAD/hostile" shared "$T/mnt/x" "$T/libssl.so"
	holder=$target filesystem=$daemon told_by=$said
	(sleep $((2 * LIMIT)); kill -KILL $filesystem) & watchdog=$! # whatever obrec does
	target "$WORKLOAD/hostile" shared "$T/plain" "$T/libssl.so"
}
locked() {
	local line
	kill -USR1 $holder
	IFS= read -r -t 60 line <&$told_by && [ "$line" = locked ] || fail "it does not lock"
}
released() {
	kill -KILL $filesystem 2>/dev/null || true
	wait $filesystem || true
	kill $watchdog 2>/dev/null || true
}
# interrupted: obrec ends, although the lock is kept
interrupted() {
	took=$EPOCHREALTIME
	kill -INT $obrec
	obrec_wait
	took=$(((${EPOCHREALTIME/[.,]/} - ${took/[.,]/}) / 1000))
	released
	is "exit" $status 0
	within "ms until it ended" $took 0 $((1000 * LIMIT))
	echo "ended $took ms after INT"
	is "complete" "$("$OBANA" verify "$T/a.obz" >/dev/null && sql "$T/a.obz" "SELECT complete FROM capture")" 1
	of_honest 20
	left
}

# while obrec records: what is attached cannot be detached
later() {
	hostile
	ready -e cpu,l7,tls -v -p "$honest,$target"
	within "places attached" "$(grep -c 'libssl.so: SSL_' "$T/obrec.err")" 1 100
	locked
	worked 20 $honest
	interrupted
	is "said" "$(grep -c 'detaching uprobes continues' "$T/obrec.err")" 1
}
# before obrec starts: nothing can be attached, and then no reader be forked
before() {
	hostile
	mkfifo "$T/go" "$T/ready"
	exec {go}<>"$T/go" {is_ready}<>"$T/ready"
	(read -r _ <"$T/go"; exec "$OBREC" --ready-fd 9 -F 499 -e cpu,l7,tls -p "$honest,$target" -o "$T/a.obz" 9>"$T/ready" 2>"$T/obrec.err") & obrec=$!
	pids+=($obrec)
	locked
	echo >&$go
	read -r -t $READY_LIMIT <&$is_ready || { released; fail "not ready: $(<"$T/obrec.err")"; }
	worked 20 $honest
	interrupted
	within "libraries not attached" "$(lost "$T/a.obz" "source = 'tls' AND cause LIKE '%timed out'")" 1 10
}
alone() { # not beside others: they would wait for the lock, too
	beside $1 $1
	passed
}
alone later
jobs=() names=()
alone before
