// SPDX-License-Identifier: BSD-2-Clause
// Run by report.sh with a report's page, and one of a capture that also has samples.
"use strict";
const assert = require("assert");
const fs = require("fs");
const { test } = require("./chromium.js");
const [page, both] = process.argv.slice(2);

// A column's cells of the first table that has it, from top to bottom.
const find = name => `[...document.querySelectorAll("table")].find(t => [...t.querySelectorAll("th")].some(h => h.textContent.trim().toLowerCase() === "${name}"))`;
const place = name => `[...${find(name)}.querySelectorAll("th")].findIndex(h => h.textContent.trim().toLowerCase() === "${name}")`;
const cells = (b, name) => b.eval(`[...${find(name)}.querySelectorAll("tbody tr")].map(r => r.cells[${place(name)}].textContent)`);
async function clickHead(b, name) {
	const [x, y] = await b.eval(`(e => { e.scrollIntoView({ block: "center" }); const r = e.getBoundingClientRect();
		return [r.left + r.width / 2, r.top + r.height / 2]; })(${find(name)}.querySelectorAll("th")[${place(name)}])`);
	await b.click(x, y);
}

// What failed, the traffic with its map, then the flame graphs.
async function trafficFirst(b) {
	await b.open(both);
	await b.settle();
	const order = await b.eval(`[...document.querySelectorAll("h2, svg.topology, svg.flamegraph")].map(e => e.tagName === "H2" ? e.textContent : e.getAttribute("class"))`);
	const at = what => { assert(order.includes(what), what + " is not in " + order.join()); return order.indexOf(what); };
	assert(at("Findings") < at("Traffic") && at("topology") === at("Traffic") + 1 && at("topology") < at("flamegraph"), order.join());
	const [map, first] = await b.eval(`["svg.topology", "svg.flamegraph"].map(s => document.querySelector(s).getBoundingClientRect().top)`);
	assert(map < first);
}

test(async b => {
	assert(!/(src|href)\s*=\s*["']?(https?:)?\/\//i.test(fs.readFileSync(page, "utf8")), "something comes from outside");
	await b.open(page);
	await b.settle();
	assert(await b.eval(`document.querySelectorAll("svg.topology rect.serves").length`) > 3, "the map of services");
	assert(await b.eval(`document.querySelectorAll("svg.timeline rect title").length`) > 3, "requests over time");
	const before = (await cells(b, "calls")).map(Number);
	assert(before.length > 3);
	await clickHead(b, "calls");
	const once = (await cells(b, "calls")).map(Number);
	await clickHead(b, "calls");
	const twice = (await cells(b, "calls")).map(Number);
	const sorted = before.slice().sort((x, y) => y - x);
	assert.deepStrictEqual([once, twice].map(String).sort(), [sorted, sorted.slice().reverse()].map(String).sort(), "most first, then least first");
	assert(await b.eval(`document.body.textContent.includes('<b>db & "x"</b>')`), "the hostile name is text");
	assert.strictEqual(await b.eval(`document.querySelectorAll("td b").length`), 0);
	await trafficFirst(b);
	assert.deepStrictEqual(b.complaints, []);
});
