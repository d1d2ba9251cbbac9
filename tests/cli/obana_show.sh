# Sections: each by its own name and by the classic tools', as text, CSV and JSON, in the report and in the page.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" a.obz <"$TOP/tests/cli/events.obt" || exit 1
"$TOP/$B/tests/tools/mkobz" small.obz <"$TOP/tests/cli/small.obt" || exit 1
$obana show --list
for name in $($obana show --list | awk '{ print $1 }'); do echo "--- $name"; $obana show "$name" a.obz 2>&1; done
echo "--- an interval, a condition, a limit"
$obana show biolatency a.obz --interval 1s
$obana show opensnoop a.obz --where "errno <> 0" --csv
$obana show biosnoop a.obz --limit 1 --json
$obana show opens a.obz --limit 1
$obana show runqlat a.obz --from 1s
$obana show open-time a.obz --limit 1
$obana show open-time a.obz --where "name = 'server'" --csv
echo "--- errors"
$obana show nosuch a.obz 2>&1; echo "exit $?"
$obana show opens a.obz --interval 1s 2>&1; echo "exit $?"
$obana show opens a.obz --where "nosuch = 1" 2>&1; echo "exit $?"
$obana show opens a.obz --where "1); DELETE FROM open; --" 2>&1; echo "exit $?"
$obana show opens small.obz 2>&1; echo "exit $?"
echo "--- report and page"
$obana report a.obz
{ echo "rename open page_fault"; cat "$TOP/tests/cli/events.obt"; } | "$TOP/$B/tests/tools/mkobz" newer.obz; $obana report newer.obz | grep ^Events
echo "--- more than the rows: counters have all"
sed '/^end /i\
series id=90 probe=signal name=sent kind=counter keys="sender\\x09signal\\x09receiver\\x09cause\\x09result"\
cell ts_ns=5000000000 series=90 key="server\\x09SIGUSR1\\x09x\\x09kill\\x09queued" count=20000\
cell ts_ns=6000000000 series=90 key="server\\x09SIGUSR1\\x09x\\x09kill\\x09queued" count=98\
cell ts_ns=6000000000 series=90 key="(other)" count=2\
cell ts_ns=6000000000 series=12 key="server\\x090" count=1 sum=5000000000\
series id=91 probe=tcp name=events kind=counter keys=process\
series id=92 probe=tcp name=close_events kind=counter keys=process\
series id=93 probe=reclaim name=events kind=counter keys=process\
cell ts_ns=5000000000 series=91 key=server count=7\
cell ts_ns=5000000000 series=92 key=server count=6066\
cell ts_ns=5000000000 series=93 key=server count=5' "$TOP/tests/cli/events.obt" | "$TOP/$B/tests/tools/mkobz" all.obz
$obana report all.obz | grep -E '^Events +(tcp|stall)'; $obana show signals-by-pair all.obz; $obana show exit-by-process all.obz
echo "--- the page"
$obana report a.obz --html=- | python3 -c '
import re, sys
import xml.dom.minidom
page = sys.stdin.read()
maps = re.findall(r"<svg class=\"(?:heatmap|timeline)\".*?</svg>", page, re.S)
for m in maps: xml.dom.minidom.parseString(m); print(len(re.findall("<rect ", m)), "cells,", len(re.findall("<text ", m)), "labels")
print(len(re.findall("<pre>", page)), "histograms,", re.findall("<h2[^>]*>([^<]*)", page))
print("\x1b" in page)'
echo "--- metrics"
$obana export prometheus a.obz -o - | grep '_\(open\|runq\|block\)_'
