# obrec's resident memory: one large target, and a whole system of 500 processes
. scripts/bench.d/lib.inc
SECS=${BENCH_SECONDS:-10}
head_row
node -e 'const e=Date.now()+600e3; while(Date.now()<e) JSON.stringify({a:[1,2,3]})' & pids+=($!); p=$!
sleep 1
measured "$OBREC" -q -e cpu -d "${SECS}s" -p $p -o "$T/n.obz"
row "one large target (node, $(stat -Lc %s /proc/$p/exe | numfmt --to=iec)), MiB" "$((rss >> 10))" - - "<= 60"
for i in $(seq 500); do start sleep 600; done
start "$WORKLOAD/demo" 600
measured "$OBREC" -q -e cpu -d "${SECS}s" -a -o "$T/a.obz"
row "$(ls -d /proc/[0-9]* | wc -l) processes, -a, MiB" "$((rss >> 10))" - - "<= 200"
