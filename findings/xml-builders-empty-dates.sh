#!/usr/bin/env bash
# xml2js and xmlbuilder2 write a Date as an empty element.
#
# Version: npm: xml2js 0.6.2, xmlbuilder2 4.0.3.
#
# Expected: A Date becomes its ISO form, as in JSON, or the builder refuses it.
#
# Behaviour: Both treat a Date as an object without members: `<posted/>`. fast-xml-parser 5.12.1 writes the English form of the local time
# instead.
#
# Why it matters: Feeds made from database rows have Date objects. Their dates of posting and expiry are empty, without an error: jobs
# never expire, or are all rejected for a missing date.
#
# Seen:
#   xml2js: <job><id>1</id><posted/></job>
#   xmlbuilder2: <job><id>1</id><posted/></job>
#   fast-xml-parser: <job><id>1</id><posted>Sun Nov 01 2026 10:00:00 GMT+0000 (Coordinated Universal Time)</posted></job>

source "$(dirname "$0")/support/prepare.sh"
npm_packages xml2js@0.6.2 xmlbuilder2@4.0.3 fast-xml-parser@5.12.1
cat >program.mjs <<'PROGRAM'
import { XMLBuilder } from 'fast-xml-parser';
import xml2js from 'xml2js';
import { create } from 'xmlbuilder2';
const job = () => ({ job: { id: 1, posted: new Date('2026-11-01T10:00:00Z') } });
console.log('xml2js:', new xml2js.Builder({ headless: true, renderOpts: { pretty: false } }).buildObject(job()));
console.log('xmlbuilder2:', create(job()).end({ headless: true }));
console.log('fast-xml-parser:', new XMLBuilder().build(job()));
PROGRAM
node program.mjs | expect_seen
