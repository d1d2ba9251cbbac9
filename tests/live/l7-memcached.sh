# Debian's memcached under libmemcached's load, and every kind of command by hand: operations, hits and misses as many as the server
# itself counts, each with its answer. Text and binary; noreply, meta, UDP.
. tests/live/l7.inc
for c in memcached memcslap python3; do command -v $c >/dev/null || skip "needs $c"; done
n=500
# stat NAME: the server's own figure
stat() { exec 7<>/dev/tcp/127.0.0.1/$port; printf 'stats\r\nquit\r\n' >&7; tr -d '\r' <&7 | awk -v n="$1" '$2 == n {print $3}'; exec 7>&-; }
# figures WHERE: operations by kind, of those with keys each key
figures() {
	q "SELECT sum(CASE WHEN method LIKE 'G%' OR method='MG' THEN coalesce(json_extract(detail,'\$.keys'),1) ELSE 0 END),
		sum(method IN ('SET','MS')), sum(CASE WHEN status='HIT' AND json_extract(detail,'\$.hits') IS NULL THEN 1 ELSE coalesce(json_extract(detail,'\$.hits'),0) END),
		sum(method='TOUCH'), sum(is_error) FROM message WHERE protocol='memcached' AND method<>'STATS'"
}
server() { # ARGS: a fresh one, for each way
	serve memcached -u nobody -l 127.0.0.1 -p $port -m 64 "$@"
}
finished() { # WAY
	want="$(stat cmd_get),$(stat cmd_set),$(stat get_hits),$(stat cmd_touch)"
	finish "$1" memcached; kill $server
	is "$1: requests without answers, answers without requests" "$(q "SELECT count(*) FROM message WHERE NOT paired AND NOT oneway")" 0
}
# Heads are not enough where a call holds many values.
for way in "" --binary --non-blocking --noreply; do
	free_port; server; record --payload 65535
	for test in set get mget; do
		[ $test = mget ] && keys=8 || keys=$n
		memcslap --servers=127.0.0.1:$port $way --test=$test --concurrency=3 --execute-number=$keys --flush >"$T/slap" 2>&1 || fail "$way $test: $(tail -n 3 "$T/slap")"
	done
	finished "load $way"
	is "load $way: gets, sets, hits, touches, errors" "$(figures)" "$want,0"
done
for payload in head 16384; do
	free_port; server -U $port; record --payload $payload
	python3 tests/live/memcached_client.py $port >"$T/client" || fail "client: $(tail -n 3 "$T/client")"
	finished "commands, $payload"
	is "commands, $payload" "$(q "SELECT method, status, is_error, oneway, count(*) FROM message WHERE method NOT IN ('STATS','QUIT') AND coalesce(target,'') NOT LIKE 'udp%' GROUP BY 1,2,3,4 ORDER BY 1,2,3,4" | tr '\n' ' ')" "$(tr '\n' ' ' <"$T/client")"
	is "UDP, $payload" "$(q "SELECT method, status, count(*), sum(paired) FROM message WHERE target LIKE 'udp%' GROUP BY 1,2 ORDER BY 1,2" | tr '\n' ' ')" "GET,HIT,50,50 GET,MISS,50,50 SET,STORED,50,50 "
done
