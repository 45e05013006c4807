using System;
using System.Collections.Generic;
using System.Text.RegularExpressions;

abstract class Shape { public abstract double Area(int depth); }

class Square : Shape {
	readonly double side;
	public Square(double side) { this.side = side; }
	public override double Area(int depth) { return depth == 0 ? side * side : Area(depth - 1) + 1; }
}

static class Zoo {
	static int Thrower(int n) { if (n % 3 == 0) throw new Exception("third"); return n; }

	static int Words() {
		var all = new List<string>();
		for (int i = 0; i < 500; i++) all.Add("word" + i * 7919 % 500);
		all.Sort((a, b) => string.CompareOrdinal(b, a));
		int found = 0;
		foreach (var word in all) if (Regex.IsMatch(word, "([a-z]+)(4[0-9]*)")) found++;
		return found;
	}

	static double Work() {
		double sum = Words();
		for (int i = 0; i < 500; i++) sum += new Square(i).Area(20);
		for (int i = 0; i < 10; i++) { try { sum += Thrower(i); } catch (Exception) { sum += 1; } }
		return sum;
	}

	static void Main() { double sum = 0; for (;;) sum += Work(); }
}
