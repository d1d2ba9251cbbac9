# SPDX-License-Identifier: BSD-2-Clause
# The picture of services in headless Chromium: nothing overlaps, labels are whole, names are text.
. "$TOP/tests/browser/chromium.inc" || exit 1
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
for n in 3 15 60; do
	mkdir "$dir/$n"
	python3 "$TOP/tests/tools/mesh.py" $n "$dir/$n" || exit 1
	"$TOP/$B/tests/tools/mkobz" "$dir/$n/mesh.obz" <"$dir/$n/mesh.obt" || exit 1
	"$OBANA" topology "$dir/$n/mesh.obz" --services "$dir/$n/services.csv" --svg >"$dir/$n.svg" || exit 1
done
node "$TOP/tests/browser/topology.js" "$dir" 3 15 60
