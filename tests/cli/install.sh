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
complete() { # SHELL LINE: the words that the end of the line may become
	local program=${2%% *}
	case $1 in
	bash) COMP_LINE=$2 COMP_POINT=${#2} bash -ec "source '$shares/bash-completion/completions/$program'; compopt() { :; }
		_$program; printf '%s\n' \"\${COMPREPLY[@]}\"" ;;
	fish) HOME=$d XDG_DATA_HOME= fish --private -c "source '$shares/fish/vendor_completions.d/$program.fish'; complete -C '$2'" | cut -f 1 ;;
	esac
}
shares=$d/usr/share
echo "== values"
complete bash "obrec --cgr"
while IFS= read -r line; do
	complete bash "$line" | paste -sd ' ' | sed "s/^/$line: /"
done <<-END
	obrec --debuginfo s
	obrec --debuginfo=s
	obrec -e cpu,of
	obrec -e +of
	obrec -e @di
	obrec --events=cpu,biol
	obrec --l7 redis,po
	obrec --direction b
	obrec --redact=
	obrec -e block:
	obrec -e cpu,offcpu:m
	obrec --events=l7:direction=
	obrec -e -blo
	obrec --attach=l4=s
	obrec --attach cpu=clock,runq=
	obana messages --format ti
	obana messages -f time,remote_
	obana help sc
	obana hel
	obana flamegraph a.obz --kind cpu,o
	obana messages --role=c
	obana export sp
	obana show runq-l
END
if command -v fish >/dev/null; then # bash adds what readline has to replace, fish the whole token
	for line in "obrec --debuginfo s" "obrec -e cpu,of" "obrec -e +of" "obrec --l7=redis,po" "obana messages --role=c" "obana export sp" \
		"obrec -e block:st" "obrec --attach l4=s" "obana messages --format=time,met" "obana help sc"; do
		words=$(complete fish "$line")
		grep -qx "${line##*[ =]}[a-z]*" <<<"${words##*=}" || echo "fish: $line: $words"
	done
fi
for t in obrec obana; do
	! command -v zsh >/dev/null || zsh -n "$shares/zsh/site-functions/_$t"
	! command -v fish >/dev/null || fish -n "$shares/fish/vendor_completions.d/$t.fish"
	head -n 1 "$shares/zsh/site-functions/_$t"
	grep -m 1 -c "^complete -c $t " "$shares/fish/vendor_completions.d/$t.fish"
done
echo "== obana alone"
make -s install-obana DESTDIR="$d/alone" PREFIX=/usr
(cd "$d/alone" && find usr -type f | LC_ALL=C sort)
