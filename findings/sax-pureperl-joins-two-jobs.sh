#!/usr/bin/env bash
# XML::SAX::PurePerl makes one job of two where ]]> lies across the end of its buffer: 2,996 of 3,000, without an error.
#
# Version: XML::SAX::PurePerl of XML::SAX 1.02 (Debian 12: libxml-sax-perl 1.02+dfsg-3), with XML::SAX::Expat 0.51 to compare.
#
# Expected: All jobs of well-formed XML, as Expat reads them.
#
# Behaviour: In CDATA it looks for ]]> in each buffer of 4096 bytes alone. If the end of CDATA is divided, it is not found, and all until the next
# ]]> is text: the end of this description, and the tags and the title of the next job. Which jobs these are depends on each byte before them, as
# here on the name of the source.
#
# Why it matters: PurePerl is what XML::SAX uses where no other parser is installed. One job in a thousand is missing, others each day, so that
# a mirror deletes and creates jobs at random; and the one before shows markup. Install XML::SAX::Expat or XML::LibXML.
#
# Seen:
#   source A: Expat 3000 jobs, PurePerl 3000, without none
#   source AB: Expat 3000 jobs, PurePerl 2996, without Nurse 1154, Nurse 1666, Nurse 2178, Nurse 2690
#     text of Nurse 1153: <p>Days</p>]]></text></job><job><title>Nurse 1154</title><text><![CDATA[<p>Days</p>
#   source ABCD: Expat 3000 jobs, PurePerl 2999, without Nurse 810
#     text of Nurse 809: <p>Days</p>]]></text></job><job><title>Nurse 810</title><text><![CDATA[<p>Days</p>

source "$(dirname "$0")/support/prepare.sh"
debian libxml-sax-perl=1.02+dfsg-3 libxml-sax-expat-perl=0.51-2
cat >program.pl <<'PROGRAM'
use strict;
use XML::SAX::Expat;
use XML::SAX::PurePerl;

package Jobs;
use base 'XML::SAX::Base';
sub start_element { $_[0]{buffer} = '' }
sub characters { $_[0]{buffer} .= $_[1]{Data} }
sub end_element {
    my ($self, $element) = @_;
    $self->{title} = $self->{buffer} if $element->{Name} eq 'title';
    $self->{jobs}{ $self->{title} } = $self->{buffer} if $element->{Name} eq 'text';
}

package main;
sub parse {
    my ($parser) = @_;
    my $handler = Jobs->new;
    open my $file, '<', 'feed.xml';
    $parser->new(Handler => $handler)->parse_file($file);
    return $handler->{jobs};
}
for my $source ('A', 'AB', 'ABCD') {
    open my $feed, '>', 'feed.xml';
    print $feed "<jobs><source>$source</source>";
    print $feed "<job><title>Nurse $_</title><text><![CDATA[<p>Days</p>]]></text></job>" for 1 .. 3000;
    print $feed '</jobs>';
    close $feed;
    my ($all, $some) = (parse('XML::SAX::Expat'), parse('XML::SAX::PurePerl'));
    my @missing = sort { substr($a, 6) <=> substr($b, 6) } grep { !exists $some->{$_} } keys %$all;
    printf "source %s: Expat %d jobs, PurePerl %d, without %s\n", $source, scalar keys %$all, scalar keys %$some, join(', ', @missing) || 'none';
    next if !@missing;
    my $before = $missing[0] =~ s/(\d+)/$1 - 1/er;
    print "  text of $before: $some->{$before}\n";
}
PROGRAM
perl program.pl | expect_seen
