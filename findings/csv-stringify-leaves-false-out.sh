#!/usr/bin/env bash
# csv-stringify writes true as 1, false as nothing, and a Date as milliseconds.
#
# Version: npm: csv-stringify 6.9.0, its defaults; @json2csv/plainjs 7.0.8 for comparison.
#
# Expected: true and false, and a date that can be read, as json2csv, papaparse and fast-csv write them.
#
# Behaviour: false becomes an empty field, the same as null and as a missing member.
#
# Why it matters: A posting that is expressly not remote is one that says nothing about it. Dates as milliseconds pass for numbers, and
# fail every rule for dates.
#
# Seen:
#   id,remote,posted
#   a,1,1793527200000
#   b,,
#   "id","remote","posted"
#   "a",true,"2026-11-01T10:00:00.000Z"
#   "b",false,

source "$(dirname "$0")/support/prepare.sh"
npm_packages csv-stringify@6.9.0 @json2csv/plainjs@7.0.8
cat >program.mjs <<'PROGRAM'
import { Parser } from '@json2csv/plainjs';
import { stringify } from 'csv-stringify/sync';
const jobs = [
  { id: 'a', remote: true, posted: new Date('2026-11-01T10:00:00Z') },
  { id: 'b', remote: false, posted: null },
];
console.log(stringify(jobs, { header: true }).trim());
console.log(new Parser().parse(jobs));
PROGRAM
node program.mjs | expect_seen
