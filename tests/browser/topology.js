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

// A line seen through a label: of the points of lines within the letters' box (less its halo), those where the line is on top.
const crossed = b => b.eval(`(() => {
	const lines = [...document.querySelectorAll("path.edge")].flatMap(p => {
		const points = [], m = p.getScreenCTM();
		for (let at = 0, end = p.getTotalLength(); at <= end; at += 3)
			points.push(p.getPointAtLength(at).matrixTransform(m));
		return points; });
	return [...document.querySelectorAll("text.label, text.place")].filter(t => {
		const r = t.getBoundingClientRect();
		return lines.some(q => q.x > r.left + 1 && q.x < r.right - 1 && q.y > r.top + 2 && q.y < r.bottom - 2 &&
			document.elementsFromPoint(q.x, q.y).find(e => !e.closest("text")).classList.contains("edge")); }).map(t => t.textContent); })()`);

// The picture is as wide as the window, and no wider than drawn; what does not fit below is reached by scrolling.
async function fits(b, n) {
	const [whole] = await rects(b, "svg");
	for (const width of [700, 4000]) {
		await b.size(width, 700);
		const [page] = await rects(b, "svg"), inner = await b.eval("document.documentElement.clientWidth");
		assert(page.x1 >= 0 && page.x2 <= inner + 1, `${n}: ${page.x2} of ${inner}`);
		assert(Math.abs(page.x2 - page.x1 - Math.min(whole.x2 - whole.x1, inner)) < 2, `${n}: ${page.x2 - page.x1} in ${inner}`);
		const shape = r => (r.y2 - r.y1) / (r.x2 - r.x1);
		assert(Math.abs(shape(page) - shape(whole)) < 0.01, "the shape changes");
	}
}

// Relative luminance, as in WCAG 2.
const luminance = rgb => rgb.match(/[0-9.]+/g).slice(0, 3).map(v => v / 255)
	.map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const contrast = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);

async function readable(b, dark) {
	const colour = (selector, property) => b.eval(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
	await b.dark(dark);
	const paper = luminance(await colour("svg", "backgroundColor"));
	assert(dark ? paper < 0.1 : paper > 0.9, `paper ${paper}`);
	for (const [selector, property, least] of [["text.title", "fill", 7], ["text.label", "fill", 4.5], ["text.dim", "fill", 4.5], ["path.edge", "stroke", 3]])
		assert(contrast(luminance(await colour(selector, property)), paper) >= least, `${selector} in ${dark ? "dark" : "light"} mode`);
	for (const box of ["serves", "calls"]) {
		const [fill, name] = [await colour("rect." + box, "fill"), await colour("rect." + box + " ~ text.name", "fill")].map(luminance);
		assert(contrast(fill, name) >= 4.5, `a name on ${box} in ${dark ? "dark" : "light"} mode`);
	}
}

// Lines and arrows by their share of errors, as the label has it: none, and four classes.
async function colours(b) {
	const lines = await b.eval(`[...document.querySelectorAll("path.edge")].map(e => [e.getAttribute("class"), e.getAttribute("marker-end"),
		getComputedStyle(e).stroke, e.parentNode.querySelector("title").textContent])`);
	const seen = new Map();
	for (const [cls, marker, stroke, title] of lines) {
		const share = +(title.match(/([0-9.]+)% errors/) || [0, 0])[1];
		const level = !share ? "" : share < 1 ? "e1" : share < 5 ? "e2" : share < 20 ? "e3" : "e4";
		assert.strictEqual(cls.replace("edge", "").trim(), level, title);
		assert.strictEqual(marker, level ? `url(#${level})` : "url(#to)");
		seen.set(level, stroke);
	}
	assert.strictEqual(new Set(seen.values()).size, seen.size, "each class has its colour");
	return [...seen.keys()];
}

async function picture(b, n) {
	await b.size(4000, 3000);
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
		const q = p.getPointAtLength(p.getTotalLength()).matrixTransform(p.getScreenCTM()); return [q.x, q.y]; })`);
	for (const [x, y] of ends)
		assert(services.some(s => y >= s.y1 - 1 && y <= s.y2 + 1 && (Math.abs(x - s.x1) < 1 || Math.abs(x - s.x2) < 1 || Math.abs(y - s.y1) < 1)),
			`an arrow ends nowhere: ${x},${y}`);
	assert.deepStrictEqual(await crossed(b), []);
	await readable(b, false);
	await readable(b, true);
	await b.dark(false);
	const levels = await colours(b);
	await fits(b, n);
	assert.deepStrictEqual(b.complaints, []);
	return levels;
}

test(async b => {
	const levels = new Set();
	for (const n of sizes)
		for (const level of await picture(b, +n))
			levels.add(level);
	assert(levels.has("") && levels.size > 2, [...levels].join());
});
