// SPDX-License-Identifier: GPL-2.0-or-later
//
// Frames of a real JIT compiler: ten calls of down and spin, each compiled to code of its own, called
// by the module loader. V8 itself prints their number.

function spin() {
	let x = 1;
	for (;;)
		x = (x * 31 + 7) | 0;
}

function down(n) {
	if (n)
		return down(n - 1) + n;
	Error.stackTraceLimit = 1000;
	require("fs").writeSync(1, `${new Error().stack.split("\n").length}\n`);
	return spin();
}

down(9);
