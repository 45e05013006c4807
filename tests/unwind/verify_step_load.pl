# SPDX-License-Identifier: GPL-2.0-or-later
#
# Endless work of many kinds for verify_step, which runs through a part of it. Between any two kinds is
# a system call, since verify_step can let a program run freely for a number of them.
use strict;
use warnings;
use List::Util qw(sum shuffle);
use Data::Dumper;

$SIG{ALRM} = sub { };
my $turn = 0;
while (1) {
    $turn++;
    my %seen = map { $_ => $_ * 1.5 } 1 .. 50;
    between();
    my @sorted = sort { $seen{$b} <=> $seen{$a} || $a cmp $b } shuffle keys %seen;
    between();
    my $text = sprintf '%s %.3e %s', join(',', @sorted), sum(values %seen) / 7, 'x' x ($turn % 90);
    between();
    $text =~ s/(\d+),(\d+)/$2-$1/g;
    between();
    eval { die { turn => $turn } if $turn % 8 == 1; local $SIG{ALRM} = sub { $_[0] }; };
    between();
    my $copy = Dumper(\%seen, [split /-/, $text]);
    between();
    my @packed = unpack 'N*', pack 'N*', map { crypt_like($_) } unpack 'C*', substr $copy, 0, 60;
    between();
    open my $file, '<', $0 or die;
    my $lines = () = <$file>;
    close $file;
    my $date = localtime($turn * 86400);
    between();
}

sub between { return getppid }

sub crypt_like { my ($n) = @_; return $n < 2 ? $n : $n * 31 % 997 + crypt_like($n >> 1); }
