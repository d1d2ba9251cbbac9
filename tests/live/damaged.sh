# A real archive, cut, with flipped bytes, zeroed blocks, or no archive at all, through every command of obana: exit code 0, 1
# or 3, no crash, no hang; an archive that cannot be read at all is reported on one line.
. tests/live/lib.inc
start "$WORKLOAD/demo" 3600 >/dev/null
"$OBREC" -q -d 2s -F 499 -e cpu,offcpu -p $! --debuginfo symtab -o "$T/good.obz"
size=$(stat -c %s "$T/good.obz")
ways=${FULL:+12}; ways=${ways:-3}

run() { # FILE: every command
	local f=$1 rc what
	local -a commands=("info $f" "verify $f" "recover $f -o $T/recovered.obz" "report $f --flamegraph=$T/o.svg --html=$T/o.html --folded=$T/o.folded --pprof=$T/o.pb.gz --sqlite=$T/o.sqlite"
		"query $f SELECT_count(*)_FROM_sample" "flamegraph $f --kind offcpu -o $T/f.svg" "export folded $f -o $T/e.folded"
		"export speedscope $f -o $T/e.json" "export pprof $f -o $T/e.pb.gz" "diff $T/good.obz $f -o $T/d.svg" "diff $f $T/good.obz -o $T/d.svg")
	for what in "${commands[@]}"; do
		rm -f "$T/recovered.obz" "$T"/[oefd].*
		rc=0
		read -ra words <<<"$what"
		timeout 30 "$OBANA" "${words[@]//_/ }" >"$T/out" 2>"$T/err" </dev/null || rc=$?
		case $rc in
		0 | 1 | 3) ;;
		*) cat "$T/err"; fail "$how: obana $what: exit $rc" ;;
		esac
		[ $rc != 1 ] || [ "$(wc -l <"$T/err")" = 1 ] || { cat "$T/err"; fail "$how: obana $what: not one line"; }
		[ -z "${hopeless:-}" ] || [ $rc = 1 ] || fail "$how: obana $what: exit $rc for no archive at all"
		[ $rc = 0 ] || failed="$what: $(cat "$T/err")"
		codes[$rc]=$((${codes[$rc]:-0} + 1))
		if [ "${what%% *}" = recover ] && [ -e "$T/recovered.obz" ]; then
			"$OBANA" verify "$T/recovered.obz" >"$T/out" 2>&1 || [ $? = 3 ] || fail "$how: what was recovered is no archive"
		fi
	done
}
codes=() failed=
how=whole; run "$T/good.obz"; echo "$failed"
is "whole: commands that succeed" "${codes[0]}" 11
for ((i = 0; i < ways; i++)); do
	at=$(((RANDOM * 32768 + RANDOM) % size))
	how="cut at $at"; head -c $at "$T/good.obz" >"$T/bad.obz"; run "$T/bad.obz"
	how="flipped at $at"; cp "$T/good.obz" "$T/bad.obz"; printf '\x5a\xa5' | dd of="$T/bad.obz" bs=1 seek=$at conv=notrunc status=none; run "$T/bad.obz"
	at=$((at / 512))
	how="zeroed block $at"; cp "$T/good.obz" "$T/bad.obz"; dd if=/dev/zero of="$T/bad.obz" bs=512 seek=$at count=1 conv=notrunc status=none; run "$T/bad.obz"
	how="garbage from block $at"; cp "$T/good.obz" "$T/bad.obz"; dd if=/dev/urandom of="$T/bad.obz" bs=512 seek=$at count=9 conv=notrunc status=none; run "$T/bad.obz"
done
hopeless=1
how="empty file"; : >"$T/bad.obz"; run "$T/bad.obz"
how="random bytes"; head -c 20000 /dev/urandom >"$T/bad.obz"; run "$T/bad.obz"
how="an ELF file"; cp "$OBANA" "$T/bad.obz"; run "$T/bad.obz"
how="zeros"; head -c 20480 /dev/zero >"$T/bad.obz"; run "$T/bad.obz"
how="another tar"; echo x >"$T/x"; tar cf "$T/bad.obz" -C "$T" x; run "$T/bad.obz"
how="a directory"; run "$T"
how="nothing"; run "$T/none.obz"
echo "ok: exit 0 ${codes[0]:-0} times, 1 ${codes[1]:-0}, 3 ${codes[3]:-0}"
