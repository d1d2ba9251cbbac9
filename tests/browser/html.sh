# SPDX-License-Identifier: BSD-2-Clause
# The HTML report's page in headless Chromium: its tables, and the flame graphs inside.
page=$B/tests/unit/analyze_html
[ -x "$page" ] || { echo "$page is not built"; exit 77; }
. "$TOP/tests/browser/chromium.inc" || exit 1
"$page" page >"$dir/page.html" || exit 1
node "$TOP/tests/browser/html.js" "$dir/page.html"
