# SPDX-License-Identifier: BSD-2-Clause
# The flame graph's interactivity, clicked through in headless Chromium.
sample=$B/tests/unit/analyze_flamegraph_samples
[ -x "$sample" ] || { echo "$sample is not built"; exit 77; }
. "$TOP/tests/browser/chromium.inc" || exit 1
for name in small inverted diff hostile deep big big-inverted flat none; do
	"$sample" $name >"$dir/$name.svg" || exit 1
done
node "$TOP/tests/browser/flamegraph.js" "$dir"
