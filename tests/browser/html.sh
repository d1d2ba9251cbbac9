# SPDX-License-Identifier: BSD-2-Clause
# The HTML report's page in headless Chromium: its tables, and the flame graphs inside.
page=$B/tests/unit/analyze_html
[ -x "$page" ] || { echo "$page is not built"; exit 77; }
command -v node >/dev/null || { echo "node is not installed"; exit 77; }
command -v chromium >/dev/null || { echo "chromium is not installed"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$page" page >"$dir/page.html" || exit 1
node "$TOP/tests/browser/html.js" "$dir/page.html"
