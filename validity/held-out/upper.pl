use strict;
my $text = join(' ', map { "word$_" } 1 .. 200_000) x 8;
my $total = 0;
for my $i (1 .. 10) {
    my $copy = uc $text;
    $copy .= reverse $text;
    $total += length $copy;
    undef $copy;
}
print "$total\n";
