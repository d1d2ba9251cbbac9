# Secrets of real clients and servers are in no byte of the archive, and everything else is still counted.
. tests/live/l7.inc
for c in redis-server nginx curl mariadbd; do command -v $c >/dev/null || skip "needs $c"; done
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/postgres" ] || skip "needs postgresql"
free_port 6
secret=Zq7xSecret
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }

# Servers: redis with a password; nginx with HTTP/1 and HTTP/2; both databases with users that have passwords.
serve_redis --requirepass ${secret}Redis
redis=$server
cat >"$T/nginx.conf" <<CONF
daemon off; worker_processes 1; pid $T/nginx.pid; error_log $T/nginx.err;
events { }
http { access_log off; client_body_temp_path $T; proxy_temp_path $T; fastcgi_temp_path $T; uwsgi_temp_path $T; scgi_temp_path $T;
	server { listen 127.0.0.1:$((port + 1)); location / { add_header Set-Cookie "id=${secret}SetCookie"; return 200 "hello"; } }
	server { listen 127.0.0.1:$((port + 2)) http2; location / { add_header Set-Cookie "id=${secret}SetCookie"; return 200 "hello"; } } }
CONF
start nginx -c "$T/nginx.conf" -p "$T" 2>/dev/null
mariadb-install-db --no-defaults --datadir="$T/my" --user=root --auth-root-authentication-method=normal --skip-test-db >"$T/install" 2>&1 || fail "mariadb-install-db: $(tail -n 3 "$T/install")"
start mariadbd --no-defaults --user=root --datadir="$T/my" --socket="$T/s" --port=$((port + 3)) --bind-address=127.0.0.1 --skip-log-bin --innodb-buffer-pool-size=32M 2>"$T/my.log"
mysql=$!
chmod 711 "$T"; mkdir "$T/pg"; chown postgres "$T/pg"
echo ${secret}Pg >"$T/pg/pw"; chown postgres "$T/pg/pw"
(cd /; as "$bin/initdb" -D "$T/pg/d" -A password --pwfile="$T/pg/pw" --no-sync) >"$T/init" 2>&1 || fail "initdb: $(tail -n 3 "$T/init")"
start setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$T/pg/d" -p $((port + 4)) -k "$T/pg" -h 127.0.0.1 -c fsync=off -c autovacuum=off 2>"$T/pg.log"
pg=$!
pgsql() { PGPASSWORD=${secret}Pg PGSSLMODE=disable PGGSSENCMODE=disable psql -h 127.0.0.1 -p $((port + 4)) -U postgres "$@"; }
root() { mariadb --no-defaults -S "$T/s" -uroot -N -B "$@"; }
eventually "mariadb answers" root -e 'SELECT 1'
eventually "postgres answers" pgsql -c 'SELECT 1'
# The databases' users have passwords kept in clear on the wire (PostgreSQL) and behind the server's challenge (MariaDB).
root -e "CREATE USER u@'127.0.0.1' IDENTIFIED BY '${secret}My'" || fail "no mariadb: $(tail -n 3 "$T/my.log")"

# A protocol that nobody knows the secrets of, and a process with secrets on its command line.
cat >"$T/ftp.py" <<'P'
import socket, sys
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); s.bind(('127.0.0.1', int(sys.argv[1]))); s.listen()
while True:
    c, _ = s.accept(); f = c.makefile('rw', newline='')
    try:
        f.write('220 ready\r\n'); f.flush()
        for line in f:
            f.write('331 more\r\n' if line.startswith('USER') else '230 in\r\n'); f.flush()
    except OSError:
        pass
    f.close(); c.close()
P
start python3 "$T/ftp.py" $((port + 5)) mysql -p${secret}Arg --token ${secret}Arg API_KEY=${secret}Arg https://u:${secret}Arg@h/?sig=${secret}Arg -H "Authorization: ${secret}Arg"
ftp=$!
ftp_answers() { (exec 7<>/dev/tcp/127.0.0.1/$((port + 5))) 2>/dev/null; }
eventually "the other server answers" ftp_answers

talk() {
	local big; big=$(printf 'x%.0s' {1..3000})
	# Redis: its own client, inline, in a pipeline that is cut in the middle of the password, a wrong one.
	redis-cli -p $port --no-auth-warning -a ${secret}Redis ping >/dev/null
	redis-cli -p $port --no-auth-warning -3 -a ${secret}Redis set key value >/dev/null
	exec 7<>/dev/tcp/127.0.0.1/$port
	printf 'AUTH %sRedis\r\n' $secret >&7; read -r -u 7 _
	printf '*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nauTH\r\n$%d\r\n%s' $((${#secret} + 5)) ${secret:0:4} >&7; sleep 0.1
	printf '%sRedis\r\n*1\r\n$4\r\nPING\r\n' ${secret:4} >&7; for _ in 1 2 3; do read -r -u 7 _; done
	exec 7>&-
	# HTTP/1 and HTTP/2, from the start and by upgrade; also behind a long header, and written in pieces.
	curl -s -o /dev/null -u me:${secret}Basic -H "Cookie: a=${secret}Cookie" -H "Proxy-Authorization: ${secret}Proxy" http://127.0.0.1:$((port + 1))/one
	curl -s -o /dev/null -H "X-Long: $big" -H "authorization: Bearer ${secret}Bearer" http://127.0.0.1:$((port + 1))/two
	for path in three four; do
		curl -s -o /dev/null --http2-prior-knowledge -H "Cookie: a=${secret}Cookie" -H "Authorization: Bearer ${secret}Bearer" http://127.0.0.1:$((port + 2))/$path
	done
	exec 7<>/dev/tcp/127.0.0.1/$((port + 1))
	printf 'GET /five HTTP/1.1\r\nHost: h\r\nCook' >&7; sleep 0.05; printf 'ie: a=%s' ${secret:0:5} >&7; sleep 0.05; printf '%sCookie\r\n\r\n' ${secret:5} >&7
	read -r -u 7 _; exec 7>&-
	# By name: in a query, a form, JSON, a header field with a space before its colon, a URL.
	curl -s -o /dev/null -H "X-Api-Key : ${secret}Name" -H "Referer: https://me:${secret}Name@h/?sig=${secret}Name" "http://127.0.0.1:$((port + 1))/six?access_token=${secret}Name&n=1"
	curl -s -o /dev/null -d "user=me&pass%77ord=${secret}Name&n=1" http://127.0.0.1:$((port + 1))/six
	curl -s -o /dev/null --json "{\"a\":{\"client_secret\":\"${secret}Name\"}}" http://127.0.0.1:$((port + 1))/six
	curl -s -o /dev/null --http2-prior-knowledge -H "x-vault-token: ${secret}Name" --json "{\"password\":\"${secret}Name\"}" "http://127.0.0.1:$((port + 2))/six?token=${secret}Name" || true # nginx answers before it has read the body
	exec 7<>/dev/tcp/127.0.0.1/$((port + 5))
	read -r -u 7 _; printf 'USER me\r\n' >&7; read -r -u 7 _; printf 'PASS %sFtp\r\n' $secret >&7; read -r -u 7 _; exec 7>&-
	# Answers do not repeat the literals: only statements are masked; behind a word such as "secret" all are, so the number stands first.
	mariadb --no-defaults -h127.0.0.1 -P$((port + 3)) -uu -p${secret}My -e "SELECT 77001122 > 0 AS m, LENGTH('${secret}Literal') AS n" >/dev/null
	pgsql -q -c "SELECT 77001122 > 0 AS m, length('${secret}Literal') AS n" >/dev/null
	PGPASSWORD=${secret}Wrong PGSSLMODE=disable PGGSSENCMODE=disable psql -h 127.0.0.1 -p $((port + 4)) -U postgres -c 'SELECT 1' >/dev/null 2>&1 || true
}
all_closed() { [ "$(served $port,$((port + 1)),$((port + 2)),$((port + 3)),$((port + 4)),$((port + 5)))" = 0 ]; }
# base64 of what curl -u sends, beside the words themselves
coded=$(printf 'me:%sBasic' $secret | base64)
found() { raw "$1" >"$T/bytes"; grep -aoE "${secret}[A-Za-z]*|$coded|77001122" "$T/bytes" | sort -u | tr '\n' ' '; }
recorded() {
	local name=$1; shift
	# The servers alone: the clients' command lines hold the secrets as well.
	obrec_start -q -p $redis,$(cat "$T/nginx.pid"),$(pgrep -P "$(cat "$T/nginx.pid")" | tr '\n' ,)$mysql,$pg,$ftp -e l4,l7 --debuginfo none "$@" -o "$T/$name.obz"
	talk
	eventually "the servers have closed what the clients closed" all_closed
	obrec_stop "$name"
	is "$name: events lost" "$(lost "$T/$name.obz")" 0
}
all() { sql "$1" "SELECT protocol,method,target FROM message WHERE target IN ('/one','/two','/three','/four','/five') OR method IN ('PING','SET','AUTH') ORDER BY 1,2,3"; }

# The test itself: without masking the secrets are there.
recorded plain --no-redact --payload 16384
for s in Redis Basic Cookie Proxy Bearer SetCookie Literal Pg Wrong Name Ftp; do
	case $s in Basic) w=$coded ;; *) w=$secret$s ;; esac
	[[ " $(found "$T/plain.obz") " == *" $w "* ]] || [ $s = Cookie ] || [ $s = Bearer ] || [ $s = SetCookie ] || fail "not seen without masking: $s; found $(found "$T/plain.obz")"
done
for payload in head 16384; do
	recorded $payload --payload $payload
	is "$payload: secrets in the archive" "$(found "$T/$payload.obz")" "77001122 ${secret}Literal "
	is "$payload: messages" "$(all "$T/$payload.obz")" "$(all "$T/plain.obz")"
done
[[ $("$OBANA" info "$T/head.obz") == *"not captured"*"unknown protocols"* ]] || fail "info does not say what was not captured"
is "the command line" "$(sql "$T/head.obz" "SELECT substr(cmdline, instr(cmdline, 'mysql')) FROM process WHERE pid = $ftp" | tr -d '"')" \
	"mysql -p************* --token ************* API_KEY=************* https://u:*************@h/?sig=************* -H Authorization:**************"
recorded unknown --payload-unknown
is "--payload-unknown" "$(found "$T/unknown.obz")" "77001122 ${secret}Ftp ${secret}Literal "
# Names of one's own, beside the table's.
echo n >"$T/names"
recorded names --redact-names "$T/names"
is "--redact-names" "$(raw "$T/names.obz" | grep -aoE 'n=[1*]' | sort -u)" "n=*"
recorded literals --redact=sql --payload 16384
is "with --redact=sql" "$(found "$T/literals.obz")" ""
is "with --redact=sql: messages" "$(all "$T/literals.obz")" "$(all "$T/plain.obz")"

# The same of a packet capture.
command -v tcpdump >/dev/null || skip "the rest needs tcpdump"
# flushed: no packet came for half a second after the last connection's end
flushed() { local was; was=$(stat -c %s "$T/cap.pcap"); sleep 0.5; [ "$was" = "$(stat -c %s "$T/cap.pcap")" ]; }
start tcpdump --immediate-mode -i lo -U -w "$T/cap.pcap" "port $port or portrange $((port + 1))-$((port + 4))" 2>"$T/tcpdump.err"
dump=$!
eventually "tcpdump listens" written "$T/tcpdump.err" 'listening on'
talk
eventually "the servers have closed what the clients closed" all_closed
eventually "tcpdump has written the last connection's end" flushed
kill -INT $dump; wait $dump || true
"$OBANA" import "$T/cap.pcap" -o "$T/clear.obz" --no-redact 2>/dev/null
[[ $(found "$T/clear.obz") == *${secret}Redis* ]] || fail "not seen in the capture"
"$OBANA" import "$T/cap.pcap" -o "$T/cap.obz" 2>/dev/null
is "import: secrets in the archive" "$(found "$T/cap.obz")" "77001122 ${secret}Literal "
is "import: messages" "$(all "$T/cap.obz")" "$(all "$T/clear.obz")"
"$OBANA" import "$T/cap.pcap" -o "$T/sql.obz" --redact=sql 2>/dev/null
is "import --redact=sql" "$(found "$T/sql.obz")" ""
