# Tables and columns for who writes SQL: all of them are described, the examples run.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$TOP/$B/obana
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana schema loss thread_weight
$obana schema --json | python3 -c '
import json, sys
tables = json.load(sys.stdin)
for t in tables:
    for o in [t] + t["columns"]:
        if not o["description"]: print("not described:", t["name"], o["name"])
print(len(tables) > 30, sorted(tables[0]), sorted(tables[0]["columns"][0]))'
$obana schema >all.txt; $obana schema small.obz | cmp - all.txt && echo "the same with an archive"
echo "--- examples"
grep '^obana query' all.txt | sed "s|^obana|$obana|; s|cap.obz|small.obz|" >examples
wc -l <examples; sh -e examples >answers 2>&1 && echo "all run"
echo "--- errors"
$obana schema nosuch 2>&1; echo "exit $?"
$obana schema missing.obz 2>&1; echo "exit $?"
