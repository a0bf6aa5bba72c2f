#!/usr/bin/env bash
# fast-xml-parser writes the attribute remote="true" without its value, which is no XML and which it does not read again.
#
# Version: fast-xml-parser 5.12.1 (npm).
#
# Expected: An object that was read from XML is written as the same XML with the same options.
#
# Behaviour: The builder leaves the value of attributes that are "true" out (suppressBooleanAttributes is true by default). The parser ignores
# attributes without a value by default, so the text "true" is lost on the way back, and "false" is not. XML parsers refuse the document.
#
# Why it matters: A filter that reads, changes and writes a feed breaks every job that is remote, and only those.
#
# Seen:
#   <jobs><job id="1" remote></job><job id="2" remote="false"></job></jobs>
#   [{"@id":"1"},{"@id":"2","@remote":"false"}]
#   xmllint: Specification mandates value for attribute remote

source "$(dirname "$0")/support/prepare.sh"
npm_packages fast-xml-parser@5.12.1
debian libxml2-utils=2.9.14+dfsg-1.3~deb12u6
cat >program.mjs <<'PROGRAM'
import { XMLBuilder, XMLParser } from 'fast-xml-parser';
const options = { ignoreAttributes: false, attributeNamePrefix: '@' };
const read = new XMLParser(options).parse('<jobs><job id="1" remote="true"/><job id="2" remote="false"/></jobs>');
const written = new XMLBuilder(options).build(read);
console.log(written);
console.log(JSON.stringify(new XMLParser(options).parse(written).jobs.job));
PROGRAM
{
  node program.mjs
  node program.mjs | head -1 >jobs.xml
  xmllint --noout jobs.xml 2>log || sed -n 's/.*parser error : /xmllint: /p' log | head -1
} | expect_seen
