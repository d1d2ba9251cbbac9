# Go's crypto/tls, which is no library and has no C stack: HTTP/1 and Go's own HTTP/2, from a program with symbols and one without.
. tests/live/l7.inc
for c in go openssl curl h2load wrk; do command -v $c >/dev/null || skip "needs $c"; done
[ "$(uname -m)" = x86_64 ] || skip "Go is followed on x86-64 only"
grep -q '^tls .*yes.*yes' "$T/list" || skip "no uprobes here"
dir=${B:-build}/workload/tls-go
mkdir -p "$dir"
if ! cmp -s tests/live/tls_peer.go "$dir/main.go" || [ ! -x "$dir/plain" ]; then # building takes longer than all the rest
	cp tests/live/tls_peer.go "$dir/main.go"
	(cd "$dir" && GO111MODULE=off go build -o plain main.go && GO111MODULE=off go build -ldflags '-s -w' -o stripped main.go) || fail "go build"
fi
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$T/key.pem" -out "$T/cert.pem" -days 2 -subj /CN=localhost 2>/dev/null
for kind in plain stripped; do
	free_port 2; a=$T/$kind.obz
	start "$dir/$kind" serve 127.0.0.1:$port "$T/cert.pem" "$T/key.pem"; server=$!
	await_port $port $server
	mkfifo "$T/go-$kind"
	start bash -c "read -r <'$T/go-$kind'; '$dir/$kind' get https://127.0.0.1:$port/one 1; '$dir/$kind' get https://127.0.0.1:$port/two 2"; clients=$!
	obrec_start -q -p $server,$clients -e l4,tls --debuginfo none -o "$a"
	echo >"$T/go-$kind"
	for v in --http1.1 --http2; do curl -sk $v -H 'Authorization: Bearer sekritC' -o /dev/null "https://127.0.0.1:$port/curl" -o /dev/null "https://127.0.0.1:$port/curl"; done
	timeout 60 h2load -n 1000 -c 4 -m 8 "https://127.0.0.1:$port/load" >/dev/null
	said=$(timeout 60 wrk -t1 -c4 -d1s "https://127.0.0.1:$port/wrk" | sed -n 's/^ *\([0-9]*\) requests in.*/\1/p')
	wait $clients || fail "the clients failed"
	eventually "the server has closed what its clients closed" all_served; obrec_stop "$kind"
	is "$kind: losses" "$(sql "$a" "SELECT coalesce(group_concat(source || ': ' || cause || ' ' || count), 'none') FROM loss WHERE source <> 'side-band'")" none
	is "$kind: by role, protocol and target" "$(sql "$a" "SELECT role, m.protocol, target, m.status, count(*), sum(paired), min(tls) FROM message m JOIN connection c ON c.id = connection_id
		WHERE target <> '/wrk' AND role IS NOT NULL GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3" | tr '\n' ' ')" \
		"client,http,/one,200,50,50,1 client,http2,/two,200,50,50,1 server,http,/curl,200,2,2,1 server,http,/one,200,50,50,1 server,http2,/curl,200,2,2,1 server,http2,/load,200,1000,1000,1 server,http2,/two,200,50,50,1 "
	within "$kind: wrk said $said; paired" "$(sql "$a" "SELECT count(*) FROM message WHERE target = '/wrk' AND paired")" "$said" $((said + 8))
	is "$kind: messages of other connections" "$(sql "$a" "SELECT count(*) FROM message m JOIN connection c ON c.id = connection_id WHERE NOT tls")" 0
	mkdir "$T/$kind.x"; bsdtar xf "$a" -C "$T/$kind.x"
	find "$T/$kind.x" -name '*.zst' -exec zstd -dc {} + >"$T/raw"
	grep -aq 'GET /curl' "$T/raw" || fail "no clear text in the archive"
	! grep -aq sekritC "$T/raw" || fail "a secret is in the archive"
done

# Joined late: the server asks for a frame's header and for its payload by two calls, and the recording may begin between them.
start "$dir/plain" serve 127.0.0.1:$((port + 1)) "$T/cert.pem" "$T/key.pem"; server=$!
await_port $((port + 1)) $server
start h2load -D 600 -c 1 -m 4 "https://127.0.0.1:$((port + 1))/late" >/dev/null; load=$!
worked 10 $server
a=$T/late.obz
obrec_start -q -p $server -e l4,tls --debuginfo none -o "$a"
worked 20 $server
obrec_stop "joined late"
kill $load
is "joined late: by role, protocol, method and status" "$(sql "$a" "SELECT DISTINCT role, m.protocol, method, m.status FROM message m JOIN connection c ON c.id = connection_id WHERE paired")" server,http2,GET,200
within "joined late: paired" "$(sql "$a" "SELECT count(*) FROM message WHERE paired")" 100 100000000
within "joined late: not paired" "$(sql "$a" "SELECT count(*) FROM message WHERE NOT paired")" 0 16 # of four at a time where it begins, four where it ends, a request or a response each
