<?php
class Square {
	public function __construct(private float $side) {}
	public function area(int $depth): float { return $depth == 0 ? $this->side ** 2 : $this->area($depth - 1) + 1; }
}

function words(): int {
	$all = [];
	for ($i = 0; $i < 500; $i++) $all[] = "word" . ($i * 7919 % 500);
	usort($all, fn($a, $b) => strcmp($b, $a));
	return count(array_filter($all, fn($word) => preg_match('/([a-z]+)(4[0-9]*)/', $word)));
}

function thrower(int $n): int { if ($n % 3 == 0) throw new Exception("third"); return $n; }

function work(): float {
	$sum = words();
	for ($i = 0; $i < 500; $i++) $sum += (new Square($i))->area(20);
	for ($i = 0; $i < 20; $i++) { try { $sum += thrower($i); } catch (Exception $e) { $sum += 1; } }
	return $sum;
}

while (true) work();
