#!/usr/bin/env bash
# PHP's loadHTML and xmllint --html remove </p> and </b> from the JSON-LD in a page; lxml, on the same library, does not.
#
# Version: PHP 8.2.36 DOM, xmllint and lxml 4.9.2 with libxml2 2.9.14 (Debian 12: php8.2-xml 8.2.36-1~deb12u1, libxml2-utils
# 2.9.14+dfsg-1.3~deb12u6, python3-lxml 4.9.2-1+deb12u1).
#
# Expected: The content of a script ends at </script> (HTML, 13.2.5.4), so that JSON in it is read as it is.
#
# Behaviour: libxml2 takes any end tag in a script for a mistake, and drops it. What is left is valid JSON: all of a description behind "Pay"
# becomes bold, and its paragraphs are never closed. lxml's mode of recovery keeps the end tags.
#
# Why it matters: Job pages have JobPosting as JSON-LD for Google, with HTML in its description. The mirror of one reader differs from
# that of the other in every job, and nothing fails.
#
# Seen:
#   PHP: <p><b>Pay: 20<p>Work
#   xmllint: <p><b>Pay: 20<p>Work
#   lxml: <p><b>Pay</b>: 20</p><p>Work</p>

source "$(dirname "$0")/support/prepare.sh"
debian php8.2-cli=8.2.36-1~deb12u1 php8.2-xml=8.2.36-1~deb12u1 libxml2-utils=2.9.14+dfsg-1.3~deb12u6 libxml2=2.9.14+dfsg-1.3~deb12u6 python3-lxml=4.9.2-1+deb12u1
cat >page.html <<'PAGE'
<!DOCTYPE html><html><head><title>Nurse</title><script type="application/ld+json">
{"@type":"JobPosting","title":"Nurse","description":"<p><b>Pay</b>: 20</p><p>Work</p>"}
</script></head><body></body></html>
PAGE
cat >program.php <<'PROGRAM'
<?php
$page = new DOMDocument();
@$page->loadHTMLFile('page.html');
echo 'PHP: ', json_decode($page->getElementsByTagName('script')[0]->textContent)->description, "\n";
PROGRAM
cat >program.py <<'PROGRAM'
import json, lxml.html
print('lxml:', json.loads(lxml.html.parse('page.html').find('.//script').text)['description'])
PROGRAM
modules="$(echo "$root"/usr/lib/php/2*)"
{
  php8.2 -n -d extension_dir="$modules" -d extension=dom program.php
  echo "xmllint: $(xmllint --html --xpath 'string(//script)' page.html 2>/dev/null | sed -n 's/.*"description":"\(.*\)"}/\1/p')"
  python3.11 program.py
} | expect_seen
