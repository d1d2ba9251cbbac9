/* SPDX-License-Identifier: BSD-2-Clause */
/* Script of the report page: sorts a table when a heading is clicked, adds bars to shares, and links headings at the top. */
(function () {
"use strict";

function key(row, column) {
	const cell = row.cells[column], v = cell.getAttribute("data-v");
	return v === null ? cell.textContent : +v;
}

function compare(a, b, sign) {
	if (typeof a !== typeof b) /* unknown values are last in both orders */
		return typeof a === "number" ? -1 : 1;
	return sign * (a < b ? -1 : a > b ? 1 : 0);
}

/* Sorts numbers in descending and names in ascending order first; a second click reverses the order. */
function sort(table, column) {
	const head = table.tHead.rows[0].cells[column], body = table.tBodies[0], numeric = head.classList.contains("n");
	const first = numeric ? "descending" : "ascending", other = numeric ? "ascending" : "descending";
	const order = head.getAttribute("aria-sort") === first ? other : first, sign = order === "ascending" ? 1 : -1;
	const rows = Array.from(body.rows).map((row, at) => ({ row: row, key: key(row, column), at: at }));
	rows.sort((a, b) => compare(a.key, b.key, sign) || a.at - b.at);
	for (const r of rows)
		body.appendChild(r.row);
	for (const h of table.tHead.rows[0].cells)
		h.removeAttribute("aria-sort");
	head.setAttribute("aria-sort", order);
}

for (const table of document.querySelectorAll("main table")) {
	Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
		const cells = Array.from(table.tBodies[0].rows).map(row => row.cells[column]);
		head.classList.toggle("n", cells.every(c => c.classList.contains("n") || !c.textContent));
		head.tabIndex = 0;
		head.addEventListener("click", () => sort(table, column));
		head.addEventListener("keydown", e => {
			if (e.key === "Enter")
				sort(table, column);
		});
	});
	for (const cell of table.querySelectorAll("td.share"))
		cell.style.backgroundSize = Math.min(100, Math.max(0, 100 * cell.getAttribute("data-v"))).toFixed(1) + "% 100%";
}

const nav = document.querySelector("nav"), headings = document.querySelectorAll("h2");
for (const h of headings) {
	const a = document.createElement("a");
	a.href = "#" + h.id;
	a.textContent = h.textContent;
	nav.appendChild(a);
}
})();
