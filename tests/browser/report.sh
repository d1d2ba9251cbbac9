# SPDX-License-Identifier: BSD-2-Clause
# The traffic of an HTML report in headless Chromium: tables sort, names stay text, nothing comes from outside.
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
command -v chromium >/dev/null || { echo "chromium is not installed"; exit 77; }
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export XDG_CACHE_HOME=$dir/cache
python3 "$TOP/tests/tools/mesh.py" 15 "$dir" && "$TOP/$B/tests/tools/mkobz" "$dir/mesh.obz" <"$dir/mesh.obt" || exit 1
"$TOP/$B/obana" report "$dir/mesh.obz" --services "$dir/services.csv" --html="$dir/page.html" >/dev/null || exit 1
node "$TOP/tests/browser/report.js" "$dir/page.html"
