# SPDX-License-Identifier: BSD-2-Clause
# The flame graph's interactivity, clicked through in headless Chromium.
sample=$B/tests/unit/analyze_flamegraph_samples
[ -x "$sample" ] || { echo "$sample is not built"; exit 77; }
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
command -v chromium >/dev/null || { echo "chromium is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for name in small inverted diff hostile deep big big-inverted flat none; do
	"$sample" $name >"$dir/$name.svg" || exit 1
done
node "$TOP/tests/browser/flamegraph.js" "$dir"
