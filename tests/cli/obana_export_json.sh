# All tables as JSON, one object a line: every line is an object, every table of the database is there with all its rows.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana export json small.obz 2>&1; $obana export sqlite small.obz -o all.db 2>&1
$obana export json small.obz -o - | cmp - small.jsonl && echo "the same on stdout"
python3 - <<'END'
import json, sqlite3
db = sqlite3.connect("all.db"); db.text_factory = lambda b: b.decode("utf-8", "replace")
rows = {}
for line in open("small.jsonl", encoding="utf-8"):
    o = json.loads(line); rows.setdefault(o.pop("table"), []).append(o)
for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
    cursor = db.execute(f'SELECT * FROM "{table}"'); names = [c[0] for c in cursor.description]
    wanted = [dict(zip(names, r)) for r in cursor.fetchall()]
    got = rows.pop(table, [])
    if [sorted(r) for r in got] != [sorted(r) for r in wanted] or any(
            isinstance(v, int) and g[k] != v for g, w in zip(got, wanted) for k, v in w.items()):
        print(f"{table}: differs")
print("left over:", list(rows))
END
grep '"table":"process"' small.jsonl | head -n 2
$obana export json small.obz -o /dev/full 2>&1; echo "exit $?"
# Rows of several CPUs are not quite in the order of time in an archive: what is written is.
{ grep -v ^open "$TOP/tests/cli/events.obt"; grep ^open "$TOP/tests/cli/events.obt" | tac; } | "$TOP/$B/tests/tools/mkobz" late.obz
$obana query late.obz "SELECT group_concat(ts_ns / 100000000 % 100) FROM (SELECT ts_ns FROM open)" --csv
$obana export json late.obz -o - | grep '"table":"open"' | grep -o '"ts_ns":[0-9]*' | sort -c && echo "in the order of time"
