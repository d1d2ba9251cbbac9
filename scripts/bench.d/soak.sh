# one hour on a busy host: constant memory, losses counted, archive readable (SOAK_SECONDS, SOAK_RATE, SOAK_KINDS)
# The load creates processes, connections, threads, generated code, and runs dlopen and dlclose, SOAK_RATE times per second.
. scripts/bench.d/lib.inc
SOAK=${SOAK_SECONDS:-3600} RATE=${SOAK_RATE:-50} KINDS=${SOAK_KINDS:-pctlj}
step=$((SOAK / 60 > 0 ? SOAK / 60 : 1)) # seconds between measurements; the load runs until after the last
ready=$T/ready
mkfifo "$ready"
libs=$(ldconfig -p | sed -n 's/.*=> \(.*\/lib\(z\|lzma\|elf\|dw\|sqlite3\|archive\|zstd\|crypto\|ssl\|xml2\|bz2\|expat\)\.so.*\)/\1/p' | sort -u)
# shellcheck disable=SC2086
"$WORKLOAD/churn" $((SOAK + 2 * step + 60)) "$RATE" "$KINDS" $libs >"$T/rounds" & churn=$!
pids+=($churn)
# SOAK_TARGET=churn excludes the rest of the host, where unwind tables of new binaries would stay loaded
target=-a
[ "${SOAK_TARGET-}" != churn ] || target="-p $churn"
# shellcheck disable=SC2086
"$OBREC" $target -e cpu,offcpu,l4,l7 --stats -q --ready-fd 9 -o "$T/soak.obz" ${SOAK_OPTIONS-} 9>"$ready" 2>"$T/err" & obrec=$!
pids+=($obrec)
read -r -t 120 <"$ready" || { cat "$T/err"; exit 1; }

# obrec's private memory in KiB: the mapped ring buffers have a constant size
own() { awk '/^RssAnon/{print $2}' /proc/$obrec/status; }
begin=$SECONDS
while [ $((SECONDS - begin)) -lt "$SOAK" ]; do
	sleep "$step"
	echo "$((SECONDS - begin)) $(tail -n 1 "$T/rounds") $(own) $(ls /proc/$obrec/fd | wc -l) $(awk '{print $14+$15}' /proc/$obrec/stat)" >>"$T/series"
done
stop=$(date +%s%N)
kill -INT $obrec; rc=0; wait $obrec || rc=$?
stop=$(calc "($(date +%s%N) - $stop) / 1e9")
[ $rc = 0 ] || { cat "$T/err"; echo "obrec ended with $rc"; exit 1; }

# Compares the minimum of the last third with that of the second third: short peaks do not matter, and in the first third tables
# grow to their size.
read -r first last rounds peak fds cpu < <(awk -v n="$SOAK" '
	{ third = int($1 * 3 / n) + 1; if (third > 3) third = 3; if (!(third in low) || $3 < low[third]) { low[third] = $3; at[third] = $2 } }
	$3 > peak { peak = $3 }
	{ fds = $4; cpu = $5 / $1 }
	END { printf "%d %d %d %d %d %.2f\n", low[2], low[3], at[3] - at[2], peak, fds, cpu }' "$T/series")
[ "$rounds" -gt 0 ] || { echo "no rounds"; cat "$T/series"; exit 1; }
head_row
row "own memory, second and last third; peak, MiB" "$(calc "$first / 1024" 1), $(calc "$last / 1024" 1); $(calc "$peak / 1024" 1)"
row "growth, bytes a round" "$(calc "($last - $first) * 1024 / $rounds" 1)" - - "<= 16, and 1 MiB"
row "rounds" "$(tail -n 1 "$T/rounds")"
row "descriptors at the end" "$fds"
row "obrec's CPU, % of one" "$cpu"
row "archive, MiB" "$(calc "$(stat -c %s "$T/soak.obz") / 1048576" 1)"
row "samples; messages" "$(sql "$T/soak.obz" 'SELECT (SELECT count(*) FROM sample) || "; " || (SELECT count(*) FROM message)')"
row "losses counted" "$(sql "$T/soak.obz" 'SELECT ifnull(sum(count), 0) FROM loss')"
row "seconds to stop" "$stop"
"$OBANA" verify "$T/soak.obz" >/dev/null || { echo "the archive is not whole"; exit 1; }
sql "$T/soak.obz" 'SELECT source, cause, sum(count) FROM loss GROUP BY 1, 2 ORDER BY 3 DESC' | sed 's/^/    /'
# Allows one MiB for tables that double.
[ "$(calc "($last - $first - 1024) * 1024 <= 16 * $rounds" 0)" = 1 ] || { echo "memory grows"; cat "$T/series"; exit 1; }
