# SPDX-License-Identifier: BSD-2-Clause
# The traffic of an HTML report in headless Chromium: tables sort, names stay text, nothing comes from outside.
. "$TOP/tests/browser/chromium.inc" || exit 1
command -v python3 >/dev/null || { echo "python3 is not installed"; exit 77; }
python3 "$TOP/tests/tools/mesh.py" 15 "$dir" && "$TOP/$B/tests/tools/mkobz" "$dir/mesh.obz" <"$dir/mesh.obt" || exit 1
"$OBANA" report "$dir/mesh.obz" --services "$dir/services.csv" --html="$dir/page.html" >/dev/null || exit 1
# Likewise with samples.
{
	sed '/^end /d' "$dir/mesh.obt"
	grep -E '^(process|thread|binary|symbol|stack|sample) ' "$TOP/tests/cli/small.obt"
	grep '^end ' "$dir/mesh.obt"
} | "$TOP/$B/tests/tools/mkobz" "$dir/both.obz" && "$OBANA" report "$dir/both.obz" --html="$dir/both.html" >/dev/null || exit 1
node "$TOP/tests/browser/report.js" "$dir/page.html" "$dir/both.html"
