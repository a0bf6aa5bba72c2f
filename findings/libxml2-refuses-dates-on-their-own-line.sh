#!/usr/bin/env bash
# libxml2 finds a feed invalid once xml-formatter has put its dates on lines of their own; Xerces and xmlschema do not.
#
# Version: libxml2 2.9.14 in xmllint, lxml 4.9.2, PHP 8.2 and Nokogiri 1.13.10; Xerces-C 3.2.4, python3-xmlschema 1.10.0 (all Debian 12); npm:
# xml-formatter 3.7.0.
#
# Expected: XML Schema takes blanks and line breaks beside a date, time or duration away before it looks at it, as for numbers (whiteSpace: collapse).
#
# Behaviour: libxml2 does so for numbers, addresses and languages, and not for date, dateTime, gYearMonth and duration. The formatter puts each text on
# a line of its own, unless told collapseContent.
#
# Why it matters: A feed that its author has checked with Xerces, or before it was formatted, is refused as a whole by a board that checks it with
# lxml, PHP or Nokogiri; the message shows a date that looks right. Write dates without blanks, and trim them before a check.
#
# Seen:
#   xmllint, written.xml: valid
#   xmllint, formatted.xml: date dateTime gYearMonth duration
#   lxml, written.xml: valid
#   lxml, formatted.xml: date dateTime gYearMonth duration
#   PHP, written.xml: valid
#   PHP, formatted.xml: date dateTime gYearMonth duration
#   Nokogiri, written.xml: valid
#   Nokogiri, formatted.xml: date dateTime gYearMonth duration
#   Xerces, written.xml: valid
#   Xerces, formatted.xml: valid
#   xmlschema, written.xml: valid
#   xmlschema, formatted.xml: valid

source "$(dirname "$0")/support/prepare.sh"
debian libxml2-utils=2.9.14+dfsg-1.3~deb12u6 python3=3.11.2-1+b1 python3-lxml=4.9.2-1+deb12u1 php8.2-cli=8.2.36-1~deb12u1 php8.2-xml=8.2.36-1~deb12u1 \
  ruby=1:3.1 ruby-nokogiri=1.13.10+dfsg-2+b1 libxerces-c-samples=3.2.4+debian-1 python3-xmlschema=1.10.0-6
npm_packages xml-formatter@3.7.0
types='date dateTime gYearMonth duration decimal anyURI'
{
  echo '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="job"><xs:complexType><xs:all>'
  for type in $types; do echo "<xs:element name=\"$type\" type=\"xs:$type\"/>"; done
  echo '</xs:all></xs:complexType></xs:element></xs:schema>'
} >job.xsd
echo '<job xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:noNamespaceSchemaLocation="job.xsd"><date>2026-10-01</date><dateTime>2026-10-01T09:00:00Z</dateTime><gYearMonth>2026-10</gYearMonth><duration>P1Y</duration><decimal>20.10</decimal><anyURI>https://jobs.example/7</anyURI></job>' >written.xml
node -e 'console.log(require("xml-formatter")(require("fs").readFileSync("written.xml", "utf8")))' >formatted.xml
cat >of-lxml.py <<'PROGRAM'
import sys
from lxml import etree
schema = etree.XMLSchema(file="job.xsd")
schema.validate(etree.parse(sys.argv[1]))
print("\n".join(each.message for each in schema.error_log))
PROGRAM
cat >of-xmlschema.py <<'PROGRAM'
import sys
import xmlschema
for error in xmlschema.XMLSchema("job.xsd").iter_errors(sys.argv[1]):
    print(f"Element '{error.elem.tag}'")
PROGRAM
cat >program.php <<'PROGRAM'
<?php
libxml_use_internal_errors(true);
$document = new DOMDocument();
$document->load($argv[1]);
$document->schemaValidate('job.xsd');
foreach (libxml_get_errors() as $error) echo $error->message, "\n";
PROGRAM
cat >program.rb <<'PROGRAM'
require 'nokogiri'
puts Nokogiri::XML::Schema(File.read('job.xsd')).validate(Nokogiri::XML(File.read(ARGV[0])))
PROGRAM
show() {
  local name="$1" file found
  shift
  for file in written.xml formatted.xml; do
    found="$("$@" "$file" 2>&1 | grep -oE "Element '[a-zA-Z]+'|invalid [a-zA-Z]+" | sed "s/.* //; s/'//g" | awk '!seen[$0]++' | paste -s -d ' ' || true)"
    echo "$name, $file: ${found:-valid}"
  done
}
{
  show xmllint xmllint --noout --schema job.xsd
  show lxml /usr/bin/python3 of-lxml.py
  show PHP php8.2 -n -d extension_dir="$(dirname "$root"/usr/lib/php/*/dom.so)" -d extension=dom program.php
  show Nokogiri ruby -I "$root/usr/lib/ruby/vendor_ruby" -I "$root/usr/lib/x86_64-linux-gnu/ruby/vendor_ruby/3.1.0" program.rb
  show Xerces DOMCount -v=always -n -s -f
  show xmlschema /usr/bin/python3 of-xmlschema.py
} | expect_seen
