use strict;
use warnings;

package Square;
sub new { my ($class, $side) = @_; return bless { side => $side }, $class; }
sub area { my ($self, $depth) = @_; no warnings 'recursion'; return $depth == 0 ? $self->{side} ** 2 : $self->area($depth - 1) + 1; }

package main;

sub words {
	my @all = map { "word" . ($_ * 7919 % 500) } 0 .. 499;
	my %counts;
	for my $word (sort { $b cmp $a } @all) {
		$counts{$1}++ if $word =~ /([a-z]+4[0-9]*)/;
	}
	return scalar keys %counts;
}

sub work {
	my $sum = words();
	$sum += Square->new($_)->area(20) for 0 .. 200;
	$sum += eval { die "third\n" if $_ % 3 == 0; 1 } // 0 for 0 .. 20;
	return $sum;
}

work() while 1;
