#!/usr/bin/env bash
# PHP's XMLWriter writes ]]> into a CDATA section as it is; PHP's DOM divides the section.
#
# Version: PHP 8.2.36 (Debian 12: php8.2-xml 8.2.36-1~deb12u1), both with libxml2 2.9.14.
#
# Expected: Two writers of one language, on one library, treat the only text that a CDATA section cannot have alike: two sections, or an error.
#
# Behaviour: writeCdata returns true, and the section ends in the middle of the text. The document is not well-formed.
#
# Why it matters: Descriptions are usually put into CDATA. A single one that shows code or an array access ends the feed for every XML
# parser at that place: whoever reads until the error has a part of the jobs.
#
# Seen:
#   DOM: <d><![CDATA[if (a[b[0]]]]><![CDATA[> 1)]]></d>
#   XMLWriter: <d><![CDATA[if (a[b[0]]> 1)]]></d>
#   libxml2 reads that of DOM: if (a[b[0]]> 1)
#   libxml2 reads that of XMLWriter: Sequence ']]>' not allowed in content

source "$(dirname "$0")/support/prepare.sh"
debian php8.2-cli=8.2.36-1~deb12u1 php8.2-xml=8.2.36-1~deb12u1
cat >program.php <<'PROGRAM'
<?php
libxml_use_internal_errors(true);
$text = 'if (a[b[0]]> 1)';
$document = new DOMDocument();
$document->appendChild($document->createElement('d'))->appendChild($document->createCDATASection($text));
$dom = $document->saveXML($document->documentElement);
$writer = new XMLWriter();
$writer->openMemory();
$writer->startElement('d');
$writer->writeCdata($text);
$writer->endElement();
$written = $writer->outputMemory();
echo "DOM: $dom\nXMLWriter: $written\n";
foreach (['DOM' => $dom, 'XMLWriter' => $written] as $name => $xml) {
  $read = simplexml_load_string($xml);
  echo "libxml2 reads that of $name: ", $read === false ? trim(libxml_get_errors()[0]->message) : $read, "\n";
}
PROGRAM
modules="$(echo "$root"/usr/lib/php/2*)"
php8.2 -n -d extension_dir="$modules" -d extension=dom -d extension=simplexml -d extension=xmlwriter program.php | expect_seen
