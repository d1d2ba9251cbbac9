# A known number of reads, writes and syncs by each system call: calls, bytes and times by file equal the load's own account and strace's,
# also of files renamed, removed and copied; the page cache is missed once for each page of a cold file; pipes are left out; slow calls are rows with position and stacks.
. tests/live/lib.inc
. tests/live/security.inc
security_told file 30 -e filetop:rate=0,min=0s
for name in filetop file-operations file-slowest fileslower; do
	"$OBANA" show $name "$archive" >"$T/shown" && grep -q '/f-plain' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
[ "$(stat -f -c %T "$T")" = tmpfs ] || "$OBANA" show file-cache-files "$archive" | grep -qE '^ *1000 +500 +66.67% +500 +.*/f-cached$' || { "$OBANA" show file-cache-files "$archive"; fail "show file-cache-files"; }
for name in cachestat file-cache-time; do
	"$OBANA" show $name "$archive" >"$T/shown" && grep -qi 'dirtied' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
for name in file-latency file-bytes; do
	"$OBANA" show $name "$archive" >"$T/shown" && grep -q 'write' "$T/shown" || { cat "$T/shown"; fail "show $name"; }
done
"$OBANA" show file-failed "$archive" | grep -q '30  EINVAL  security' || fail "show file-failed"
if command -v strace >/dev/null; then
	(cd "$T"; echo . | strace -f -c -o "$T/strace" -P "$T/f-plain" -e trace=read,write,pread64,pwrite64,readv,writev,fsync "$WORKLOAD/security" file 30 "$T" >"$T/strace.did")
	is "calls by strace -c" "$(sql "$archive" "SELECT call, count(*), count(*) FILTER (WHERE error) FROM file WHERE path LIKE '%/f-plain' GROUP BY 1 ORDER BY 1" | xargs)" \
		"$(awk '$NF ~ /^(pread64|write)$/ {print $NF "," $4 "," (NF > 5 ? $5 : 0)}' "$T/strace" | LC_ALL=C sort | xargs)"
fi

security_run file some 3000 -e file:rate=0,min=5us
some() { sql "$T/some.obz" "$1"; }
is "exit" $status 0
timed() { some "SELECT sum(count) FROM histogram WHERE probe = 'file' AND series = 'latency' AND key LIKE '%/f-plain' AND $1"; }
is "none is a row that took less" "$(some "SELECT count(*) FROM file WHERE duration_ns < 5000")" 0
within "rows from 5 us on" "$(some "SELECT count(*) FROM file WHERE path LIKE '%/f-plain'")" "$(timed 'low >= 5000')" "$(timed 'high > 5000')"
is "all are counted" "$(timed 1)" 9000
security_run file rated 300 -e file:rate=5,min=0s
of() { sql "$T/rated.obz" "SELECT sum(count) FROM counter WHERE probe = 'file' AND series = '$1'"; }
is "rows, and those left out" "$(sql "$T/rated.obz" "SELECT count(*) + $(of throttled) FROM file")" "$(of events)"

# ---- more files than have room
cat >"$T/many.py" <<'PY'
import os, sys
os.chdir(sys.argv[1])
for i in range(9000):
    fd = os.open("many", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.rename("many", "m%d" % i)
    os.write(fd, b"four")
    os.close(fd)
    os.unlink("m%d" % i)
PY
"$OBREC" -q -e file:min=1h --debuginfo none -o "$T/many.obz" -- python3 "$T/many.py" "$T" 2>"$T/err" || { cat "$T/err"; fail "many files"; }
many() { sql "$T/many.obz" "SELECT $1"; }
is "all are counted, with their bytes" "$(many "sum(count), sum(sum) FROM counter c JOIN series s USING (capture_id, probe, series) WHERE c.probe = 'file' AND c.series = 'bytes' AND ifnull(part(c.key, s.keys, 'operation'), 'write') = 'write'")" "9000,36000"
is "without a path and counted as such" "$(many "sum(count) BETWEEN 808 AND 2000 FROM loss WHERE cause LIKE 'call: path not stored%'")" 1
is "nothing else is lost" "$(lost "$T/many.obz" "cause NOT LIKE 'call: path not stored%'")" 0
is "a row" "$(many "count(*) FROM file")" 0
