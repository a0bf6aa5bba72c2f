#!/usr/bin/env bash
# Perl's JSON writes a key without quotes once it was compared with == or sorted by number.
#
# Version: JSON::PP 4.07 (in Perl 5.36, Debian 12).
#
# Expected: A value that was read as a string is written as a string; comparing it does not change it.
#
# Behaviour: Perl notes the number beside the text of a variable when it is used as one, and JSON::PP writes a variable with a number as
# a number if its text is that number. "0071" and "1e5" stay strings.
#
# Why it matters: Sorting a feed changes the types of some keys and of others not, in one document. Readers whose keys are typed, or that read numbers of
# 17 digits as doubles, see other keys.
#
# Seen:
#   before: ["0071","72","1e5","12345678901234567"]
#   sorted: ["0071",72,"1e5",12345678901234567]

source "$(dirname "$0")/support/prepare.sh"
cat >program.pl <<'PROGRAM'
use JSON::PP;
my $json = JSON::PP->new;
my $ids = $json->decode('["0071","72","1e5","12345678901234567"]');
print 'before: ', $json->encode($ids), "\n";
my @sorted = sort { $a <=> $b } @$ids;
print 'sorted: ', $json->encode($ids), "\n";
PROGRAM
perl program.pl | expect_seen
