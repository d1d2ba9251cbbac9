# More keys than the table of cells has room for: what finds none is counted under "(other)", and nothing is lost. The sums over all keys
# are the programs' own counts, of counters and of histograms, for two that fill the table at the same time. A series that comes to the full
# table has the cells reserved for it: all of its keys if they are few.
. tests/live/lib.inc
. tests/live/carriers.inc
[ -x "$WORKLOAD/probed" ] || skip "needs make workload"
grep -q '^open .* yes' "$T/list" || skip "no probe 'open': $(grep '^open ' "$T/list")"
names=34000 # the table has room for 32,768 keys at most
reads=$((4096 * $(nproc))) # and each CPU of its own for 2,048 of block
probes=open loop=
if command -v losetup >/dev/null && grep -q '^block .* yes' "$T/list" && truncate -s $((reads * 16384)) "$T/image" && loop=$(losetup -f --show "$T/image" 2>"$T/err"); then
	trap 'losetup -d "$loop"; cleanup' EXIT
	probes=open,block
else echo "histograms left out: no loop device or no probe 'block'"; fi

mkfifo "$T/first" "$T/second" "$T/third"; exec 6<>"$T/first" 7<>"$T/second" 8<>"$T/third"
"$WORKLOAD/probed" names $names <&6 >"$T/said-1" & one=$!
"$WORKLOAD/probed" names $names <&7 >"$T/said-2" & two=$!
pids+=($one $two) targets=$one,$two
[ -z "$loop" ] || { "$WORKLOAD/probed" reads "$loop" $reads named <&8 >"$T/said-3" & pids+=($!); targets+=,$!; }
obrec_start -q -p $targets -e $probes --debuginfo none -o "$T/c.obz"
echo >&6; echo >&7
both() { written "$T/said-1" && written "$T/said-2"; }
eventually "both have opened" both
is "opened" "$(cat "$T/said-1" "$T/said-2" | xargs)" "names $names names $names"
[ -z "$loop" ] || { echo >&8; eventually "the reads" written "$T/said-3"; is "read" "$(cat "$T/said-3")" "reads $reads"; }
obrec_stop

# cells SERIES: "KEYS COUNT SUM OTHER", of all keys and of those that found no room, with the names of the programs
"$OBANA" query "$T/c.obz" "SELECT series, key, sum(count), sum(sum) FROM (SELECT probe, series, key, count, sum FROM counter WHERE probe = 'open'
	UNION ALL SELECT probe, series, key, count, sum FROM histogram) GROUP BY 1, 2" --csv | tail -n +2 >"$T/cells"
of() { awk -F, -v series=$1 '$1 == series {keys++; n += $3; sum += $4; if ($2 == "(other)") other = $3} END {print keys + 0, n + 0, sum + 0, other + 0}' "$T/cells"; }
read -r keys opens _ other < <(of events)
within "keys with a cell of their own" $((keys - 1)) 4000 32768
within "opens by those that have none" $other $((2 * (names - 32768))) $((2 * (names - 4000)))
opened=$((2 * names))
[ -z "$loop" ] || opened=$((opened + 1)) # the device
is "opens" $opens $opened
is "rows and what was left out" $(($(sql "$T/c.obz" "SELECT count(*) FROM open") + $(of throttled | cut -d' ' -f2))) $opened
is "rows lost" "$(lost "$T/c.obz")" 0
# A name that has a cell is counted there by both, whichever came first.
is "counts of a name" "$(awk -F, '$1 == "events" && $2 ~ /^n[0-9]/ {print $3}' "$T/cells" | sort -u)" 2
"$OBANA" show opens-by-process "$T/c.obz" >"$T/out" 2>&1 || "$OBANA" show open-by-process "$T/c.obz" >"$T/out"
grep -q "(other)" "$T/out" || { head "$T/out"; fail "not shown"; }
[ -z "$loop" ] || for series in latency queued size; do
	read -r _ n sum other < <(of $series)
	# About once in 50 runs of 300 beside other load, 6.18 calls no tracepoint for one of them.
	within "$series: requests" "$n" $((reads - 9)) $reads
	case $series in
	size) within "$series, of $reads processes: those beyond the table" "$other" 1 "$n" ;;
	*) is "$series: those beyond the table" "$other" 0 ;;
	esac
	[ $series != size ] || is "bytes" $sum $((n * 16384))
done
