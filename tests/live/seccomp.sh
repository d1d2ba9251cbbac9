# While it records obrec may ask the kernel for what that takes and for nothing else: all its threads are under a filter, and what comes
# later (processes, exec, libraries with TLS, generated code, symbols, the end) needs no call that the filter refuses.
. tests/live/lib.inc
[ "${B:-build}" = build ] || skip "a build with sanitizers has no filter"
command -v python3 >/dev/null && python3 -c 'import ssl' || skip "needs python3 with ssl"
filtered() { # WHAT: every thread of $obrec
	local t n=0
	for t in /proc/$obrec/task/*; do
		[ "$(awk '/^Seccomp:/ {print $2}' "$t/status")" = 2 ] || fail "$1: thread ${t##*/} has no filter"
		[ "$(awk '/^NoNewPrivs:/ {print $2}' "$t/status")" = 1 ] || fail "$1: thread ${t##*/} without no_new_privs"
		n=$((n + 1))
	done
	within "$1: threads under a filter" $n 2 20
}
start "$WORKLOAD/demo" 3600 >/dev/null; demo=$!
obrec_start -p $demo -e cpu,l4 -o "$T/plain.obz"
filtered "cpu and l4"
worked 20 $demo
obrec_stop

# everything, under strace, which shows what was refused; libc takes clone in place of clone3, which strace prints in two parts at times
cp "$WORKLOAD/demo" "$T/later"
cat >"$T/all.sh" <<END
"$T/later" 5 >/dev/null
python3 -c 'import ssl, time; ssl.create_default_context(); time.sleep(1)'
exec python3 -c 'sum(i * i for i in range(3000000))'
END
record() { "$@" -q --stats -e +tls -F 499 --debuginfo full --debuginfo-cache "$T/kept" -o "$T/all.obz" -- sh "$T/all.sh"; }
record "$OBREC" 2>"$T/err" || { cat "$T/err"; fail "exit $?"; }
within "samples of a program started later" "$(sql "$T/all.obz" "SELECT count(*) FROM sample JOIN thread ON thread.id = thread_id JOIN process ON process.id = process_id WHERE process.comm = 'later'")" 1 100000
within "functions with their source" "$(sql "$T/all.obz" "SELECT count(*) FROM function WHERE file LIKE '%demo.cpp'")" 1 100000
within "costs of programs" "$(sql "$T/all.obz" "SELECT count(*) FROM program_cost")" 1 100000
if command -v strace >/dev/null && rm -r "$T/kept" && record strace -f -qq -Z -e trace='!clone3' -o "$T/strace" "$OBREC" 2>"$T/err"; then
	grep -E ' = -1 ENOSYS' "$T/strace" >"$T/missing" || true
	is "calls that the filter does not know" "$(cut -c1-80 "$T/missing" | tr '\n' ';')" ""
else
	cat "$T/err"
	echo "not looked at with strace"
fi
