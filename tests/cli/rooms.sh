# The include graph of the tree is without circles, and scripts/include-graph finds what is planted; a layer cannot see what is above it.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
graph=$PWD/scripts/include-graph
"$graph" || fail "the tree's own graph"

mkdir -p "$T"/{format,bpf,record/low,record/high,analyze/base}
planted() { (cd "$T" && "$graph") >"$T/said" && fail "nothing was found: $1"; grep -q "$1" "$T/said" || { cat "$T/said"; fail "not said: $1"; }; }
clean() { (cd "$T" && "$graph") || fail "found in a tree without a defect"; }
echo '#include "record/low/low.h"' >"$T/record/high/high.h"
echo 'int low;' >"$T/record/low/low.h"
clean
echo '#include "record/high/high.h"' >"$T/record/low/low.c"
planted "a circle of rooms: record/high record/low"
echo '#include "../high/high.h"' >"$T/record/low/low.c"
planted "is no file of the tree"
echo '#include "record/low/other.h"' >"$T/record/low/low.h"
echo '#include "record/low/low.h"' >"$T/record/low/other.h"
rm "$T/record/low/low.c"
planted "a circle of headers: record/low/low.h record/low/other.h"
rm "$T/record/low/other.h"; echo 'int low;' >"$T/record/low/low.h"
touch "$T/analyze/base/low.h"
planted "one name twice: analyze/base/low.h record/low/low.h"
rm "$T/analyze/base/low.h"
printf '/*\n *   a table      whose line was\n * wrapped\n */\n' >"$T/format/table.h"
planted "format/table.h:3: the table or drawing"
rm "$T/format/table.h"
clean

sees() { printf '#include "%s"\n' "$2" >"$T/sees.c"; cc -iquote "${B:-build}/layer/$1" -E -o /dev/null "$T/sees.c" 2>"$T/err"; }
sees analyze format/text.h || fail "analyze/ does not see format/: $(head -n 1 "$T/err")"
! sees analyze record/base/loss.h || fail "analyze/ sees record/"
! sees analyze bpf/wire.h || fail "analyze/ sees bpf/"
! sees format analyze/base/index.h || fail "format/ sees analyze/"
! sees bpf format/text.h || fail "bpf/ sees all of format/"
! sees record analyze/base/index.h || fail "record/ sees analyze/"
