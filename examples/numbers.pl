# numbers: fills a hash, sorts its keys by their values, joins these, and counts digits that are repeated.
use strict;
use warnings;

my %value;
$value{$_ * 7919 % 10007} .= $_ for 1 .. 20000;
my @key = sort { $value{$a} cmp $value{$b} } keys %value;
my $text = join ',', map { $value{$_} } @key;
my $count = 0;
$count++ while $text =~ /(\d)\1/g;
print "$count\n";
