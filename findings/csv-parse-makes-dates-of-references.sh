#!/usr/bin/env bash
# csv-parse with cast_date makes dates of the year 2001 of references such as BOS-12 and of titles such as "Nurse 7".
#
# Version: npm: csv-parse 7.0.3 on Node 20.
#
# Expected: cast_date: true casts fields that are dates, as the same package's cast: true casts only fields that are numbers.
#
# Behaviour: Whatever Date.parse of V8 accepts is a date: a word of which nothing is known, and a number from 1 to 12 behind it, which is
# the month. BOS-12 and NYC-12 become the same date; BOS-13 stays a text.
#
# Why it matters: References of one column become dates and texts, and different ones become one key: of two jobs, one is left.
#
# Seen:
#   BOS-12 | Nurse 7 | Floor 3, May -> 2001-12-01 | 2001-07-01 | 2001-05-03
#   NYC-12 | Cook | Room 4 -> 2001-12-01 | Cook | 2001-04-01
#   BOS-13 | Nurse 13 | Level 1 of 2 -> BOS-13 | Nurse 13 | Level 1 of 2

source "$(dirname "$0")/support/prepare.sh"
npm_packages csv-parse@7.0.3
cat >program.mjs <<'PROGRAM'
import { parse } from 'csv-parse/sync';
const rows = [
  ['BOS-12', 'Nurse 7', 'Floor 3, May'],
  ['NYC-12', 'Cook', 'Room 4'],
  ['BOS-13', 'Nurse 13', 'Level 1 of 2'],
];
const table = rows.map((row) => row.map((field) => `"${field}"`).join(',')).join('\n');
parse(table, { cast: true, cast_date: true }).forEach((row, at) => {
  const shown = row.map((field) => (field instanceof Date ? field.toISOString().slice(0, 10) : field));
  console.log(`${rows[at].join(' | ')} -> ${shown.join(' | ')}`);
});
PROGRAM
node program.mjs | expect_seen
