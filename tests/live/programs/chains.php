<?php
// Chains of calls that change every few microseconds. First each function notes the chain that it is on,
// as PHP's own backtrace has it; they are printed as JSON. Then the same goes on until the end.
// SPDX-License-Identifier: GPL-2.0-or-later

$noting = true;
$chains = [];

function p_note() {
	global $noting, $chains;
	if (!$noting)
		return;
	$names = [];
	foreach (array_slice(debug_backtrace(DEBUG_BACKTRACE_IGNORE_ARGS), 1) as $frame) {
		$name = isset($frame['class']) ? $frame['class'] . '::' . $frame['function'] : $frame['function'];
		if (preg_match('/^(p_|P|include$|eval$|\{closure)/', $name))
			array_unshift($names, $name);
	}
	array_unshift($names, '{main}');
	$chains[implode(';', $names)] = true;
}

function p_leaf($n) { p_note(); $s = 0; for ($i = 0; $i < $n; $i++) { $s += $i * $i; } return $s; }
function p_plain($n) { return p_leaf($n) + 1; }
function p_deep($n) { return $n ? p_deep($n - 1) + 1 : p_leaf(50); }
function p_compare($a, $b) { p_leaf(10); return $a <=> $b; }
function p_compare_dropping($a, $b) { $d = new PDropped; p_leaf(5); return $a <=> $b; }
function p_drop() { $d = new PDropped; p_leaf(5); }
function p_throw($n) { $d = new PDropped; if (!$n) { p_leaf(5); throw new Exception('x'); } p_throw($n - 1); }
function p_catch() { try { p_throw(3); } catch (Exception $e) { p_leaf(10); } finally { p_leaf(5); } }
function p_gen($n) { for ($i = 0; $i < $n; $i++) { p_leaf(10); yield $i; } return 3; }
function p_middle($n) { p_leaf(5); $x = yield from p_gen($n); p_leaf(5); yield $x; }
function p_outer($n) { p_leaf(5); yield from p_middle($n); yield from p_gen(2); }
function p_iterate($n) { foreach (p_gen($n) as $x) p_leaf(5); foreach (p_outer($n) as $x) p_leaf(5); }
function p_gen_final() { try { yield 1; yield 2; } finally { p_leaf(10); } }
function p_abandon() { foreach (p_gen_final() as $x) break; }
function p_handler($no, $text) { p_leaf(10); return true; }
function p_warn() { return $undefined + 1; }
function p_nested() {
	return array_map(function ($x) {
		$a = [3, 1, 2];
		usort($a, fn($a, $b) => p_plain(5) * 0 + $a - $b);
		return array_sum(array_map('p_plain', $a));
	}, [1, 2]);
}
function p_variadic(...$a) { return p_leaf(count($a)); }
function p_pattern($n) { p_note(); return preg_match('/^(a|aa)+$/', str_repeat('a', $n) . 'b'); }
function p_fiber() {
	$f = new Fiber(function ($n) { p_plain($n); Fiber::suspend(1); usort($GLOBALS['sorted'], 'p_compare'); });
	$f->start(20);
	$f->resume();
}

class PDropped { function __destruct() { p_leaf(10); } }
trait PTrait { function shared($n) { return p_leaf($n); } }
class PBase {
	use PTrait;
	public $n = 1;
	function inherited($n) { return $this->own($n); }
	function own($n) { return p_leaf($n); }
	static function fixed($n) { return (new static)->inherited($n); }
}
class PChild extends PBase implements ArrayAccess, IteratorAggregate, Countable, JsonSerializable {
	use PTrait;
	function own($n) { return parent::own($n) + $this->shared($n); }
	function __call($name, $args) { return p_leaf($args[0]); }
	static function __callStatic($name, $args) { return p_plain($args[0]); }
	function __get($name) { return p_leaf(5); }
	function __set($name, $value) { p_leaf(5); }
	function __isset($name) { p_leaf(5); return true; }
	function __toString() { p_leaf(5); return 'x'; }
	function __invoke($n) { return p_leaf($n); }
	function offsetExists($at): bool { p_leaf(5); return true; }
	function offsetGet($at): mixed { return p_leaf(5); }
	function offsetSet($at, $value): void { p_leaf(5); }
	function offsetUnset($at): void { p_leaf(5); }
	function getIterator(): Iterator { p_leaf(5); yield from p_gen(2); }
	function count(): int { return p_leaf(3) * 0 + 4; }
	function jsonSerialize(): mixed { return p_leaf(5); }
}

set_error_handler('p_handler');
spl_autoload_register(function ($name) { p_leaf(20); });
$file = tempnam(sys_get_temp_dir(), 'chains');
file_put_contents($file, '<?php p_leaf(10); return p_plain(5);');
$sorted = [4, 2, 9, 1];
do {
	p_leaf(50);
	p_plain(50);
	p_plain(20);
	if ($noting || mt_rand(0, 31) == 0) p_deep(800);
	p_deep(10);
	$a = $sorted;
	usort($a, 'p_compare');
	$a = $sorted;
	usort($a, 'p_compare_dropping');
	p_drop();
	p_catch();
	p_iterate(3);
	p_abandon();
	p_warn();
	p_nested();
	p_variadic(1, 2, 3, 4, 5, 6);
	p_pattern(16);
	p_fiber();
	PBase::fixed(10);
	PChild::fixed(10);
	PChild::missing(10);
	$o = new PChild;
	$o->absent(10);
	$x = $o->field; $o->field = 1; $x = isset($o->field); $x = "$o"; $x = $o(10); $x = $o[1]; $o[2] = 3;
	$x = isset($o[3]); unset($o[4]); $x = count($o); $x = json_encode($o);
	foreach ($o as $x) p_leaf(5);
	include $file;
	eval('p_leaf(10); p_plain(5);');
	class_exists('Missing' . mt_rand(0, 3));
	preg_replace_callback('/a/', function ($m) { p_leaf(10); return 'b'; }, 'aaa');
	call_user_func_array([$o, 'shared'], [10]);
	call_user_func('PBase::fixed', 10);
	(new ReflectionMethod('PBase', 'own'))->invoke($o, 5);
	if ($noting) {
		unlink($file);
		file_put_contents($file, '<?php p_leaf(10); return p_plain(5);');
		$noting = false;
		echo json_encode(array_keys($chains)), "\n";
	}
} while (true);
