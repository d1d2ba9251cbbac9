# make install: the programs run from there, the manual pages format without warnings, completion loads and completes. make
# install-obana: the analyser alone.
set -e
cd "$TOP"
d=$(mktemp -d)
trap 'rm -rf "$d"' EXIT
make -s install DESTDIR="$d" PREFIX=/usr >"$d/log" 2>&1 || { cat "$d/log"; exit 1; }
(cd "$d" && find usr -type f | LC_ALL=C sort)
for t in obrec obana; do
	"$d/usr/bin/$t" --version >"$d/out"
	grep -q "$t" "$d/out"
	if command -v groff >/dev/null; then groff -man -ww -Tutf8 "$d/usr/share/man/man1/$t.1" 2>&1 >"$d/page"; [ -s "$d/page" ]; fi
	bash -ec "source '$d/usr/share/bash-completion/completions/$t'; complete -p $t"
done
bash -ec "source '$d/usr/share/bash-completion/completions/obrec'; COMP_WORDS=(obrec --cgr); COMP_CWORD=1; _obrec; echo \"\${COMPREPLY[@]}\""
shares=$d/usr/share
for t in obrec obana; do
	! command -v zsh >/dev/null || zsh -n "$shares/zsh/site-functions/_$t"
	! command -v fish >/dev/null || fish -n "$shares/fish/vendor_completions.d/$t.fish"
	head -n 1 "$shares/zsh/site-functions/_$t"
	grep -m 1 -c "^complete -c $t " "$shares/fish/vendor_completions.d/$t.fish"
done
echo "== obana alone"
make -s install-obana DESTDIR="$d/alone" PREFIX=/usr
(cd "$d/alone" && find usr -type f | LC_ALL=C sort)
