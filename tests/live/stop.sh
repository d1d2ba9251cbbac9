# Every way a capture can end leaves a valid archive that says how it ended.
. tests/live/lib.inc
start "$WORKLOAD/demo" 3600 >/dev/null
demo=$!
reason() { sql "$1" "SELECT stop_reason FROM capture"; }
complete() { sql "$1" "SELECT complete FROM capture"; }

# -d
"$OBREC" -q -d 1s -p $demo -o "$T/d.obz"
is "-d: stop reason" "$(reason "$T/d.obz")" duration
is "-d: complete" "$(complete "$T/d.obz")" 1
within "-d: duration" "$(sql "$T/d.obz" 'SELECT duration_ns/1e9 FROM capture')" 0.95 10
is "mode" "$(stat -c %a "$T/d.obz")" 600

# an existing file is kept
cp "$T/d.obz" "$T/keep.obz"; sum=$(md5sum <"$T/keep.obz")
"$OBREC" -q -d 500ms -p $demo -o "$T/keep.obz"
is "FILE.old" "$(md5sum <"$T/keep.obz.old")" "$sum"

# Ctrl-C
capture 10 $demo -o "$T/int.obz"
is "Ctrl-C: stop reason" "$(reason "$T/int.obz")" interrupt

# the target ends
mkfifo "$T/end"; start cat "$T/end"; obrec_start -p $! -o "$T/exit.obz"; echo >"$T/end"; obrec_wait
is "target exit: exit" $status 0
is "target exit: stop reason" "$(reason "$T/exit.obz")" target-exit

# COMMAND
status=0; "$OBREC" -q -o "$T/cmd.obz" -- sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exit 7' || status=$?
is "COMMAND: exit" $status 7
is "COMMAND: stop reason" "$(reason "$T/cmd.obz")" command-exit
within "COMMAND: its samples" "$(sql "$T/cmd.obz" "SELECT count(*) FROM sample JOIN thread ON thread_id=thread.id JOIN process ON process_id=process.id WHERE process.comm='sh'")" 5 100000
status=0; "$OBREC" -q -o "$T/none.obz" -- "$T/no-such-program" 2>"$T/err" || status=$?
is "missing COMMAND: exit" $status 127
is "missing COMMAND: lines" "$(wc -l <"$T/err")" 1
[ ! -e "$T/none.obz" ] || fail "an archive was left for a COMMAND that did not start"

# --max-size
status=0; "$OBREC" -q -d 30s -F 999 -p $demo --debuginfo none --max-size 40K -o "$T/max.obz" || status=$?
is "--max-size: exit" $status 0
is "--max-size: stop reason" "$(reason "$T/max.obz")" max-size
is "--max-size: complete" "$(complete "$T/max.obz")" 1
within "--max-size: bytes" "$(stat -c %s "$T/max.obz")" 10000 40960

# a full disk
mkdir "$T/small"; mount -t tmpfs -o size=64k tmpfs "$T/small"
status=0; "$OBREC" -q -d 30s -F 999 -p $demo --debuginfo none -o "$T/small/full.obz" 2>"$T/err" || status=$?
is "disk full: exit" $status 3
"$OBANA" report "$T/small/full.obz" >"$T/out" || status=$?
is "disk full: report's exit" $status 3
within "disk full: samples readable" "$(sql "$T/small/full.obz" 'SELECT count(*) FROM sample' || true)" 100 1000000

# kill -9, at any moment, loses at most the last second
for ((i = 0; i < 4${FULL:+ + 16}; i++)); do
	obrec_start -F 499 -p $demo -o "$T/kill.obz"
	ms=$((RANDOM % 3000 + 100)) begin=${EPOCHREALTIME/[.,]/}; sleep $((ms / 1000)).$(printf %03d $((ms % 1000)))
	ms=$(((${EPOCHREALTIME/[.,]/} - begin) / 1000)); kill -9 $obrec; obrec_wait
	status=0; "$OBANA" report "$T/kill.obz" >"$T/out" 2>"$T/err" || status=$?
	is "kill -9 after $ms ms: report's exit" $status 3
	grep -qi truncated "$T/out" "$T/err" || fail "the report does not say that the archive is truncated"
	within "kill -9 after $ms ms: ms kept" "$(sql "$T/kill.obz" 'SELECT ifnull((max(ts_ns)-min(ts_ns))/1e6, 0) FROM sample' || true)" $((ms - 1300)) $((ms + 1500))
done

# Ctrl-C ends at once (how soon, a busy machine decides: the bounds tell it from waiting for something); a second one does not wait for symbols
obrec_start -p $demo -o "$T/int.obz"; sleep 1; begin=$(date +%s%N); kill -INT $obrec; obrec_wait
within "Ctrl-C: seconds to end" "$(awk -v b=$begin -v e=$(date +%s%N) 'BEGIN { print (e - b) / 1e9 }')" 0 20
if command -v mariadbd >/dev/null; then
	# symbols of a large binary take a while at low priority
	cp "$(command -v mariadbd)" "$T/mariadbd"
	start sh -c "while :; do '$T/mariadbd' --no-defaults --help >/dev/null 2>&1; done"
	obrec_start -F 999 -p $! --debuginfo full -o "$T/twice.obz"; sleep 1
	begin=$(date +%s%N); kill -INT $obrec; sleep 0.1; kill -INT $obrec 2>/dev/null || true; obrec_wait
	within "Ctrl-C twice: seconds to end" "$(awk -v b=$begin -v e=$(date +%s%N) 'BEGIN { print (e - b) / 1e9 }')" 0 20
	is "Ctrl-C twice: exit" $status 0
	is "Ctrl-C twice: complete" "$(complete "$T/twice.obz")" 1
fi

# stdout, into a pipe
"$OBREC" -q -d 1s -p $demo -o - | cat >"$T/pipe.obz"
is "-o -: complete" "$(complete "$T/pipe.obz")" 1
"$OBREC" -q -d 1s -p $demo -o - | "$OBANA" info - >"$T/out"
