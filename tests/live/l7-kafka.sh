# Kafka against librdkafka's own broker (kcat -X test.mock.num.brokers), with clients of two makes: what is reported is what
# the broker's log says it received.
. tests/live/l7.inc
for c in kcat /usr/bin/python3; do command -v $c >/dev/null || skip "needs $c"; done
/usr/bin/python3 -c 'import kafka' 2>/dev/null || skip "needs python3-kafka"

# The broker lives in a consumer of a topic that nobody writes to.
start kcat -X test.mock.num.brokers=1 -b x -C -t idle -q -d mock >/dev/null 2>"$T/mock.log"
server=$!
eventually "the broker's consumer fetches" written "$T/mock.log" FetchRequest
port=$(sed -n 's/.*replaced with 127.0.0.1:\([0-9]*\).*/\1/p' "$T/mock.log")
connected=$(served $port)
K="kcat -b 127.0.0.1:$port -q"
for t in orders payments; do echo first | $K -P -t $t; done
eventually "the first clients are gone" all_served

# Those that were connected before obrec started are left out on both sides: $before, their ports.
# received FROM-LINE: "API,VERSION,COUNT" by the broker's log
received() {
	tail -n +$1 "$T/mock.log" | sed -n 's/.*Received \([A-Za-z]*\)RequestV\([0-9]*\) from [0-9.]*:\([0-9]*\)$/\1 \2 \3/p' |
		awk -v before=",$before," 'index(before, "," $3 ",") == 0 {sub(/^ApiVersion$/, "ApiVersions", $1); n[$1 "," $2]++} END {for (k in n) print k "," n[k]}' | sort
}
# seen ARCHIVE ROLE: the same of our own
seen() {
	sql "$1" "SELECT method, json_extract(m.detail, '$.version'), count(*) FROM message m JOIN connection c ON c.id = connection_id
		WHERE m.protocol = 'kafka' AND c.role = '$2' AND $port IN (local_port, remote_port) AND remote_port NOT IN ($before) AND method IS NOT NULL GROUP BY 1, 2" | sort
}

cat >"$T/other.py" <<'P'
import sys
from kafka import KafkaConsumer, KafkaProducer, TopicPartition
at = '127.0.0.1:' + sys.argv[1]
p = KafkaProducer(bootstrap_servers=at, client_id='other', acks=1, linger_ms=0)
for i in range(50):
    p.send('payments', b'value %d' % i, partition=0).get(30)
p.close()
c = KafkaConsumer(bootstrap_servers=at, client_id='other', consumer_timeout_ms=20000)
c.assign([TopicPartition('payments', 0)])
c.seek_to_beginning()
assert sum(1 for _ in zip(range(50), c)) == 50
c.close()
P
talk() {
	seq 200 | $K -P -t orders -X linger.ms=0 -X batch.num.messages=1
	$K -C -t orders -o beginning -e >"$T/out"
	head -c 600000 /dev/zero | tr '\0' z >"$T/large"; $K -P -t orders "$T/large"
	timeout 60 $K -G group-17 -e payments </dev/null >/dev/null 2>&1
	seq 20 | $K -P -t orders -X acks=0 -X linger.ms=0 -X batch.num.messages=1
	$K -L >/dev/null
	/usr/bin/python3 "$T/other.py" $port || fail "the other client"
}

# from_here: what the broker receives, and who connects to it, from now on
from_here() {
	before=$(sed -n 's/.*from [0-9.]*:\([0-9]*\)$/\1/p' "$T/mock.log" | sort -u | paste -sd,)
	line=$(($(wc -l <"$T/mock.log") + 1))
}
from_here
record
talk
finish server
# kcat leaves the broker alone behind every message written with acks=0.
is "server: requests by API and version, as the broker received them" "$(seen "$a" server)" "$(received $line)"
# what ARCHIVE COLUMNS [ROLE]; the broker's process has a consumer of its own: that one's side is the client's
what() { sql "$1" "SELECT $2 FROM message m JOIN connection c ON c.id = connection_id WHERE m.protocol = 'kafka' AND c.role = '${3-server}' AND $port IN (local_port, remote_port) AND remote_port NOT IN ($before)"; }
# kcat may leave before the broker read the last of what it wrote with acks=0: what it received beyond the others.
n7=$(received $line | sed -n 's/^Produce,7,//p') other=$(received $line | sed -n 's/^Produce,[^7]*,//p')
none=$((n7 - 201 - (50 - ${other:-0}))) # the other client's 50 are of a version of its own, or of this
within "server: written with acks=0, received" $none 1 20
is "server: written with acks=0" "$(what "$a" "sum(oneway AND method NOT IN ('Fetch', 'JoinGroup', 'SyncGroup')), sum(oneway AND method = 'Produce' AND target = 'orders')")" $none,$none
# A client that leaves does not wait for what it asked last: those alone are without an answer, nothing after them has one.
stayed="closed_ns IS NULL OR EXISTS (SELECT 1 FROM message x WHERE x.connection_id = c.id AND x.paired AND x.request_ns > m.request_ns)"
is "server: not answered though the client stayed, answers alone" "$(what "$a" "sum(NOT paired AND NOT oneway AND ($stayed)), sum(method IS NULL)")" 0,0
is "server: refused, of a version the broker does not speak" "$(what "$a" "sum(is_error AND status NOT LIKE 'no answer%')")" "$(received $line | sed -n 's/^ApiVersions,3,//p')"
is "server: written to payments" "$(what "$a" "sum(method = 'Produce' AND target = 'payments' AND status = 'OK')")" 50

line=$(($(wc -l <"$T/mock.log") + 1))
seq 100 >"$T/in"
"$OBREC" -q -e l4,l7 --debuginfo none -o "$T/c.obz" -- $K -P -t orders -X linger.ms=0 -X batch.num.messages=1 -l "$T/in"
is "client: losses" "$(lost "$T/c.obz")" 0
is "client: requests by API and version, as the broker received them" "$(seen "$T/c.obz" client)" "$(received $line)"
is "client: answered" "$(what "$T/c.obz" "sum(method = 'Produce' AND paired AND status = 'OK')" client)" 100

# A client of a third make, which knows nothing of librdkafka.
node -e 'require("kafkajs")' 2>/dev/null || { echo "not run: kafkajs (npm's; NODE_PATH names its folder)"; exit 0; }
cat >"$T/other.js" <<'J'
const { Kafka, logLevel } = require('kafkajs')
const kafka = new Kafka({ brokers: ['127.0.0.1:' + process.argv[2]], clientId: 'third', logLevel: logLevel.NOTHING })
const talk = async () => {
	const p = kafka.producer(), c = kafka.consumer({ groupId: 'group-18' })
	await p.connect()
	for (let i = 0; i < 50; i++) await p.send({ topic: 'shipments', acks: 1, messages: [{ value: 'v' + i }] })
	for (let i = 0; i < 5; i++) await p.send({ topic: 'shipments', acks: 0, messages: [{ value: 'w' + i }] })
	await p.disconnect()
	await c.connect()
	await c.subscribe({ topic: 'shipments', fromBeginning: true })
	let n = 0
	await new Promise(done => c.run({ eachMessage: async () => { if (++n === 50) done() } }))
	await c.disconnect()
}
talk().catch(e => { console.error(e); process.exit(1) })
J
echo first | $K -P -t shipments
eventually "the producer is gone" all_served
from_here
record
timeout 60 node "$T/other.js" $port || fail "kafkajs"
finish kafkajs
is "kafkajs: requests by API and version, as the broker received them" "$(seen "$a" server)" "$(received $line)"
is "kafkajs: written to shipments, answered" "$(what "$a" "sum(method = 'Produce' AND paired AND status = 'OK')")" 50
is "kafkajs: written with acks=0" "$(what "$a" "sum(method = 'Produce' AND oneway)")" $(($(received $line | sed -n 's/^Produce,7,//p') - 50))
is "kafkajs: not answered though it stayed, answers alone" "$(what "$a" "sum(NOT paired AND NOT oneway AND ($stayed)), sum(method IS NULL)")" 0,0
