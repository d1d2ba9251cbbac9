# Wrong use: one clear line on stderr and the right exit code; nothing is left behind.
. tests/live/lib.inc

# wrong CODE PATTERN ARG...
wrong() {
	local code=$1 pattern=$2 status=0
	shift 2
	(cd "$T" && "$OBREC" "$@" >"$T/out" 2>"$T/err" </dev/null) || status=$?
	is "obrec $*: exit" $status "$code"
	is "obrec $*: lines" "$(wc -l <"$T/err")" 1
	grep -q -- "$pattern" "$T/err" || { cat "$T/err"; fail "obrec $*: no '$pattern' in its line"; }
}
wrong 2 unit -d 10 -p 1
wrong 2 duration -d abc
wrong 2 longer -d 0s
wrong 2 "process ids" -p x
wrong 2 "process ids" -p 1,,2
wrong 2 exclude -a -p 1
wrong 2 exclude -p 1 -- true
wrong 2 "unknown probe" -e nosuch
wrong 2 "no probe" -e -@all
wrong 2 "samples per second" -F 0
wrong 2 "http, grpc, http1, redis" --l7 redis,nosuch
wrong 2 KEY=VALUE --label x
wrong 2 COMMAND --
wrong 2 no-such-option --no-such-option
wrong 1 4194299 -d 1s -p 4194299 -o "$T/x.obz"
wrong 1 nodir -d 1s -o "$T/nodir/x.obz"
[ ! -e "$T/x.obz" ] || fail "an archive was left for an unknown pid"
echo old >"$T/kept.obz"
wrong 1 4194299 -d 1s -p 4194299 -o "$T/kept.obz"
is "the old file is back" "$(cat "$T/kept.obz")" old

# without privilege the capability is named
status=0
setpriv --reuid 65534 --regid 65534 --clear-groups "$OBREC" -d 1s -o /tmp/obrec-unprivileged.$$ >"$T/out" 2>"$T/err" || status=$?
if [ $status != 126 ] && [ $status != 127 ]; then
	is "unprivileged: exit" $status 4
	is "unprivileged: lines" "$(wc -l <"$T/err")" 1
	grep -q CAP_ "$T/err" || { cat "$T/err"; fail "no capability named"; }
	setpriv --reuid 65534 --regid 65534 --clear-groups "$OBREC" --list >"$T/listed" 2>&1 || status=$?
	is "unprivileged, --list: exit" $status 4
	is "unprivileged, --list: the reason is said" "$(grep -c CAP_ "$T/listed") time, $(grep -c ' no  ' "$T/listed") probes" "1 time, $(grep -c '^[a-z]' "$T/list") probes"
fi
"$OBREC" --help >"$T/help" && grep -q -- --duration "$T/help"
"$OBREC" --man >"$T/man" && grep -q '^\.TH' "$T/man"
"$OBREC" --completion=bash >"$T/completion" && grep -q -- --cgroup "$T/completion"
is "--list has cpu" "$("$OBREC" --list | grep -c '^ *cpu ')" 1
