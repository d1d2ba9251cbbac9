# The commands of README.md run, its options are known to obrec, and the files it shows are there.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export XDG_CACHE_HOME=$PWD/cache
for f in FILE=small A.obz=traffic-server B.obz=traffic-client OLD.obz=traffic-server NEW.obz=traffic-client cap.obz=small; do
	"$TOP/$B/tests/tools/mkobz" "${f%%=*}" <"$TOP/tests/cli/${f#*=}.obt" || exit 1
done
exec 3>&1 >wrong 2>&1
(cd "$TOP" && grep -o '](\(docs\|bpf\|record\|format\|analyze\|scripts\|tests\)/[^)#]*)' README.md | tr -d '()]' | xargs ls >/dev/null)
table=$(sed -n '/^| question/,/^$/p' "$TOP/README.md" | tail -n +3)
commands=$(grep -o '`obana [^`]*`' <<<"$table" | tr -d '`')
[ "$(wc -l <<<"$commands")" -ge 15 ] || echo "few commands: $commands"
while IFS= read -r line; do
	case $line in
	*"SELECT ..."*) line=${line/SELECT .../SELECT 1} ;;
	*import*) continue ;; # of a packet capture: obana_import.sh
	"obana export pprof") line="$line FILE" ;;
	esac
	line=${line/NAME/server}
	eval "\"\$OBANA\" ${line#obana }" >out 2>err || { echo "fails: $line"; cat err; }
done <<<"$commands"
grep -o '`[a-z]*`' <<<"${table#*obana export pprof}" | head -n 4 | tr -d '`' | while read -r format; do
	"$OBANA" export "$format" FILE -o - >/dev/null 2>err || { echo "fails: export $format"; cat err; }
done
grep -o '`\(obrec\|-[ae]\)[^`]*`' <<<"$table" | tr -d '`' | sed 's/^obrec //; s/PID/1/; s/ -- .*//; s/^-- .*//' | while IFS= read -r options; do
	# shellcheck disable=SC2086 # words
	"$TOP/$B/obrec" $options --help >/dev/null 2>err || { echo "obrec does not know: $options"; cat err; }
done
[ ! -s wrong ] || { cat wrong >&3; exit 1; }
