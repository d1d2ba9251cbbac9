# Memory by stack: page faults as many as getrusage() counts, bytes of system calls exactly, major faults of a file that is not cached,
# and resident memory whose samples add up to what the process has grown by; of a known program, python3 and redis.
. tests/live/lib.inc
. tests/live/mem.inc
grep -q '^mem .* yes' "$T/list" || skip "no probe 'mem': $(grep '^mem ' "$T/list")"
out=$T tmp=$T PATH=$(dirname "$OBREC"):$WORKLOAD:$PATH
page=$(getconf PAGESIZE) cpus=$(nproc --all)
file=$PWD/build/mem-majors.$$ # not on a tmpfs
trap 'cleanup; rm -f "$file"' EXIT
dd if=/dev/urandom of="$file" bs=1M count=1 status=none
mem_run "$file"
is "exit" $status 0
mem_told $page $cpus ${file##*/}
"$OBANA" show mem-faults "$T/mem-mapped.obz" >"$T/show" 2>"$T/err" && grep -q ' minor *memory *mem-file$' "$T/show" || fail "section mem-faults: $(cat "$T/show" "$T/err")"
for kind in minflt majflt mapped unmapped discarded resident released; do
	archive=$T/mem-grow.obz
	case $kind in majflt) archive=$T/mem-majors.obz ;; unmapped) archive=$T/mem-calls.obz ;; esac
	"$OBANA" export folded "$archive" --kind $kind -o "$T/folded" 2>"$T/err" && grep -q 'main' "$T/folded" || fail "folded stacks of $kind"
done
within "complete stacks, %" "$(sql "$T/mem-each.obz" "SELECT 100.0 * total((error IS NULL) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id")" 99.9 100

# grown ARCHIVE: KiB gained and not released
grown() { sql "$1" "SELECT (total(value) FILTER (WHERE kind = 'resident') - total(value) FILTER (WHERE kind = 'released')) / 1024 FROM sample"; }
complete() { sql "$1" "SELECT 100.0 * total((error IS NULL) * count) / total(count) FROM sample JOIN stack ON stack.id = stack_id"; }

# unless_skipped COMMAND: again, if that run says nothing (mem.inc)
unless_skipped() { for _ in 1 2 3 4 5 6 7 8 9 10; do "$@"; grep -q "$MEM_AGAIN" "$T/obrec.err" || break; done; }

if command -v python3 >/dev/null; then
	cat >"$T/grow.py" <<'PY'
import resource, sys
def keep(n): return [bytearray(3000) for _ in range(n)]
def resident(): return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize() // 1024
sys.stdin.readline()
faults, before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt, resident()
all = keep(30000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults, resident() - before, flush=True)
sys.stdin.readline()
PY
	python_run() {
		rm -f "$T/go"; mkfifo "$T/go"; : >"$T/python.txt"
		exec 5<>"$T/go"
		python3 "$T/grow.py" <"$T/go" >"$T/python.txt" & python=$!
		pids+=($python)
		# of descriptor 0: it reads its modules before
		reads() { [ "$(awk '($1 == 0 || $1 == 63) && $2 == "0x0"' /proc/$python/syscall 2>/dev/null)" ]; }
		eventually "python3 waits" reads
		obrec_start -e mem:period=5,step=64 -p $python -o "$T/python.obz"
		echo >&5
		eventually "python3 has its objects" written "$T/python.txt"
		obrec_stop
		echo >&5
		exec 5>&-
		wait $python
	}
	unless_skipped python_run
	is "python3: losses" "$(lost "$T/python.obz" "source <> 'file access'")" 0
	read -r faults kib <"$T/python.txt"
	mem_near "python3: faults" "$(sql "$T/python.obz" "SELECT total(value) FROM sample WHERE kind = 'minflt'")" $faults "$(awk -v n=$faults 'BEGIN {print 5 * sqrt(n * 5) + 100}')"
	mem_near "python3: KiB grown" "$(grown "$T/python.obz")" $kib $((kib / 50 + 1024 + 12 * cpus * 32))
	within "python3: complete stacks, %" "$(complete "$T/python.obz")" 98.5 100
fi

if command -v redis-server >/dev/null; then
	start redis-server --port 0 --unixsocket "$T/redis.sock" --save "" --appendonly no --dir "$T" >/dev/null; redis=$!
	cli() { redis-cli -s "$T/redis.sock" "$@"; }
	pong() { [ "$(cli ping)" = PONG ]; }
	eventually "redis answers" pong
	resident() { awk '/^VmRSS:/ {print $2}' /proc/$redis/status; }
	redis_run() {
		obrec_start -e mem:period=5,step=64 -p $redis -o "$T/redis.obz"
		before=$(resident)
		redis-benchmark -s "$T/redis.sock" -q -n 40000 -r 100000000 -d 3000 -t set >/dev/null
		after=$(resident)
		obrec_stop
	}
	unless_skipped redis_run
	mem_near "redis: KiB grown" "$(grown "$T/redis.obz")" $((after - before)) $(((after - before) / 20 + 1024 + 12 * cpus * 32))
	within "redis: complete stacks, %" "$(complete "$T/redis.obz")" 98.5 100
fi
