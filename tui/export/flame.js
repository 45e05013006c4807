// SPDX-License-Identifier: GPL-2.0-or-later
// What a flame graph does when it is opened in a browser: zoom, search, and a line of details. It
// reads the drawing, which holds everything: with scripts off there is a picture with tooltips.
// Names are only ever written as text.
"use strict";
(function () {
	// The drawing is WIDTH wide; what is shown is as wide as the window, and so is each frame's
	// share of it, while text keeps its size.
	var WIDTH = 1200, CHAR = 7.3, ROW = 17, EPSILON = 1e-6;
	var id = function (name) { return document.getElementById(name); };
	var frames = [].map.call(document.querySelectorAll("g.f"), function (group) {
		var rect = group.querySelector("rect");

		return {
			group: group,
			rect: rect,
			text: group.querySelector("text"),
			lines: group.querySelector("title").textContent.split("\n"),
			x: parseFloat(rect.getAttribute("x")),
			width: parseFloat(rect.getAttribute("width")),
			y: parseFloat(rect.getAttribute("y")),
			matched: false
		};
	});
	var root = frames[0], zoomed = root;
	var picture = root.group.ownerSVGElement, shown = WIDTH;

	function level(frame) {
		return Math.round(Math.abs(frame.y - root.y) / ROW);
	}

	function label(frame, width) {
		var room = Math.floor((width - 6) / CHAR), name = Array.from(frame.lines[0]);

		if (room < 3)
			return "";
		return name.length <= room ? frame.lines[0] : name.slice(0, room - 2).join("") + "..";
	}

	function show(frame, x, width) {
		var text = label(frame, width);

		frame.rect.setAttribute("x", x);
		frame.rect.setAttribute("width", width);
		if (!frame.text && text) {
			frame.text = document.createElementNS("http://www.w3.org/2000/svg", "text");
			frame.text.setAttribute("y", frame.y + 12);
			frame.rect.parentNode.appendChild(frame.text);
		}
		if (frame.text) {
			frame.text.setAttribute("x", x + 3);
			frame.text.textContent = text;
		}
	}

	function mark(frame, hidden, outer) {
		frame.group.setAttribute("class", "f" + (hidden ? " h" : "") + (outer ? " d" : "") +
			(frame.matched ? " m" : ""));
	}

	function zoom(to) {
		var scale = shown / to.width, depth = level(to), end = to.x + to.width;

		zoomed = to;
		frames.forEach(function (frame) {
			var inside = frame.x >= to.x - EPSILON && frame.x + frame.width <= end + EPSILON;
			var around = frame.x <= to.x + EPSILON && frame.x + frame.width >= end - EPSILON;

			if (level(frame) >= depth && inside) {
				show(frame, (frame.x - to.x) * scale, frame.width * scale);
				mark(frame, false, false);
			} else if (level(frame) < depth && around) {
				show(frame, 0, shown);
				mark(frame, false, true);
			} else {
				mark(frame, true, false);
			}
		});
		id("reset").setAttribute("class", to === root ? "h" : "key");
	}

	// Of frames in one another only the outermost counts.
	function search(term) {
		var end = -1, sum = 0, pattern;

		try {
			pattern = new RegExp(term, "i");
		} catch (error) {
			pattern = {test: function (name) { return name.indexOf(term) >= 0; }};
		}
		frames.forEach(function (frame) {
			frame.matched = term !== "" && frame !== root && pattern.test(frame.lines[0]);
			if (frame.matched && frame.x >= end - EPSILON) {
				sum += frame.width;
				end = frame.x + frame.width;
			}
		});
		id("matched").textContent = term === "" ? "" :
			"matched: " + (100 * sum / WIDTH).toFixed(2) + " %";
		zoom(zoomed);
	}

	function ask() {
		var term = window.prompt("Search (a regular expression, any case; nothing: no search)", "");

		if (term !== null)
			search(term);
	}

	// Without a viewBox a unit is a pixel.
	function fit() {
		var width;

		picture.setAttribute("width", "100%");
		width = picture.getBoundingClientRect().width;
		if (!width || width === shown)
			return;
		picture.removeAttribute("viewBox");
		shown = width;
		zoom(zoomed);
	}

	frames.forEach(function (frame) {
		frame.group.addEventListener("click", function () { zoom(frame); });
		frame.group.addEventListener("mouseover", function () {
			id("info").textContent = frame.lines.join("   ");
		});
		frame.group.addEventListener("mouseout", function () { id("info").textContent = ""; });
	});
	id("reset").addEventListener("click", function () { zoom(root); });
	id("search").addEventListener("click", ask);
	id("search").setAttribute("class", "key");
	window.addEventListener("keydown", function (event) {
		if (event.key === "/" || event.key === "F3" || (event.ctrlKey && event.key === "f")) {
			event.preventDefault();
			ask();
		} else if (event.key === "Escape") {
			zoom(root);
		}
	});
	window.addEventListener("resize", function () { window.requestAnimationFrame(fit); });
	fit();
	// A link may lead to a search or a frame: flame.svg#search=malloc, flame.svg#zoom=main.
	var wish = /^#(search|zoom)=(.*)$/.exec(decodeURIComponent(window.location.hash));

	if (wish && wish[1] === "search")
		search(wish[2]);
	if (wish && wish[1] === "zoom")
		frames.filter(function (frame) { return frame.lines[0] === wish[2]; }).slice(0, 1)
			.forEach(zoom);
}());
