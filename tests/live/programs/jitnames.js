// SPDX-License-Identifier: GPL-2.0-or-later
// Functions with known names, too big to be inlined: main calls hotOuter calls hotInner, which spins
// for 19 of 20 parts of the time; the rest goes to new functions, so that the runtime flushes its
// buffers of names.
'use strict';

function hotInner(n) {
  let s = n;
  for (let i = 0; i < n; i++) s = (s * 31 + i) | 0;
  return s;
}

function hotOuter(n) {
  let s = 0;
  for (let i = 0; i < 50; i++) {
    s ^= hotInner(n);
    s += i;
  }
  return s;
}
%NeverOptimizeFunction(hotOuter);

let sink = 0;
let round = 0;
const end = Date.now() + 600000;
while (Date.now() < end) {
  sink ^= hotOuter(20000);
  const other = new Function('n', `let s = ${round++}; for (let i = 0; i < n; i++) s = (s * 7 + i) | 0; return s;`);
  for (let i = 0; i < 300; i++) sink ^= other(10);
}
