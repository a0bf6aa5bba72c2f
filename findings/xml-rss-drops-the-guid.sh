#!/usr/bin/env bash
# XML::RSS leaves out the guid where an item also has a permanent link.
#
# Version: XML::RSS 1.62 (Debian 12: libxml-rss-perl 1.62-1), RSS 2.0.
#
# Expected: An item with a guid and a link has both.
#
# Behaviour: With `permaLink` the element guid is the address, and the given `guid` is left out without an error.
#
# Why it matters: The key of the jobs is then an address. It changes when the site moves, and every job is deleted and made again.
#
# Seen:
#   <guid isPermaLink="false">R-7</guid>
#   <guid isPermaLink="true">https://jobs.example/nurse</guid>

source "$(dirname "$0")/support/prepare.sh"
debian libxml-rss-perl=1.62-1

cat >program.pl <<'PROGRAM'
use XML::RSS;
for my $more ({}, { permaLink => 'https://jobs.example/nurse' }) {
  my $rss = XML::RSS->new(version => '2.0');
  $rss->channel(title => 'Jobs', link => 'https://jobs.example', description => 'Jobs');
  $rss->add_item(title => 'Nurse', link => 'https://jobs.example/nurse', guid => 'R-7', %$more);
  print "$1\n" if $rss->as_string =~ /(<guid.*<\/guid>)/;
}
PROGRAM
perl program.pl | expect_seen
