# RabbitMQ under a client: every method it called and was sent, errors, pairs, sizes, as many as the client counts; no password in the archive.
. tests/live/lib.inc
server=$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server 2>/dev/null | tail -n 1) || true
# Debian's python3 has Debian's modules, whatever comes first in PATH.
py=
for p in python3 /usr/bin/python3; do $p -c 'import pika' 2>/dev/null && py=$p; done
[ -n "$server" ] && [ -n "$py" ] && command -v epmd >/dev/null || skip "needs rabbitmq-server and python3-pika"
port=$((20000 + RANDOM % 10000)); D=$T/rabbit; mkdir -p "$D"
# Its own port mapper, which would be started and left behind else.
export HOME=$D ERL_EPMD_PORT=$((port + 1)) ERL_EPMD_ADDRESS=127.0.0.1
start epmd
cat >"$D/rabbitmq.conf" <<-E
	listeners.tcp.1 = 127.0.0.1:$port
	heartbeat = 1
	E
env RABBITMQ_NODENAME=t$$@localhost RABBITMQ_CONFIG_FILE="$D/rabbitmq.conf" RABBITMQ_DIST_PORT=$((port + 2)) RABBITMQ_MNESIA_BASE="$D" RABBITMQ_LOG_BASE="$D" \
	RABBITMQ_ENABLED_PLUGINS_FILE="$D/plugins" RABBITMQ_PID_FILE="$D/pid" RABBITMQ_GENERATED_CONFIG_DIR="$D/generated" RABBITMQ_CONF_ENV_FILE=/dev/null \
	RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+S 1:1 +sbwt none" "$server" >"$T/server" 2>&1 &
pids=($! "${pids[@]}")
for _ in $(seq 300); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.1; done
beam=$(cat "$D/pid" 2>/dev/null) && [ -d "/proc/$beam" ] || fail "no server: $(tail -n 5 "$T/server")"
pids=("$beam" "${pids[@]}")
n=300
for payload in head 16384; do
	obrec_start -q -p "$beam" -e l4,l7 --payload $payload -o "$T/a.obz"
	$py tests/live/amqp_client.py $port $n >"$T/client" 2>&1 || fail "client: $(tail -n 3 "$T/client")"
	sleep 0.3; kill -INT $obrec; obrec_wait
	is "$payload: exit" $status 0
	is "$payload: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$payload: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" amqp
	sql "$T/a.obz" "SELECT method, status, is_error, count(*), sum(paired) FROM message WHERE method <> 'heartbeat' GROUP BY 1,2,3" | LC_ALL=C sort >"$T/got"
	grep -v ^bytes "$T/client" | LC_ALL=C sort >"$T/wanted"
	diff "$T/wanted" "$T/got" || fail "$payload: methods, < as the client counted, > as recorded"
	echo "ok: $payload: $(wc -l <"$T/got") kinds of messages, $(awk -F, '{n += $4} END {print n}' "$T/got") in all"
	is "$payload: bytes of messages published" "$(sql "$T/a.obz" "SELECT sum(json_extract(detail, '$.bytes')) FROM message WHERE method = 'basic.publish'")" "$(sed -n 's/^bytes,//p' "$T/client")"
	is "$payload: targets of what was polled" "$(sql "$T/a.obz" "SELECT DISTINCT target FROM message WHERE method = 'basic.get' ORDER BY 1" | tr "\n" " ")" "big orders "
	is "$payload: seen as its server" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT role) FROM connection WHERE protocol = 'amqp'")" server
	mkdir "$T/x"; tar xf "$T/a.obz" -C "$T/x"
	find "$T/x" -name '*.zst' -exec zstd -dcq {} + >"$T/all"
	grep -aq PLAIN "$T/all" || fail "no payload of the login"
	grep -aq s3cret "$T/all" && fail "$payload: the password is in the archive"
	rm -rf "$T/x" "$T/all"
done
