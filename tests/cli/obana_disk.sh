# Sections of the probes of set @disk, of page faults, system calls, locks, wakers, functions and counters, by their own names and those of classic tools.
cd "$(mktemp -d)" || exit 1
trap 'rm -rf "$PWD"' EXIT
export TZ=UTC XDG_CACHE_HOME=$PWD/cache
obana=$OBANA
"$TOP/$B/tests/tools/mkobz" a.obz <"$TOP/tests/cli/disk.obt" || exit 1
"$TOP/$B/tests/tools/mkobz" events.obz <"$TOP/tests/cli/events.obt" || exit 1
for name in $($obana show --list | awk '/: / && /^(syscall|lock|wakers|func|usdt|pmu|block|open|file|cache|reclaim|writeback|irq|mem-)/ {print $1}'); do echo "--- $name"; $obana show "$name" a.obz 2>&1; done
for name in syscount klockstat funclatency llcstat fileslower hardirqs softirqs; do echo "--- $name"; $obana show $name a.obz | head -n 3; done
echo "--- an interval, a condition"
$obana show syscall-latency a.obz --interval 1s --where "name = 'read'"
$obana show syscall-calls a.obz --where "result = 'EACCES'" --json
echo "--- page"
$obana report a.obz --html=- | python3 -c '
import re, sys
import xml.dom.minidom
page = sys.stdin.read()
for m in re.findall(r"<svg class=\"(?:heatmap|timeline)\".*?</svg>", page, re.S): xml.dom.minidom.parseString(m); print(len(re.findall("<rect ", m)), "cells,", len(re.findall("<text ", m)), "labels")
print(len(re.findall("<pre>", page)), "histograms,", re.findall("<h2[^>]*>([^<]*)", page))
print("\x1b" in page)'
echo "--- metrics"
$obana export prometheus a.obz -o - | grep '_total{'
