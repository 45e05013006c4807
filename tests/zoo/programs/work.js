'use strict';

class Square {
	constructor(side) { this.side = side; }
	area(depth) { return depth === 0 ? this.side * this.side : this.area(depth - 1) + 1; }
}

function thrower(n) {
	if (n % 3 === 0)
		throw new Error('third');
	return n;
}

function words() {
	const all = [];
	const counts = new Map();
	for (let i = 0; i < 500; i++)
		all.push(`word${i * 7919 % 500}`);
	all.sort((a, b) => a < b ? 1 : -1);
	for (const word of all)
		if (/([a-z]+)(4[0-9]*)/.test(word))
			counts.set(word, word.length);
	return JSON.parse(JSON.stringify([...counts])).length;
}

function work() {
	let sum = words();
	for (let i = 0; i < 500; i++)
		sum += new Square(i).area(20);
	for (let i = 0; i < 20; i++) {
		try { sum += thrower(i); } catch (error) { sum += 1; }
	}
	return sum;
}

let sum = 0;
for (;;)
	sum += work();
