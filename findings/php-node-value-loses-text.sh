#!/usr/bin/env bash
# PHP's nodeValue reads its text as XML and loses all of a title with &; textContent of the same element does not.
#
# Version: PHP 8.2.36 (Debian 12: php8.2-xml 8.2.36-1~deb12u1).
#
# Expected: For an element the DOM calls both the same thing to write: text that is escaped when it is saved (in browsers, nodeValue of an element does
# nothing).
#
# Behaviour: Setting nodeValue decodes entities, so that "R&amp;D" is "R&D", and drops the whole text of "R&D lead" with a warning. Setting
# textContent escapes.
#
# Why it matters: The title is empty, not cut: the job is refused for a reason that the data does not show. Programs that escape first
# are right with nodeValue and write &amp;amp; with textContent, so that replacing one by the other changes titles either way.
#
# Seen:
#   R&D lead: nodeValue <t></t>, textContent <t>R&amp;D lead</t>
#   R&amp;D lead: nodeValue <t>R&amp;D lead</t>, textContent <t>R&amp;amp;D lead</t>
#   Cook <night>: nodeValue <t>Cook &lt;night&gt;</t>, textContent <t>Cook &lt;night&gt;</t>

source "$(dirname "$0")/support/prepare.sh"
debian php8.2-cli=8.2.36-1~deb12u1 php8.2-xml=8.2.36-1~deb12u1
cat >program.php <<'PROGRAM'
<?php
error_reporting(0);
foreach (['R&D lead', 'R&amp;D lead', 'Cook <night>'] as $text) {
  $shown = [];
  foreach (['nodeValue', 'textContent'] as $property) {
    $document = new DOMDocument();
    $element = $document->appendChild($document->createElement('t'));
    $element->$property = $text;
    $shown[] = "$property " . str_replace('<t/>', '<t></t>', $document->saveXML($element));
  }
  echo "$text: ", implode(', ', $shown), "\n";
}
PROGRAM
modules="$(echo "$root"/usr/lib/php/2*)"
php8.2 -n -d extension_dir="$modules" -d extension=dom program.php | expect_seen
