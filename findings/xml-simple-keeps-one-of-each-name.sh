#!/usr/bin/env bash
# XML::Simple keeps one of all jobs that have the same element "name".
#
# Version: XML::Simple 2.25 (Debian 12: libxml-simple-perl 2.25-2).
#
# Expected: A list of jobs is read as a list, and written as one.
#
# Behaviour: By default lists whose elements have name, key or id become hashes by it (KeyAttr): of several with one name the last stays. Which
# of the three it is depends on what the elements have. Written again, the elements are attributes.
#
# Why it matters: A filter of a feed in a few lines of Perl, for years right with <title>, loses jobs once an element is called <name>.
# There is no warning unless `use warnings` is on.
#
# Seen:
#   two of one name
#   <jobs>
#     <job name="Nurse" id="2" />
#   </jobs>
#   two of one title
#   <jobs>
#     <job name="1" title="Nurse" />
#     <job name="2" title="Nurse" />
#   </jobs>

source "$(dirname "$0")/support/prepare.sh"
debian libxml-simple-perl=2.25-2 libxml-parser-perl=2.46-4+deb12u1
cat >program.pl <<'PROGRAM'
use XML::Simple;
$XML::Simple::PREFERRED_PARSER = 'XML::Parser';
for my $element ('name', 'title') {
  print "two of one $element\n";
  my $jobs = join '', map { "<job><id>$_</id><$element>Nurse</$element></job>" } 1, 2;
  print XMLout(XMLin("<jobs>$jobs</jobs>"), RootName => 'jobs');
}
PROGRAM
perl program.pl | expect_seen
