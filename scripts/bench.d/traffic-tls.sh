# CPU time per TLS request (server, client and obrec together) without obrec, with l4,l7 and with tls: nginx (OpenSSL), a Go server
. scripts/bench.d/lib.inc
for c in nginx h2load openssl pgrep; do have $c || { echo "needs $c"; exit 0; }; done
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=localhost 2>/dev/null
N=${BENCH_REQUESTS:-20000} ROUNDS=5

# us_a_request PID PORT [PROBES]: CPU time per request of all processes involved
us_a_request() {
	local pid=$1 port=$2 server ours=0
	if [ $# = 3 ]; then recording -p "$pid" -e "$3" --debuginfo none -o "$T/$3.obz"; ours=$(per_thread_ns $o); fi
	server=$(per_thread_ns "$pid")
	OUT=$T/h2load measured h2load --h1 -n $N -c 8 -t 1 "https://127.0.0.1:$port/"
	server=$(($(per_thread_ns "$pid") - server))
	grep -q " $N succeeded" "$T/h2load" || { cat "$T/h2load" >&2; return 1; }
	if [ $# = 3 ]; then ours=$(($(per_thread_ns $o) - ours)); stopped; fi
	us=$(calc "($server+$ours+$cpu*1e9)/$N/1000")
}

# compare NAME PID PORT
compare() {
	local name=$1 pid=$2 port=$3 alone=() cipher=() clear=() a b c
	us_a_request "$pid" "$port"
	for _ in $(seq $ROUNDS); do
		us_a_request "$pid" "$port"; alone+=("$us")
		us_a_request "$pid" "$port" l4,l7; cipher+=("$us")
		us_a_request "$pid" "$port" l4,l7,tls; clear+=("$us")
	done
	a=$(median "${alone[@]}") b=$(median "${cipher[@]}") c=$(median "${clear[@]}")
	row "$name: us a request, l4,l7; peer: alone" "$b" "$a" "$(calc "$b/$a")x"
	row "$name: us a request, l4,l7,tls; peer: alone" "$c" "$a" "$(calc "$c/$a")x"
	row "$name: messages paired, of $N" "$(sql "$T/l4,l7,tls.obz" "SELECT count(*) FROM message WHERE paired")" $N - equal
	row "$name: losses" "$(sql "$T/l4,l7,tls.obz" "SELECT ifnull(sum(count),0) FROM loss WHERE source <> 'side-band'")" - - 0
}

head_row
port=$((20000 + RANDOM % 5000))
mkdir -p "$T/www/logs"; head -c 200 /dev/zero | tr '\0' x >"$T/www/index.html"
printf 'worker_processes 1; daemon off; pid %s; error_log /dev/null; events {} http { access_log off; keepalive_requests 10000000;
	server { listen 127.0.0.1:%s ssl; ssl_certificate %s; ssl_certificate_key %s; root %s; } }\n' \
	"$T/nginx.pid" $port "$T/cert.pem" "$T/key.pem" "$T/www" >"$T/nginx.conf"
chmod -R a+rX "$T"
start nginx -p "$T/www" -c "$T/nginx.conf"; nginx=$!
sleep 0.5
compare nginx "$(pgrep -P $nginx | head -n 1)" $port
if have go; then
	GO111MODULE=off go build -o "$T/go-server" tests/live/tls_peer.go
	start "$T/go-server" serve 127.0.0.1:$((port + 1)) "$T/cert.pem" "$T/key.pem"; server=$!
	sleep 0.5
	compare Go $server $((port + 1))
fi
