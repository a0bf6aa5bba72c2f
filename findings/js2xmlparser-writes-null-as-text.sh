#!/usr/bin/env bash
# js2xmlparser writes the words null and undefined for what is missing.
#
# Version: npm: js2xmlparser 5.0.0.
#
# Expected: A missing value is an empty element, or none, as with xml2js and fast-xml-parser.
#
# Behaviour: `<pay>null</pay>` and `<city>undefined</city>` are the texts "null" and "undefined".
#
# Why it matters: These words are valid values of text fields: jobs appear in the town "undefined".
#
# Seen:
#   <job><id>1</id><pay>null</pay><city>undefined</city><title/></job>

source "$(dirname "$0")/support/prepare.sh"
npm_packages js2xmlparser@5.0.0
cat >program.mjs <<'PROGRAM'
import { parse } from 'js2xmlparser';
console.log(parse('job', { id: 1, pay: null, city: undefined, title: '' }, { format: { pretty: false }, declaration: { include: false } }));
PROGRAM
node program.mjs | expect_seen
