import std.algorithm, std.array, std.conv, std.random, std.regex;
import core.thread;

interface Shape { double area(int depth); }
class Square : Shape {
    double side;
    this(double s) { side = s; }
    double area(int depth) { pragma(inline, false); return depth ? area(depth - 1) + 1 : side * side; }
}

string[] words() {
    pragma(inline, false);
    string[] all;
    foreach (i; 0 .. 500) all ~= "word" ~ to!string(i * 7919 % 500);
    sort!((a, b) => a > b)(all);
    return all;
}

int thrower(int n) { pragma(inline, false); if (n % 3 == 0) throw new Exception("third"); return n; }

double work() {
    pragma(inline, false);
    Shape[] shapes;
    double sum = 0;
    foreach (i; 0 .. 500) shapes ~= new Square(i);
    foreach (s; shapes) sum += s.area(10);
    sum += words().length;
    foreach (i; 0 .. 20) { try sum += thrower(i); catch (Exception e) sum += 1; }
    return sum;
}

void main() {
    double sum = 0;
    auto fiber = new Fiber({ for (;;) { sum += work(); Fiber.yield(); } }, 256 * 1024);
    for (;;) { sum += work(); fiber.call(); }
}
