# SPDX-License-Identifier: GPL-2.0-or-later
#
# Work of many kinds for verify_step, which looks at a part of it, without end.
use strict;
use warnings;
use List::Util qw(sum shuffle);
use Data::Dumper;

my $turn = 0;
while (1) {
    $turn++;
    my %seen = map { $_ => $_ * 1.5 } 1 .. 50;
    my @sorted = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } shuffle keys %seen;
    my $text = sprintf '%s %.3e %s', join(',', @sorted), sum(values %seen) / 7, 'x' x ($turn % 90);
    $text =~ s/(\d+),(\d+)/$2-$1/g;
    eval { die { turn => $turn } if $turn % 8 == 1; local $SIG{ALRM} = sub { die }; };
    my $copy = Dumper(\%seen, [split /-/, $text]);
    my @packed = unpack 'N*', pack 'N*', map { crypt_like($_) } unpack 'C*', substr $copy, 0, 60;
    open my $file, '<', $0 or die;
    my $lines = () = <$file>;
    close $file;
    my $date = localtime($turn * 86400);
}

sub crypt_like { my ($n) = @_; return $n < 2 ? $n : $n * 31 % 997 + crypt_like($n >> 1); }
