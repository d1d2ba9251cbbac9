# Debian's nats-server between a client and a responder: messages published and delivered, requests paired with their answers by inbox,
# errors; as many as the client counted. The password is in no byte of the archive.
. tests/live/l7.inc
for c in nats-server python3 zstd; do command -v $c >/dev/null || skip "needs $c"; done
secret=Zq7xSecretNats
for payload in head 16384; do
	free_port
	serve nats-server -a 127.0.0.1 -p $port --user me --pass $secret >/dev/null 2>&1
	record --payload $payload
	python3 tests/live/nats_client.py $port 200 me $secret >"$T/client" || fail "client"
	finish $payload nats; kill $server
	is "$payload: messages" "$(q "SELECT method, status, paired, oneway, is_error, count(*) FROM message WHERE method <> 'PING' GROUP BY 1,2,3,4,5" | sort | tr '\n' ' ')" "$(sed "s/^-/'-/" "$T/client" | sort | tr '\n' ' ')" # CSV: no formula
	is "$payload: PINGs without PONG" "$(q "SELECT count(*) FROM message WHERE method = 'PING' AND NOT paired")" 0
	raw "$a" -path '*payload*' >"$T/bytes"
	is "$payload: calls with the password, with what was published" "$(grep -ac $secret "$T/bytes" || true),$(grep -qa PUB "$T/bytes" && echo yes)" 0,yes
done
