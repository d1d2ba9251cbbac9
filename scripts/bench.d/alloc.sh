# What programs keep of their throughput while their allocations are recorded: with -e alloc, and with --cpu-budget; beside heaptrack, which starts them
. scripts/bench.d/lib.inc
SECS=${BENCH_SECONDS:-6} ROUNDS=${BENCH_ROUNDS:-3}
port=$((20000 + RANDOM % 5000))
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; }

# Each load has SERVER_name: the words of its server's command, and client_name: prints its rate.
client_redis() {
	{ timeout "$SECS" redis-benchmark -p $port -t set -n 100000000 -c 8 -d 100 2>&1 || true; } | tr '\r' '\n' |
		sed -n 's/.*rps=[0-9.]* (overall: \([0-9.]*\)) avg.*/\1/p' | tail -n 1
}
client_go() { wrk -t 1 -c 8 -d "$SECS" "http://127.0.0.1:$port/" | awk '/Requests\/sec/ {print $2}'; }
client_mariadbd() {
	sysbench oltp_read_only --mysql-host=127.0.0.1 --mysql-port=$port --mysql-user=bench --mysql-db=bench --tables=1 --table-size=1000 --threads=4 --time="$SECS" run |
		sed -n 's/.*queries: *[0-9]* *(\([0-9.]*\) per sec.*/\1/p'
}
# These have no clients: the rate is what they print each second.
client_python3() { sleep "$SECS"; tail -n 1 "$T/said"; }
client_malloc() { sleep "$SECS"; tail -n 1 "$T/said"; }

# kept NAME HOW: rate of the load in $rate; HOW: alone, heaptrack, or obrec's options
kept() {
	local name=$1 how=$2 command server
	eval "command=(\"\${SERVER_$name[@]}\")"
	[ "$how" != heaptrack ] || command=(heaptrack -r -o "$T/heaptrack" "${command[@]}")
	: >"$T/said"
	"${command[@]}" </dev/null >"$T/said" 2>&1 & server=$!
	pids+=($server)
	case $name in
	python3 | malloc) until [ -s "$T/said" ]; do sleep 0.1; done ;;
	*) until listens; do sleep 0.1; done ;;
	esac
	case $how in
	alone | heaptrack) rate=$(client_$name) ;;
	*)
		recording -p $server $how --debuginfo none -o "$T/$name.obz"
		[[ $how != *budget* ]] || sleep 3 # until it has settled
		rate=$(client_$name)
		stopped
		;;
	esac
	pkill -TERM -P $server 2>/dev/null || true # heaptrack's is its child
	kill $server 2>/dev/null || true
	wait $server 2>/dev/null || true
	while case $name in python3 | malloc) false ;; *) listens ;; esac; do sleep 0.1; done
}
# load NAME LABEL
load() {
	local name=$1 label=$2 alone=() with=() budget=() theirs=() a how
	for _ in $(seq $ROUNDS); do
		kept $name alone; alone+=("$rate")
		kept $name "-e alloc"; with+=("$rate")
		kept $name "-e alloc --cpu-budget 5%"; budget+=("$rate")
		! have heaptrack || { kept $name heaptrack; theirs+=("$rate"); }
	done
	a=$(median "${alone[@]}") how=-
	[ ${#theirs[@]} = 0 ] || how=$(calc "$(median "${theirs[@]}") / $a")
	row "$label: throughput kept, of $(calc "$a" 0)/s" "$(calc "$(median "${with[@]}") / $a")" $how
	row "$label: with --cpu-budget 5%, after 3 s" "$(calc "$(median "${budget[@]}") / $a")" $how
}

head_row
SERVER_malloc=("$WORKLOAD/allocs" rates 200000)
load malloc "malloc() and free(), nothing else"
cat >"$T/objects.py" <<'P'
import time
while True:
    end, n = time.monotonic() + 1, 0
    while time.monotonic() < end:
        rows = [{"id": i, "name": "row %d" % i, "tags": [i] * 100} for i in range(1000)]
        n += len(rows)
    print(n, flush=True)
P
SERVER_python3=(/usr/bin/python3 "$T/objects.py")
load python3 "python3, rows of a table"
if have redis-server; then
	SERVER_redis=(redis-server --port $port --save '' --appendonly no --dir "$T")
	load redis "redis, SET"
fi
if have go && have wrk; then
	mkdir "$T/go"
	cat >"$T/go/main.go" <<-G
		package main
		import ("encoding/json"; "net/http"; "os")
		func main() {
			http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
				rows := []map[string]any{}
				for i := 0; i < 20; i++ { rows = append(rows, map[string]any{"id": i, "path": r.URL.Path}) }
				json.NewEncoder(w).Encode(rows)
			})
			http.ListenAndServe("127.0.0.1:" + os.Args[1], nil)
		}
	G
	(cd "$T/go" && HOME=$T GO111MODULE=off GOCACHE=$T/gocache go build -o server main.go)
	SERVER_go=("$T/go/server" $port)
	load go "Go, a server of JSON"
fi
if have mariadbd && have sysbench; then
	mkdir "$T/my"
	mariadb-install-db --datadir="$T/my" --user=root --auth-root-authentication-method=normal >/dev/null 2>&1
	SERVER_mariadbd=(mariadbd --no-defaults --user=root --datadir="$T/my" --socket="$T/my.sock" --port=$port --bind-address=127.0.0.1 --pid-file="$T/my.pid")
	"${SERVER_mariadbd[@]}" >/dev/null 2>&1 & my=$!
	until listens; do sleep 0.1; done
	mariadb -S "$T/my.sock" -e "CREATE DATABASE bench; CREATE USER bench@'127.0.0.1'; CREATE USER bench@localhost; GRANT ALL ON bench.* TO bench@'127.0.0.1'; GRANT ALL ON bench.* TO bench@localhost"
	sysbench oltp_read_only --mysql-host=127.0.0.1 --mysql-port=$port --mysql-user=bench --mysql-db=bench --tables=1 --table-size=1000 prepare >/dev/null
	kill $my; wait $my || true
	load mariadbd "mariadbd, sysbench oltp_read_only, queries"
fi
