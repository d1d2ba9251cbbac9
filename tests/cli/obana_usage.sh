# What main() answers itself.
obana=$OBANA
run() { echo "> obana $*"; "$obana" "$@" 2>&1; echo "exit $?"; }
run reprot
run xyzzy
run --nonsense
run 2>&1 | head -3
run --help | grep -e ' report' -e ' query' -e ' flamegraph' -e ' export' -e exit
run report --help | sed -n 1,3p
"$obana" --man | grep -c -e '^\.TH OBANA' -e '^\\fBobana report'
"$obana" --completion=bash | bash -n && echo "completion parses"
