# Two archives of the two ends of a connection become one edge; pictures and metrics of hostile names.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
for n in server client sampled; do "$TOP/$B/tests/tools/mkobz" $n.obz <"$TOP/tests/cli/traffic-$n.obt" || exit 1; done
printf '10.0.0.3:6379,"cache <&> ""x"""\n' >services.csv
run() { echo "> $*"; $obana "$@" 2>&1; rc=$?; [ $rc = 0 ] || echo "exit $rc"; }

run topology server.obz
run topology server.obz client.obz
run topology client.obz server.obz --services services.csv --json
run topology server.obz --services services.csv --dot
run topology server.obz client.obz --services services.csv --svg
run topology server.obz client.obz --focus 10.1.0.7 --depth 1
run topology server.obz --focus nginx --depth 1 # of a container
run topology server.obz --focus 'nobody'
run topology server.obz --depth 0
run topology
run export prometheus server.obz --services services.csv -o -
run export prometheus sampled.obz -o -
# well-formed, and what promtool accepts where it is installed
$obana topology server.obz client.obz --svg -o t.svg 2>/dev/null && python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("t.svg")' || echo "bad SVG"
$obana topology server.obz client.obz --json | python3 -m json.tool >/dev/null || echo "bad JSON"
$obana export prometheus server.obz -o m.prom 2>/dev/null
if command -v promtool >/dev/null; then promtool check metrics <m.prom || echo "promtool objects"; fi
