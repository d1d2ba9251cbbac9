// SPDX-License-Identifier: BSD-2-Clause
// Run by html.sh with the page of tests/unit/analyze_html.c.
"use strict";
const assert = require("assert");
const fs = require("fs");
const { test } = require("./chromium.js");
const page = process.argv[2];

const column = (b, n) => b.eval(`[...document.querySelectorAll("tbody tr")].map(r => r.cells[${n}].textContent)`);

async function clickOn(b, expression) {
	const [x, y] = await b.eval(`(e => { e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect();
		return [r.left + Math.min(r.width / 2, 20), r.top + r.height / 2]; })(${expression})`);
	await b.click(x, y);
}

async function tables(b) {
	await clickOn(b, `document.querySelectorAll("th")[1]`);
	assert.deepStrictEqual(await column(b, 1), ["1.50 s", "20.0 us", "7 ns", ""], "largest first, unknown last");
	await clickOn(b, `document.querySelectorAll("th")[1]`);
	assert.deepStrictEqual((await column(b, 1)).map(s => s === ""), [false, false, false, true], "unknown stays last");
	assert.strictEqual((await column(b, 1))[0], "7 ns");
	await clickOn(b, `document.querySelectorAll("th")[3]`);
	assert.strictEqual((await column(b, 3))[0], "\"a]]>&amp;", "names from the first");
	assert.deepStrictEqual(await b.eval(`[...document.querySelectorAll("td.share")].map(c => c.style.backgroundSize).sort()`),
		["12.5% 100%", "25% 100%", "50% 100%"]);
}

async function graphs(b) {
	assert.strictEqual(await b.eval(`document.querySelectorAll("svg.flamegraph .fg-row").length > 4`), true);
	assert.deepStrictEqual(await b.eval(`[...document.querySelectorAll("svg.flamegraph")].map(s => !!s.flamegraph)`), [true, true]);
	const eval0 = `[...document.querySelectorAll("svg.flamegraph")[0].querySelectorAll(".fg-frame")].find(e => e.textContent === "eval(int)")`;
	await clickOn(b, eval0);
	const widths = await b.eval(`[...document.querySelectorAll("svg.flamegraph")].map(s =>
		+[...s.querySelectorAll(".fg-frame")].find(e => e.textContent === "eval(int)").querySelector("rect").getAttribute("width"))`);
	assert(widths[0] > widths[1] * 1.5, "each graph zooms by itself");
	assert.match(await b.eval("location.hash"), /^#z=/, "the first graph's view is in the address");
	await b.key("Escape"); // the clicked graph does not have the keyboard unless it is focused
	await b.eval(`document.querySelectorAll("svg.flamegraph")[1].focus()`);
	await b.key("f", 2);
	await b.type("leaf");
	assert.match(await b.eval(`document.querySelectorAll(".fg-matched")[1].textContent`), /^matched 53\.85% \(35\.0 ms\)$/);
	assert.strictEqual(await b.eval(`document.querySelectorAll(".fg-matched")[0].textContent`), "");
}

// A name that got past the escaping would still not run: only scripts with the page's nonce do.
async function inert(b) {
	assert.strictEqual(await b.eval("typeof window.evil"), "undefined");
	await b.eval(`document.body.appendChild(Object.assign(document.createElement("script"), { textContent: "window.evil = 2" }))`);
	await b.eval(`document.body.insertAdjacentHTML("beforeend", "<img src=x onerror='window.evil=3'>")`);
	await b.settle();
	assert.strictEqual(await b.eval("typeof window.evil"), "undefined");
	assert(b.complaints.length && b.complaints.every(c => /Content Security Policy/.test(c)), String(b.complaints));
	b.complaints.length = 0;
}

test(async b => {
	await b.open(page);
	await b.settle();
	assert.strictEqual(await b.eval("document.title"), "Report <script>window.evil=1</script>");
	assert.deepStrictEqual(await b.eval(`[...document.querySelectorAll("nav a")].map(a => a.textContent)`),
		["On CPU <script>window.evil=1</script>", "Second"]);
	assert.strictEqual(await b.eval(`document.querySelector(".warning dd").textContent`), "12 events <script>window.evil=1</script>");
	if (process.env.SHOT)
		await b.screenshot(process.env.SHOT);
	await tables(b);
	await graphs(b);
	assert.deepStrictEqual(b.complaints, []);
	await inert(b);
});
