# What main() answers itself.
obana=$OBANA
run() { echo "> obana $*"; "$obana" "$@" 2>&1; echo "exit $?"; }
run reprot
run xyzzy
run --nonsense
run 2>&1 | head -3
run --help | grep -e '^ *report' -e ' query' -e ' flamegraph' -e ' export' -e exit
run report --help | sed -n 1,3p
run help | sed -n 1,2p
run help report | sed -n 1,2p
run help reprot
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
"$TOP/$B/tests/tools/mkobz" "$d/small.obz" <"$TOP/tests/cli/small.obt" || exit 1
"$obana" report "$d/small.obz" >"$d/report" 2>&1
"$obana" "$d/small.obz" 2>&1 | cmp - "$d/report" && [ -s "$d/report" ] && echo "an archive alone: its report"
"$obana" --man | grep -c -e '^\.TH OBANA' -e '^\\fBobana report'
"$obana" --completion=bash | bash -n && echo "completion parses"
