my @all = map { { id => $_, name => "record $_", tags => [ $_ % 7, $_ % 11 ] } } 1 .. 120_000;
my %by; push @{ $by{ $_->{tags}[0] } }, $_->{name} for @all;
print scalar(keys %by), " ", length(join("", map { @$_ } values %by)), "\n";
