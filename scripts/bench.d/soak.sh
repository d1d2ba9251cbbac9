# an hour on a churning host: memory flat, losses counted, archive readable (SOAK_SECONDS, SOAK_RATE)
# Processes, connections, threads, dlopen and dlclose without end, at SOAK_RATE rounds a second.
. scripts/bench.d/lib.inc
SOAK=${SOAK_SECONDS:-3600} RATE=${SOAK_RATE:-50}
ready=$T/ready
mkfifo "$ready"
libs=$(ldconfig -p | sed -n 's/.*=> \(.*\/lib\(z\|lzma\|elf\|dw\|sqlite3\|archive\|zstd\|crypto\|ssl\|xml2\|bz2\|expat\)\.so.*\)/\1/p' | sort -u)
# shellcheck disable=SC2086
"$WORKLOAD/churn" $((SOAK + 20)) "$RATE" $libs >"$T/rounds" & churn=$!
pids+=($churn)
# SOAK_TARGET=churn leaves the rest of the host out: its new binaries keep their tables
target=-a
[ "${SOAK_TARGET-}" != churn ] || target="-p $churn"
# shellcheck disable=SC2086
"$OBREC" $target -e cpu,offcpu,l4,l7 --stats -q --ready-fd 9 -o "$T/soak.obz" ${SOAK_OPTIONS-} 9>"$ready" 2>"$T/err" & obrec=$!
pids+=($obrec)
read -r -t 120 <"$ready" || { cat "$T/err"; exit 1; }

# rss: obrec's own and shared pages, KiB; the rings and maps it has mapped are among them
rss() { awk '/^VmRSS/{print $2}' /proc/$obrec/status; }
begin=$SECONDS step=$((SOAK / 60 > 0 ? SOAK / 60 : 1))
while [ $((SECONDS - begin)) -lt "$SOAK" ]; do
	sleep "$step"
	echo "$((SECONDS - begin)) $(rss) $(ls /proc/$obrec/fd | wc -l) $(awk '{print $14+$15}' /proc/$obrec/stat)" >>"$T/series"
done
stop=$(date +%s%N)
kill -INT $obrec; rc=0; wait $obrec || rc=$?
stop=$(calc "($(date +%s%N) - $stop) / 1e9")
[ $rc = 0 ] || { cat "$T/err"; echo "obrec ended with $rc"; exit 1; }

# Memory: the last half against the first, without the first tenth, in which tables are filled.
read -r first last slope peak fds cpu < <(awk -v n="$SOAK" '
	$1 < n / 10 {next}
	{ x = $1; y = $2; c++; sx += x; sy += y; sxx += x * x; sxy += x * y; if (y > peak) peak = y; if (!f) f = y; l = y; d = $3; t = $4 / $1 }
	END { printf "%d %d %.2f %d %d %.2f\n", f, l, (c > 1 ? (c * sxy - sx * sy) / (c * sxx - sx * sx) * 3600 / 1024 : 0), peak, d, t }' "$T/series")
head_row
row "RSS after a tenth, at the end; peak, MiB" "$((first >> 10)), $((last >> 10)); $((peak >> 10))"
row "RSS slope, MiB an hour" "$slope"
row "descriptors at the end" "$fds"
row "obrec's CPU, % of one" "$cpu"
row "archive, MiB" "$(calc "$(stat -c %s "$T/soak.obz") / 1048576" 1)"
row "samples; messages" "$(sql "$T/soak.obz" 'SELECT (SELECT count(*) FROM sample) || "; " || (SELECT count(*) FROM message)')"
row "losses counted" "$(sql "$T/soak.obz" 'SELECT ifnull(sum(count), 0) FROM loss')"
row "seconds to stop" "$stop"
"$OBANA" verify "$T/soak.obz" >/dev/null || { echo "the archive is not whole"; exit 1; }
sql "$T/soak.obz" 'SELECT source, cause, sum(count) FROM loss GROUP BY 1, 2 ORDER BY 3 DESC' | sed 's/^/    /'
grown=1.25; [ "${SOAK_TARGET-}" != churn ] || grown=1.05
[ "$(calc "$last <= $first * $grown + 6144" 0)" = 1 ] || { echo "memory grows"; cat "$T/series"; exit 1; }
