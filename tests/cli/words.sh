# Texts for users use the field's terms: none of the phrases of scripts/words.list; and scripts/words finds what is planted.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
scripts/words || fail "phrases not to be used"
"$B/obrec" --man >"$T/obrec.1"; "$B/obana" --man >"$T/obana.1"
scripts/words "$T/obrec.1" "$T/obana.1" || fail "in the manual pages"

planted() { scripts/words "$T/$1" >"$T/said" && fail "nothing was found: $2"; grep -q "/$1:$2" "$T/said" || { cat "$T/said"; fail "not said: $2"; }; }
printf 'One line.\nThreads are told\napart.\n' >"$T/page.md"
planted page.md "2: 'told apart'"
printf '/* told apart */\nchar c = %s, *s = "news "\n\t"of processes";\n' "'\"'" >"$T/page.c"
planted page.c "2: 'news of processes'"
[ "$(wc -l <"$T/said")" = 1 ] || fail "a comment was read: $(cat "$T/said")"
