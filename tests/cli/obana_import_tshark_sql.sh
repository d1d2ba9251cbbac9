# Packet captures of MariaDB and PostgreSQL, imported: statement by statement what tshark finds in them, in the order of each connection.
#
# What may differ, and why:
# - tshark shows texts as sent, obana normalized ones: compared are the statements' first words.
# - PostgreSQL's extended protocol: tshark shows Parse, Bind, Execute and Sync each; obana one message for each Execute, as each answers one
#   command. So Execute is counted there, Q in the simple protocol.
# - tshark shows the login's packets as requests; obana's messages begin with the first command, but for what it reports of the login itself,
#   which is left out here by its method.
. "$TOP/tests/cli/tshark.inc" || exit 1
needs tshark tcpdump mariadbd mariadb mysqlslap setpriv

# ---- MariaDB
D=$T/my
free_port
mariadb-install-db --no-defaults --datadir="$D" --user=root --auth-root-authentication-method=normal --skip-test-db >"$T/log" 2>&1 || { cat "$T/log"; exit 1; }
start mariadbd --no-defaults --user=root --datadir="$D" --socket="$T/s" --port=$port --bind-address=127.0.0.1 --skip-log-bin --innodb-buffer-pool-size=32M
for ((i = 0; i < 300; i++)); do mariadb --no-defaults -S "$T/s" -uroot -e 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.2; done
mariadb --no-defaults -S "$T/s" -uroot -e "CREATE USER u@'127.0.0.1' IDENTIFIED BY 'pw'; GRANT ALL ON *.* TO u@'127.0.0.1'; CREATE DATABASE t"
client="--no-defaults -h127.0.0.1 -P$port -uu -ppw --skip-ssl"
capture "$T/my.pcap" $port
mariadb $client t -e "CREATE TABLE a (i INT); INSERT INTO a VALUES (1),(2); SELECT * FROM a; UPDATE a SET i = 3; DELETE FROM a; SELECT 1; DROP TABLE a" >"$T/x"
mariadb $client t -f -e "SELECT * FROM nope; SELECT 2; NONSENSE" >"$T/x" 2>&1
mysqlslap $client --create-schema=slap --concurrency=2 --iterations=1 --number-of-queries=100 \
	--create="CREATE TABLE a (i INT); INSERT INTO a VALUES (1)" --delimiter=';' --query="SELECT * FROM a; SELECT 7" >"$T/x" 2>&1
capture_end "$T/my.pcap"
"$obana" import "$T/my.pcap" -o "$T/my.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
first_word() { awk -F'\t' '{ split($2, w, " "); print $1 "," toupper(w[1]) }' | sed 's/;$//'; }
tshark -r "$T/my.pcap" -d tcp.port==$port,mysql -Y 'mysql.command == 3' -T fields -e tcp.srcport -e mysql.query 2>/dev/null |
	first_word | sort -s -n -t, -k1,1 >"$T/tshark"
"$obana" query "$T/my.obz" "SELECT remote_port, target FROM message m JOIN connection c ON c.id = connection_id
	WHERE m.protocol = 'mysql' AND target <> '' AND method NOT IN ('LOGIN', 'INIT_DB', 'QUIT') ORDER BY 1, m.id" --csv | tail -n +2 | tr -d '\r"' |
	sed 's/,/\t/' | first_word >"$T/obana"
is "MariaDB statements in order" "$(cat "$T/obana")" "$(cat "$T/tshark")"
is "MariaDB errors" "$(sql "$T/my.obz" "SELECT count(*) FROM message WHERE is_error")" \
	"$(tshark -r "$T/my.pcap" -d tcp.port==$port,mysql -Y 'mysql.error_code' -T fields -e mysql.error_code 2>/dev/null | wc -l)"
is "MariaDB: all paired" "$(sql "$T/my.obz" "SELECT count(*) FROM message WHERE NOT paired AND NOT oneway AND method <> 'QUIT'")" 0

# ---- PostgreSQL
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
free_port
[ -x "$bin/postgres" ] && command -v pgbench >/dev/null || { echo "no postgresql: left out"; exit $bad; }
chmod 711 "$T"; mkdir "$T/pg"; chown postgres "$T/pg"
as="setpriv --reuid=postgres --regid=postgres --clear-groups"
(cd /; $as "$bin/initdb" -D "$T/pg/d" -A trust --no-sync) >"$T/log" 2>&1 || { cat "$T/log"; exit 1; }
start $as "$bin/postgres" -D "$T/pg/d" -p $port -k "$T/pg" -h 127.0.0.1 -c fsync=off -c autovacuum=off
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=postgres PGDATABASE=postgres PGSSLMODE=disable PGGSSENCMODE=disable
for ((i = 0; i < 300; i++)); do psql -c 'SELECT 1' >/dev/null 2>&1 && break; sleep 0.2; done
pgbench -q -i -s 1 >"$T/x" 2>&1
capture "$T/pg.pcap" $port
pgbench -n -M simple -c 2 -t 20 >"$T/x" 2>&1
psql -q -c 'SELECT * FROM nope' >"$T/x" 2>&1
psql -q -c 'SELECT 1' >"$T/x"
pgbench -n -M extended -c 2 -t 20 >"$T/x" 2>&1
pgbench -n -M prepared -c 2 -t 20 >"$T/x" 2>&1
capture_end "$T/pg.pcap"
"$obana" import "$T/pg.pcap" -o "$T/pg.obz" 2>"$T/err" || { cat "$T/err"; exit 1; }
# One command a simple query or Execute, by connection.
tshark -r "$T/pg.pcap" -d tcp.port==$port,pgsql -Y 'pgsql.frontend && tcp.dstport=='$port -T fields -E aggregator=';' -e tcp.srcport -e pgsql.type 2>/dev/null |
	awk -F'\t' '{ n = split($2, t, ";"); for (i = 1; i <= n; i++) if (t[i] == "Simple query" || t[i] == "Execute") c[$1]++ } END { for (p in c) print p "," c[p] }' | sort >"$T/tshark"
is "PostgreSQL commands by connection" "$(sql "$T/pg.obz" "SELECT remote_port, count(*) FROM message m JOIN connection c ON c.id = connection_id
	WHERE m.protocol = 'postgresql' AND method NOT IN ('TERMINATE', 'STARTUP', 'PARSE', 'LOGIN', 'CONNECT') GROUP BY 1" | sort)" "$(cat "$T/tshark")"
is "PostgreSQL errors" "$(sql "$T/pg.obz" "SELECT count(*) FROM message WHERE is_error")" \
	"$(tshark -r "$T/pg.pcap" -d tcp.port==$port,pgsql -Y 'pgsql.severity == "ERROR"' -T fields -e pgsql.code 2>/dev/null | wc -l)"
is "PostgreSQL: all paired" "$(sql "$T/pg.obz" "SELECT count(*) FROM message WHERE NOT paired AND NOT oneway AND method <> 'TERMINATE'")" 0
exit $bad
