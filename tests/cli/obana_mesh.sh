# Regions and clusters of --services; --focus, --depth; the smallest services merged; a picture of very many.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
python3 "$TOP/tests/tools/mesh.py" 9 . && "$TOP/$B/tests/tools/mkobz" mesh.obz <mesh.obt || exit 1
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }
names() { $obana topology mesh.obz --services services.csv --json "$@" | python3 -c '
import json, sys
t = json.load(sys.stdin)
print(" ".join(sorted(n["name"] for n in t["nodes"])), "|", " ".join(sorted(e["client"] + ">" + e["server"] for e in t["edges"])))'; }

cat services.csv
run topology mesh.obz --services services.csv
run topology mesh.obz --services services.csv --dot
if command -v dot >/dev/null; then $obana topology mesh.obz --services services.csv --dot | dot -Tsvg >/dev/null || echo "graphviz objects"; fi
run topology mesh.obz --services services.csv --json
echo "--depth, from where calls begin"; names --depth 1; names --depth 2
echo "--focus, one hop and two, then a pattern"; names --focus edge-1 --depth 1; names --focus EDGE-1 --depth 2; names --focus 'edge-*' --depth 1
echo "--limit: who calls most stays, and whom --focus names"; names --limit 4; names --limit 4 --focus edge-0 --depth 2
run topology mesh.obz --services services.csv --limit 4
run topology mesh.obz --limit 3

# 100,000 connections of 60,000 callers: bounded by itself, and said so; every call still counts
"$TOP/$B/tests/bench/traffic" many.obz http 200000 100000 1 || exit 1
$obana topology many.obz --svg >many.svg 2>/dev/null
python3 - <<'P'
import xml.dom.minidom
text = open("many.svg").read()
xml.dom.minidom.parseString(text)
print("picture of 60,000:", text.count('class="name"'), "services,", "under 100 kB" if len(text) < 100000 else len(text),
      "said" if "services with the fewest calls are merged" in text else "not said")
P
$obana topology many.obz --json --limit 10 | python3 -c '
import json, sys
t = json.load(sys.stdin)
print(len(t["nodes"]), "nodes;", sum(n.get("merged", 1) for n in t["nodes"]), "services;", sum(e["calls"] for e in t["edges"]), "calls")'
$obana topology many.obz --limit 10 | sed -n 's/^Merged.*/&/p'
