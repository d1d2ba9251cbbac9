# PostgreSQL under pgbench in its three protocols: one message for each SQL command of each transaction, paired, no more and no less.
. tests/live/l7.inc
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | tail -n 1)
[ -x "$bin/postgres" ] && command -v pgbench >/dev/null || skip "needs postgresql"
free_port; D=$T/pg
chmod 711 "$T"; mkdir "$D"; chown postgres "$D"
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
(cd /; as "$bin/initdb" -D "$D/d" -A trust --no-sync) >"$T/init" 2>&1 || fail "initdb: $(tail -n 3 "$T/init")"
serve setpriv --reuid=postgres --regid=postgres --clear-groups "$bin/postgres" -D "$D/d" -p $port -k "$D" -h 127.0.0.1 -c fsync=off -c autovacuum=off 2>"$T/log"
export PGHOST=127.0.0.1 PGPORT=$port PGUSER=postgres PGDATABASE=postgres PGSSLMODE=disable PGGSSENCMODE=disable
eventually "the server answers" psql -c 'SELECT 1'
pgbench -q -i -s 1 >"$T/out" 2>&1 || fail "pgbench -i: $(tail -n 3 "$T/out" "$T/log")"
# 18 rows of 600 bytes: an answer of several calls, of which heads are kept.
cat >"$T/wide.sql" <<'SQL'
SELECT repeat('x', 600), g FROM generate_series(1, 18) g;
SELECT aid FROM pgbench_accounts WHERE aid = 1;
SQL
for payload in head 16384; do
	for mode in simple extended prepared; do
		record --payload $payload
		pgbench -n -M $mode -c 4 -j 2 -t 100 >"$T/out" 2>&1 || fail "pgbench: $(tail -n 3 "$T/out")"
		grep -q 'processed: 400/400' "$T/out" || fail "pgbench did not run all: $(cat "$T/out")"
		pgbench -n -M $mode -c 4 -j 2 -t 50 -f "$T/wide.sql" >"$T/out" 2>&1 || fail "pgbench: $(tail -n 3 "$T/out")"
		for i in 1 2 3 4 5; do psql -q -c 'SELECT * FROM nope' >/dev/null 2>&1 && fail "no error?"; done
		what="$payload $mode"
		finish "$what" postgresql
		# Of the standard transaction: BEGIN, 3 UPDATE, SELECT, INSERT, END; of ours: 2 SELECT; psql: 1.
		# pgbench itself asks for its tables before a run; those are not counted here.
		for want in BEGIN,400 UPDATE,1200 INSERT,400 END,400; do
			is "$what: ${want%,*}" "$(q "SELECT count(*) FROM message WHERE protocol='postgresql' AND method='${want%,*}' AND paired")" ${want#*,}
		done
		is "$what: SELECT of the transactions" "$(q "SELECT count(*) FROM message WHERE method='SELECT' AND paired AND target IN ('SELECT abalance FROM pgbench_accounts WHERE aid = ?', 'SELECT aid FROM pgbench_accounts WHERE aid = ?')")" 600
		is "$what: SELECT of 11 KB" "$(q "SELECT count(*) FROM message WHERE method='SELECT' AND paired AND target LIKE 'SELECT repeat%'")" 200
		is "$what: errors" "$(q "SELECT count(*) FROM message WHERE status='42P01' AND is_error AND paired")" 5
		is "$what: not paired" "$(q "SELECT count(*) FROM message WHERE protocol='postgresql' AND NOT paired AND method<>'TERMINATE'")" 0
	done
done
