# RabbitMQ under a client: every method it called and was sent, errors, pairs, sizes, as many as the client counts; no password in the archive.
. tests/live/l7.inc
server=$(ls -d /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server 2>/dev/null | tail -n 1) || true
[ -n "$server" ] && debian_python pika && command -v epmd >/dev/null || skip "needs rabbitmq-server and python3-pika"
free_port 3; D=$T/rabbit; mkdir -p "$D"
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
rabbit=$!
await_port $port $rabbit
beam=$(cat "$D/pid") server=$beam
pids=("$beam" "${pids[@]}")
n=300
for payload in head 16384; do
	record --payload $payload
	$py tests/live/amqp_client.py $port $n >"$T/client" 2>&1 || fail "client: $(tail -n 3 "$T/client")"
	finish $payload amqp
	q "SELECT method, status, is_error, count(*), sum(paired) FROM message WHERE method <> 'heartbeat' GROUP BY 1,2,3" | LC_ALL=C sort >"$T/got"
	grep -v ^bytes "$T/client" | LC_ALL=C sort >"$T/wanted"
	diff "$T/wanted" "$T/got" || fail "$payload: methods, < as the client counted, > as recorded"
	echo "ok: $payload: $(wc -l <"$T/got") kinds of messages, $(awk -F, '{n += $4} END {print n}' "$T/got") in all"
	is "$payload: bytes of messages published" "$(q "SELECT sum(json_extract(detail, '$.bytes')) FROM message WHERE method = 'basic.publish'")" "$(sed -n 's/^bytes,//p' "$T/client")"
	is "$payload: targets of what was polled" "$(q "SELECT DISTINCT target FROM message WHERE method = 'basic.get' ORDER BY 1" | tr "\n" " ")" "big orders "
	is "$payload: seen as its server" "$(q "SELECT group_concat(DISTINCT role) FROM connection WHERE protocol = 'amqp'")" server
	raw "$a" >"$T/all"
	grep -aq PLAIN "$T/all" || fail "no payload of the login"
	! grep -aq s3cret "$T/all" || fail "$payload: the password is in the archive"
done
