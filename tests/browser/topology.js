// SPDX-License-Identifier: BSD-2-Clause
// Run by topology.sh: DIR/N.svg for every number N that follows DIR.
"use strict";
const assert = require("assert");
const { test } = require("./chromium.js");
const [dir, ...sizes] = process.argv.slice(2);

// Boxes as the browser draws them; each text with what it says.
const rects = (b, selector) => b.eval(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => {
	const r = e.getBoundingClientRect();
	return { x1: r.left, y1: r.top, x2: r.right, y2: r.bottom, text: e.textContent, cls: e.getAttribute("class") }; })`);

const overlap = (a, b, slack) => a.x1 < b.x2 - slack && b.x1 < a.x2 - slack && a.y1 < b.y2 - slack && b.y1 < a.y2 - slack;
const within = (a, b) => a.x1 >= b.x1 && a.y1 >= b.y1 && a.x2 <= b.x2 && a.y2 <= b.y2;

function apart(what, list, slack, allowed = () => false) {
	for (let i = 0; i < list.length; i++)
		for (let k = i + 1; k < list.length; k++)
			assert(!overlap(list[i], list[k], slack) || allowed(list[i], list[k]), what + ": " + JSON.stringify([list[i], list[k]]));
}

async function picture(b, n) {
	await b.open(`${dir}/${n}.svg`);
	const page = (await rects(b, "svg"))[0];
	const boxes = await rects(b, "rect.serves, rect.calls"), services = boxes.slice(0, n); // the legend follows
	const names = await rects(b, "text.name"), labels = await rects(b, "text.label"), places = await rects(b, "rect.place");
	assert.strictEqual(names.length, n);
	apart("services", services, 0);
	apart("labels", labels, 2); // a letter's box is higher than the letter
	for (const label of labels) {
		assert(within(label, page), "a label is cut off: " + label.text);
		assert(!services.some(s => overlap(s, label, 2)), "a label lies on a service: " + label.text);
	}
	for (let i = 0; i < n; i++)
		assert(names[i].x2 <= services[i].x2, "a name leaves its box: " + names[i].text);
	apart("places", places, 0, (x, y) => within(x, y) || within(y, x));
	for (const s of services)
		for (const p of places)
			assert(within(s, p) || !overlap(s, p, 0), "a service lies on the edge of a place");
	const lines = await b.eval(`document.querySelectorAll("path.edge").length`);
	assert(labels.length > lines * 0.9, `${labels.length} of ${lines} lines have a label`);
	assert.deepStrictEqual(names.filter(t => t.text.includes("<")).map(t => t.text), ['<b>db & "x"</b>']);
	assert.strictEqual(await b.eval(`document.getElementsByTagName("b").length`), 0);
	// every arrow ends at a service's side, where its head is seen
	const ends = await b.eval(`[...document.querySelectorAll("path.edge")].map(p => {
		const q = p.getPointAtLength(p.getTotalLength()); return [q.x, q.y]; })`);
	for (const [x, y] of ends)
		assert(services.some(s => y >= s.y1 - 1 && y <= s.y2 + 1 && (Math.abs(x - s.x1) < 1 || Math.abs(x - s.x2) < 1 || Math.abs(y - s.y1) < 1)),
			`an arrow ends nowhere: ${x},${y}`);
	assert.deepStrictEqual(b.complaints, []);
}

test(async b => {
	for (const n of sizes)
		await picture(b, +n);
});
