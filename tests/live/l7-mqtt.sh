# MQTT against mosquitto with its own clients, versions 3.1.1 and 5: packets by kind and QoS as sent, and no password kept.
. tests/live/l7.inc
for c in mosquitto mosquitto_pub mosquitto_sub mosquitto_passwd zstd; do command -v $c >/dev/null || skip "needs $c"; done

free_port
word=s3cret-word-$RANDOM
mosquitto_passwd -c -b "$T/passwd" me $word
printf 'listener %d 127.0.0.1\nallow_anonymous false\npassword_file %s\nuser root\nlog_type all\n' $port "$T/passwd" >"$T/conf"
serve mosquitto -c "$T/conf" >"$T/log" 2>&1

A="-h 127.0.0.1 -p $port -u me -P $word"
subscriptions=0
subscribed() { [ "$(grep -c 'SUBACK to watcher' "$T/log")" = $subscriptions ]; }
# mosquitto 2.0.11 takes 20 of QoS 2 on their way as the most. Of those that come faster its clients are at times sent one more, which is a
# protocol error to them, and its broker forgets some: so there are 10 at most.
delivered() { [ "$(wc -l <"$T/out")" = $due ]; }
# talk VERSION: 40 of each QoS, all to a subscriber of QoS 2; one retained, one refused login
talk() {
	local sub
	mosquitto_sub $A -V $1 -i watcher -q 2 -t 'plant/#' -C 121 >"$T/out" &
	sub=$!; pids+=($sub)
	subscriptions=$((subscriptions + 1)); eventually "subscribed" subscribed
	due=0
	for q in 0 0 0 0 1 1 1 1 2 2 2 2; do
		seq 10 | mosquitto_pub $A -V $1 -i sensor -q $q -t plant/17/temperature -l --will-topic gone --will-payload x || fail "publisher of QoS $q"
		due=$((due + 10)); eventually "delivered" delivered
	done
	mosquitto_pub $A -V $1 -q 1 -r -t plant/state -m on
	! mosquitto_pub -h 127.0.0.1 -p $port -u me -P "wrong-$word" -V $1 -t plant/x -m x 2>/dev/null || fail "not refused"
	wait $sub || fail "the subscriber left with $?, behind $(wc -l <"$T/out") messages"
	is "$1: received" "$(wc -l <"$T/out")" 121
}
# shows VERSION ROLE: all that is seen from there
shows() {
	what() { sql "$T/$1.obz" "SELECT $3 FROM message m JOIN connection c ON c.id = connection_id WHERE m.protocol = 'mqtt' AND c.role = '$2' AND $port IN (local_port, remote_port)"; }
	qos() { echo "sum(method = 'PUBLISH' AND json_extract(m.detail, '$.qos') = $1 AND $2)"; }
	is "$1 $2: CONNECT, refused" "$(what $1 $2 "sum(method = 'CONNECT' AND paired), sum(method = 'CONNECT' AND is_error)")" 15,1
	is "$1 $2: SUBSCRIBE, answered" "$(what $1 $2 "sum(method = 'SUBSCRIBE'), sum(method = 'SUBSCRIBE' AND paired AND status = 'OK')")" 1,1
	# Each is published to the broker, and by it.
	is "$1 $2: PUBLISH of QoS 0, 1, 2" "$(what $1 $2 "$(qos 0 oneway), $(qos 1 paired), $(qos 2 paired)")" 80,82,80
	is "$1 $2: not answered" "$(what $1 $2 "sum(NOT paired AND NOT oneway)")" 0
	is "$1 $2: retained" "$(what $1 $2 "sum(json_extract(m.detail, '$.retain'))")" 1
}
for v in mqttv311 mqttv5; do
	record
	talk $v
	finish $v
	mv "$a" "$T/$v.obz"
	shows $v server
	mosquitto_pub $A -r -n -t plant/state || fail "what is retained was not taken back"
done

# The clients' side; the command line, which is recorded, does not name the password.
mkdir "$T/conf.d"; printf -- '-u me\n-P %s\n' $word >"$T/conf.d/mosquitto_pub"
"$OBREC" -q -e l4,l7 --l7 mqtt --debuginfo none -o "$T/c.obz" -- sh -c "seq 20 | XDG_CONFIG_HOME=$T/conf.d mosquitto_pub -h 127.0.0.1 -p $port -V mqttv5 -q 2 -i sensor -t plant/17/t -l" 2>"$T/err" ||
	fail "client: $(cat "$T/err")"
is "client: losses" "$(lost "$T/c.obz")" 0
what() { sql "$T/c.obz" "SELECT $1 FROM message WHERE protocol = 'mqtt'"; }
is "client: CONNECT, PUBLISH answered, DISCONNECT" "$(what "sum(method = 'CONNECT' AND paired), sum(method = 'PUBLISH' AND paired), sum(method = 'DISCONNECT')")" 1,20,1

for a in mqttv311 mqttv5 c; do
	raw "$T/$a.obz" >"$T/bytes"
	is "$a: the password is nowhere, the topic is there" "$(grep -acF "$word" "$T/bytes" || true),$(grep -qaF plant/17/t "$T/bytes" && echo yes)" 0,yes
done
record --no-redact
mosquitto_pub $A -t plant/x -m x
finish "not redacted"
raw "$a" >"$T/bytes"
is "not redacted: the password is there" "$(grep -qaF "$word" "$T/bytes" && echo yes)" yes
