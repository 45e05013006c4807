# Chains of calls that change every few microseconds. First each sub notes the chain that it is on, as
# Perl's own caller has it; they are printed as JSON. Then the same goes on until the end.
# SPDX-License-Identifier: GPL-2.0-or-later
use strict;
no warnings;
use List::Util qw(any first reduce);

our ($noting, %chains) = (1);
my ($tied, $object);
my $dumps = eval { require Data::Dumper };

sub p_note {
	return if !$noting;
	my @names;
	for (my $at = 1; my @call = caller($at); $at++) {
		# an eval of a text or of a file has one, eval {} has none
		next if $call[3] eq '(eval)' && !defined $call[6];
		unshift @names, $call[3];
	}
	$chains{join ';', '(main)', @names} = 1;
}

sub p_leaf { my $n = shift; p_note() if $noting; my $s = 0; for (my $i = 0; $i < $n; $i++) { $s += $i * $i } return $s }
sub p_plain { return p_leaf($_[0]) + 1 }
sub p_deep { my $n = shift; return $n ? p_deep($n - 1) + 1 : p_leaf(30) }
sub p_compare { p_leaf(5); return $a <=> $b }
sub p_eval { my $x = eval { p_plain(5) }; return $x }
sub p_die { my $o = PDropped->new; my $n = shift; if (!$n) { p_leaf(5); die "x\n" } p_die($n - 1) }
sub p_catch { eval { p_die(3); 1 } or p_leaf(5) }
sub p_eval_compare { eval { p_plain(3); eval { p_leaf(3) }; p_drop() }; return $a <=> $b }
sub p_drop { my $o = PDropped->new; p_leaf(3) }
sub p_goto { @_ = (5); goto &p_plain }
sub p_closure { my $k = shift; return sub { p_leaf(5) + $k } }
sub p_local { local $_ = 3; for my $x (1 .. 3) { p_leaf($x) if $x > 1 } }
sub p_regex { my $t = 'aaa'; $t =~ s/a/p_leaf(3)/ge; 'abc' =~ /b(?{ p_leaf(5) })c/ }
sub p_lines { my @l = map { p_leaf(3) } grep { p_leaf(2) || 1 } 1, 2; return scalar @l }
sub p_text { return eval 'p_leaf(5); p_plain(3)' }
sub p_sort { my @x = sort { p_leaf(5); $a <=> $b } 3, 1, 2; @x = sort p_compare 3, 1, 2; @x = sort p_eval_compare 2, 1; return @x }
sub p_wantarray { my @x = (p_plain(3), p_leaf(3)); return @x }
sub p_warn { local $SIG{__WARN__} = sub { p_leaf(5) }; warn 'x' }
sub p_last {
	my @x = sort { p_plain(3) } 3, 1, 2;
	@x = sort { p_leaf(1) < 0 || p_compare() } 3, 1, 2;
	@x = sort { "$object" cmp p_plain(2) } 2, 1;
	'abc' =~ /b(?{ p_leaf(1) && p_plain(5) })c/;
}
# The loop of the block has no sub: the eval has one of its own.
sub p_eval_last { my @x = sort { eval { p_leaf(3) } } 2, 1; @x = sort { eval 'p_leaf(3)' } 2, 1; return @x }
sub p_through { my $n = shift; return p_leaf(5) if !$n; my @x = sort { p_through($n - 1) } 2, 1; return p_leaf(1) }
sub p_after { eval { p_leaf(2) }; p_plain(3); my @x = sort { p_leaf(2); eval { p_leaf(2) }; p_plain(2) } 2, 1; return "$object" }
sub p_signal { local $SIG{USR1} = sub { p_leaf(5) }; kill USR1 => $$; return p_leaf(3) }
sub p_any { return any { p_last() if $_ == 1; p_leaf(2); 0 } 1, 2 }
sub p_begin { return eval 'BEGIN { p_plain(3) } p_leaf(3)' }
sub p_dump { local $Data::Dumper::Freezer = 'freeze'; return Data::Dumper::Dumper(PBase->new) }
sub p_hook { local $SIG{__DIE__} = sub { p_leaf(5) }; eval { die 'x' } }

package PDropped;
sub new { return bless {}, shift }
sub DESTROY { main::p_leaf(5); eval { main::p_leaf(3) } }
package PBase;
sub new { return bless { n => 3 }, shift }
sub freeze { main::p_leaf(5); eval { main::p_leaf(2) } }
sub inherited { my ($self, $n) = @_; return $self->own($n) }
sub own { return main::p_leaf($_[1]) }
package PChild;
our @ISA = ('PBase');
our $AUTOLOAD;
sub own { my ($self, $n) = @_; return $self->SUPER::own($n) + main::p_leaf(2) }
sub AUTOLOAD { return if $AUTOLOAD =~ /DESTROY/; return main::p_leaf(3) }
use overload '+' => sub { main::p_leaf(5) }, '""' => \&text, 'cmp' => sub { "$_[0]"; main::p_leaf(3) }, 'bool' => sub { 1 };
sub text { main::p_leaf(5); return 'x' }
package PTied;
sub TIESCALAR { return bless [], shift }
sub FETCH { main::p_leaf(5); eval { main::p_plain(3) }; return 1 }
sub STORE { main::p_leaf(5) }
package main;

tie $tied, 'PTied';
$object = PChild->new;
my $closure = p_closure(3);
my $x;
do {
	p_leaf(30);
	p_plain(30);
	p_deep(800) if $noting || rand(64) < 1;
	p_deep(10);
	p_eval();
	p_catch();
	p_drop();
	p_goto();
	$closure->();
	p_closure(2)->();
	p_local();
	p_regex();
	p_lines();
	p_text();
	p_sort();
	p_wantarray();
	p_warn();
	p_hook();
	p_last();
	p_eval_last();
	p_through(3);
	$x = (sort { p_after() } 2, 1)[0];
	p_after();
	p_signal();
	p_any();
	p_begin();
	p_dump() if $dumps;
	$object->inherited(5);
	PBase->new->inherited(5);
	$object->missing(3);
	$x = $object + 1; $x = "$object"; $x = $object cmp 'y';
	$x = $tied; $tied = 2;
	eval { $x = $tied; p_leaf(3) };
	$x = first { p_leaf(3); $_ == 2 } 1, 2, 3;
	$x = reduce { p_plain(3); $a + $b } 1, 2, 3;
	eval 'p_text()';
	if ($noting) {
		$noting = 0;
		$| = 1;
		print '[', join(',', map { "\"$_\"" } keys %chains), "]\n";
	}
} while (1);
