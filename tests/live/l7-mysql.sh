# MariaDB under mysqlslap and sysbench (prepared statements): every statement the generator and the server count, each paired with its answer.
. tests/live/l7.inc
command -v mariadbd mysqlslap sysbench >/dev/null || skip "needs mariadbd, mysqlslap and sysbench"
free_port; D=$T/my
mariadb-install-db --no-defaults --datadir="$D" --user=root --auth-root-authentication-method=normal --skip-test-db >"$T/install" 2>&1 || fail "mariadb-install-db: $(tail -n 3 "$T/install")"
serve mariadbd --no-defaults --user=root --datadir="$D" --socket="$T/s" --port=$port --bind-address=127.0.0.1 --skip-log-bin --innodb-buffer-pool-size=32M 2>"$T/my.log"
root() { mariadb --no-defaults -S "$T/s" -uroot -N -B "$@"; }
root -e "CREATE USER u@'127.0.0.1' IDENTIFIED BY 'pw'; GRANT ALL ON *.* TO u@'127.0.0.1'; CREATE DATABASE t; CREATE DATABASE sb" || fail "no server: $(tail -n 3 "$T/my.log")"
client="-h127.0.0.1 -P$port -uu -ppw"
counter() { root -e "SHOW GLOBAL STATUS LIKE '$1'" | cut -f2; }
# The server's own counts, summed over all connections; this connection's SHOW STATUS are among Com_show_status.
names="Com_select Com_insert Com_update Com_delete Com_begin Com_commit Com_stmt_execute Com_stmt_prepare Com_stmt_close"
counters() { for n in $names; do echo "$n=$(counter $n)"; done; }
sysb() { sysbench oltp_read_write --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=$port --mysql-user=u --mysql-password=pw --mysql-db=sb --tables=1 --table-size=1000 "$@"; }
sysb prepare >"$T/prepare" 2>&1 || fail "sysbench prepare: $(tail -n 5 "$T/prepare")"

for payload in head 16384; do
	record --payload $payload
	counters >"$T/before"
	mysqlslap --no-defaults $client --create-schema=slap --concurrency=4 --iterations=1 --number-of-queries=2000 \
		--create="CREATE TABLE a (i INT, s VARCHAR(64)); INSERT INTO a VALUES (1, 'one'), (2, 'two')" \
		--delimiter=';' --query="SELECT * FROM a WHERE i = 1; SELECT a.s, b.s, '$(printf 'x%.0s' {1..700})' FROM a, a b, a c, a d, a e" >"$T/slap" 2>&1 || fail "mysqlslap: $(cat "$T/slap")"
	for i in $(seq 20); do mariadb --no-defaults $client t -e 'SELECT * FROM nope' >/dev/null 2>&1 && fail "no error?"; done
	sysb --threads=4 --events=200 --time=0 run >"$T/sysbench" 2>&1 || fail "sysbench: $(tail -n 5 "$T/sysbench")"
	counters >"$T/after"
	finish $payload
	grown() { awk -F= -v n="$1" '$1==n {d = $2 - d} END {print d}' "$T/before" "$T/after"; }
	tcp="FROM message m JOIN connection c ON c.id = m.connection_id WHERE c.transport = 'tcp'"
	# Sums of what the server counted, where text and prepared statements of one kind are counted together.
	is "$payload: prepared" "$(sql "$a" "SELECT count(*) $tcp AND method = 'PREPARE'")" "$(grown Com_stmt_prepare)"
	is "$payload: executed" "$(sql "$a" "SELECT count(*) $tcp AND method = 'EXECUTE'")" "$(grown Com_stmt_execute)"
	is "$payload: closed, one-way" "$(sql "$a" "SELECT count(*) $tcp AND method = 'CLOSE' AND response_ns IS NULL")" "$(grown Com_stmt_close)"
	for k in SELECT INSERT UPDATE DELETE BEGIN COMMIT; do
		is "$payload: $k, by text or prepared" "$(sql "$a" "SELECT count(*) $tcp AND (method = '$k' OR (method = 'EXECUTE' AND target LIKE '$k%'))")" "$(grown Com_$(echo $k | tr A-Z a-z))"
	done
	is "$payload: errors of the missing table" "$(sql "$a" "SELECT count(*) $tcp AND status = '42S02/1146' AND is_error AND target LIKE '% nope'")" 20
	is "$payload: databases of logins" "$(sql "$a" "SELECT json_extract(m.detail, '$.database'), count(*) $tcp AND method = 'LOGIN' AND json_extract(m.detail, '$.database') IN ('t', 'sb') GROUP BY 1")" "$(printf 'sb,4\nt,20')"
	is "$payload: not paired" "$(sql "$a" "SELECT count(*) $tcp AND NOT paired AND method NOT IN ('QUIT', 'CLOSE')")" 0
	is "$payload: protocols" "$(sql "$a" "SELECT group_concat(DISTINCT m.protocol) $tcp")" mysql
done
