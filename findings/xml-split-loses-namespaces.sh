#!/usr/bin/env bash
# xml_split and xml_grep write jobs without the namespaces that the feed declares, so that other tools find none of them.
#
# Version: XML::Twig's tools 3.52 (Debian 12: xml-twig-tools 1:3.52-2), xmllint of libxml2 2.9.14.
#
# Expected: Each part is XML of its own, with the declarations that its names need.
#
# Behaviour: Declarations stay at the root of the feed. A prefix has no meaning in the parts, which is an error, and a default namespace
# is gone without one: the same element has another name, and a search for it finds nothing. xml_merge makes the first feed again.
#
# Why it matters: Large feeds are cut up with these to import jobs one by one. All of a feed with xmlns="…" are skipped as unknown, and those of one
# with a prefix are refused by strict parsers, while lenient ones read "g:pay". Declare namespaces in each job.
#
# Seen:
#   default namespace: 2 jobs in the feed, 0 in the parts of xml_split, 0 in the answer of xml_grep
#   xml_merge of the parts: 2 jobs
#   prefix: the part of job 1 is refused: Namespace prefix g on pay is not defined

source "$(dirname "$0")/support/prepare.sh"
debian xml-twig-tools=1:3.52-2 libxml2-utils=2.9.14+dfsg-1.3~deb12u6
jobs() { echo '<job id="1"><pay>20</pay></job><job id="2"><pay>21</pay></job>'; }
count() { for file; do xmllint --xpath "count(//*[local-name()='job' and namespace-uri()='urn:jobs'])" "$file"; done | awk '{ sum += $1 } END { print sum }'; }
echo "<jobs xmlns=\"urn:jobs\">$(jobs)</jobs>" >default.xml
echo "<jobs xmlns:g=\"urn:jobs\">$(jobs | sed 's/pay>/g:pay>/g')</jobs>" >prefix.xml
xml_split default.xml
xml_split prefix.xml
xml_grep job default.xml >found.xml
xml_merge default-00.xml >merged.xml
{
  echo "default namespace: $(count default.xml) jobs in the feed, $(count default-01.xml default-02.xml) in the parts of xml_split, $(count found.xml) in the answer of xml_grep"
  echo "xml_merge of the parts: $(count merged.xml) jobs"
  echo "prefix: the part of job 1 is refused: $(xmllint --noout prefix-01.xml 2>&1 | sed -n 's/.*namespace error : //p')"
} | expect_seen
