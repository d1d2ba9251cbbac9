# Sections of probe host, by their own names and those of classic tools, and its metrics.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" a.obz <"$TOP/tests/cli/host.obt" || exit 1
"$TOP/$B/tests/tools/mkobz" none.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana report a.obz | tail -n +6
for name in $($obana show --list | awk '/: / && /^host/ {print $1}'); do echo "--- $name"; $obana show "$name" a.obz 2>&1; done
for name in sar mpstat vmstat iostat pidstat; do echo "--- $name"; $obana show $name a.obz | head -n 1; done
echo "--- metrics"
$obana export prometheus a.obz -o - | grep -A 99 '^# HELP obana_host' | grep -v HELP
$obana show host none.obz 2>&1; echo "exit $?"
