#!/usr/bin/env bash
# xml-parser and simple-xml-to-json lose all jobs after the first CDATA, without an error.
#
# Version: npm: xml-parser 1.2.1, simple-xml-to-json 1.2.7.
#
# Expected: A parser that does not know a part of XML raises at it.
#
# Behaviour: xml-parser stops at CDATA, at an element between texts, and at an end tag with a blank, and returns what it has.
# simple-xml-to-json takes CDATA and DOCTYPE for elements whose attributes are all that follows, and stops at an end tag with a blank.
#
# Why it matters: One job with CDATA in the middle of a feed hides all that come after it. What was read looks like a shorter feed, so
# that whoever compares it with the last one deletes the rest.
#
# Seen:
#   plain: xml-parser 1 2 3; simple-xml-to-json 1 2 3
#   CDATA: xml-parser 1 2; simple-xml-to-json 1 2
#   element between texts: xml-parser 1 2; simple-xml-to-json 1 2 3
#   blank in an end tag: xml-parser 1 2; simple-xml-to-json 1 2
#   DOCTYPE: xml-parser none; simple-xml-to-json none

source "$(dirname "$0")/support/prepare.sh"
npm_packages xml-parser@1.2.1 simple-xml-to-json@1.2.7
cat >program.mjs <<'PROGRAM'
import simple from 'simple-xml-to-json';
import parse from 'xml-parser';
const READERS = {
  'xml-parser': (text) => parse(text).root?.children.map((job) => job.children[0].content),
  'simple-xml-to-json': (text) => simple.convertXML(text).jobs?.children.map(({ job }) => job.children[0].id?.content),
};
const feed = (second, start = '') =>
  `${start}<jobs><job><id>1</id><title>Nurse</title></job><job>${second}</job><job><id>3</id><title>Chef</title></job></jobs>`;
for (const [name, text] of Object.entries({
  plain: feed('<id>2</id><title>Cook</title>'),
  CDATA: feed('<id>2</id><title><![CDATA[Cook]]></title>'),
  'element between texts': feed('<id>2</id><title>Cook <b>nights</b> only</title>'),
  'blank in an end tag': feed('<id>2</id><title>Cook</title ><pay>20</pay>'),
  DOCTYPE: feed('<id>2</id><title>Cook</title>', '<!DOCTYPE jobs>'),
}))
  console.log(`${name}: ${Object.entries(READERS).map(([reader, read]) => {
    let ids;
    try { ids = read(text)?.filter((id) => id !== undefined).join(' ') || 'none'; } catch (error) { ids = 'an error'; }
    return `${reader} ${ids}`;
  }).join('; ')}`);
PROGRAM
node program.mjs | expect_seen
