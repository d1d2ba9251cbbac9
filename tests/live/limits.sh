# --max-size, a file size limit and a full disk: the closing line says what the archive holds, the end is written.
# alone: records the whole host
. tests/live/lib.inc
start "$WORKLOAD/demo" 3600 >/dev/null
demo=$!

# recorded LIMIT ARCHIVE EXIT REASON [LEAST]: what the closing line in $T/err says is what info and query say; at least so many samples
recorded() {
	local line samples taken lost
	line=$(grep "^obrec: $2: [0-9]" "$T/err") || { cat "$T/err"; fail "$1: no closing line"; }
	echo "$line"
	is "$1: exit" $status $3
	samples=$(sed 's/.*, \([0-9]*\) samples.*/\1/' <<<"$line")
	taken=$(sed -n 's/.*(of \([0-9]*\) taken).*/\1/p' <<<"$line")
	lost=$(sed -n 's/.*LOST \([0-9]*\) .*/\1/p' <<<"$line")
	"$OBANA" info "$2" >"$T/info" || fail "$1: info's exit is $?"
	grep -q ", complete$" "$T/info" || { cat "$T/info"; fail "$1: the archive is not complete"; }
	is "$1: stop reason" "$(sql "$2" "SELECT stop_reason FROM capture")" $4
	grep -q "stopped by $4" <<<"$line" || fail "$1: the line does not give the reason"
	is "$1: samples" "$(sql "$2" "SELECT total(count) FROM sample" | cut -d. -f1)" $samples
	within "$1: samples" $samples ${5:-300} 1000000
	is "$1: lost" "$(lost "$2")" ${lost:-0}
	is "$1: samples that are not there" "$(lost "$2" "cause='sample: not written'")" $((${taken:-$samples} - samples))
	is "$1: size" "$(sed "s|^obrec: $2: \([^,]*\), .*|\1|" <<<"$line")" "$(sed -n "s|^archive .*, \([^,]*\), complete|\1|p" "$T/info")"
}

status=0; "$OBREC" -d 60s -F 999 -e cpu --debuginfo none -p $demo --max-size 128K -o "$T/max.obz" 2>"$T/err" || status=$?
recorded "--max-size" "$T/max.obz" 0 max-size
within "--max-size: bytes" "$(stat -c %s "$T/max.obz")" 20000 131072

status=0; (ulimit -f 128; exec "$OBREC" -d 60s -F 999 -e cpu --debuginfo none -p $demo -o "$T/limit.obz") 2>"$T/err" || status=$?
recorded "ulimit -f" "$T/limit.obz" 3 file-size-limit
within "ulimit -f: bytes" "$(stat -c %s "$T/limit.obz")" 20000 131072

# also when debuginfo of many binaries wants the room, and rows come in bursts: how much is left for samples depends on the host
"$WORKLOAD/demo" 3600 >/dev/null & pids+=($!)
status=0; (ulimit -f 96; exec "$OBREC" -d 60s -F 2999 -a -e cpu -o "$T/all.obz") 2>"$T/err" || status=$?
recorded "ulimit -f, all processes" "$T/all.obz" 3 file-size-limit 1

mkdir "$T/small"; mount -t tmpfs -o size=64k tmpfs "$T/small"
status=0; "$OBREC" -d 60s -F 999 -e cpu --debuginfo none -p $demo -o "$T/small/full.obz" 2>"$T/err" || status=$?
recorded "disk full" "$T/small/full.obz" 3 disk-full

# equal samples folded over an interval are refused as rows and counted as samples
status=0; "$OBREC" -d 60s -F 999 -e cpu --debuginfo none -p $demo --interval 500ms --max-size 128K -o "$T/folded.obz" 2>"$T/err" || status=$?
recorded "--interval" "$T/folded.obz" 0 max-size

# no room for a header: one line, no file
status=0; "$OBREC" -d 1s -p $demo --max-size 1K -o "$T/none.obz" 2>"$T/err" || status=$?
is "--max-size 1K: exit" $status 1
is "--max-size 1K: lines" "$(grep -c "cannot write the archive: the size limit" "$T/err")" 1
[ ! -e "$T/none.obz" ] || fail "--max-size 1K left a file"
