# Debian's nats-server between a client and a responder: messages published and delivered, requests paired with their answers by inbox,
# errors; as many as the client counted. The password is in no byte of the archive.
. tests/live/lib.inc
for c in nats-server python3 zstd; do command -v $c >/dev/null || skip "needs $c"; done
port=$((20000 + RANDOM % 10000))
secret=Zq7xSecretNats
for payload in head 16384; do
	port=$((port + 1))
	start nats-server -a 127.0.0.1 -p $port --user me --pass $secret >/dev/null 2>&1
	server=$!
	for _ in $(seq 100); do (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && break; sleep 0.05; done
	obrec_start -q -p $server -e l4,l7 --debuginfo none --payload $payload -o "$T/a.obz"
	python3 tests/live/nats_client.py $port 200 me $secret >"$T/client" || fail "client"
	sleep 0.3; kill -INT $obrec; obrec_wait; kill $server
	is "$payload: exit" $status 0
	is "$payload: losses" "$(sql "$T/a.obz" "SELECT coalesce(sum(count),0) FROM loss")" 0
	is "$payload: protocols" "$(sql "$T/a.obz" "SELECT group_concat(DISTINCT protocol) FROM message")" nats
	is "$payload: messages" "$(sql "$T/a.obz" "SELECT method, status, paired, oneway, is_error, count(*) FROM message WHERE method <> 'PING' GROUP BY 1,2,3,4,5" | sort | tr '\n' ' ')" "$(sort "$T/client" | tr '\n' ' ')"
	is "$payload: PINGs without PONG" "$(sql "$T/a.obz" "SELECT count(*) FROM message WHERE method = 'PING' AND NOT paired")" 0
	mkdir -p "$T/raw"; rm -rf "$T/raw/"*; tar xf "$T/a.obz" -C "$T/raw"
	is "$payload: calls with the password" "$(find "$T/raw" -path '*payload*' -name '*.zst' -exec zstd -dcq {} + | grep -ac $secret || true)" 0
done
