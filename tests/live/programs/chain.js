// SPDX-License-Identifier: GPL-2.0-or-later
"use strict";

/* A chain of calls whose names and lines test_node.py knows. */

function leaf(n) {
	let sum = 0;

	for (let i = 0; i < n; i++)
		sum = (sum * 31 + i) | 0;
	return sum;
}

class Thing {
	get property() { return leaf(20000) + 1; }

	method() {
		return this.property + 1;
	}

	static factory() { return new Thing().method(); }
}

const größe = () => Thing.factory() + 1;
const 日本 = function () { return größe() + 1; };

function recurse(n) {
	return n ? recurse(n - 1) + 1 : 日本();
}

function outer() {
	return [1, 2].map((x) => recurse(x + 1)).length;
}

for (;;)
	outer();
