#!/usr/bin/env bash
# Papa Parse takes the bar for the delimiter of a valid comma-separated table.
#
# Version: npm: papaparse 5.7.1, its defaults.
#
# Expected: A table whose lines all have the same number of commas is read with the comma.
#
# Behaviour: The delimiter is guessed from the first rows: the one with more fields per row wins. A column with a list such as
# `nights|weekends|holidays` makes it the bar. Where the lists of the first rows differ in length, it is the comma again.
#
# Why it matters: The header becomes one column named "id,skills". If the lists in the first rows change, the same feed is read rightly or
# wrongly from day to day.
#
# Seen:
#   delimiter "|": {"id,skills":"1,nights","__parsed_extra":["weekends","holidays"]}
#   delimiter ",": {"id":"1","skills":"nights"}

source "$(dirname "$0")/support/prepare.sh"
npm_packages papaparse@5.7.1
cat >program.mjs <<'PROGRAM'
import Papa from 'papaparse';
const read = (text) => {
  const { data, meta } = Papa.parse(text, { header: true });
  console.log(`delimiter "${meta.delimiter}": ${JSON.stringify(data[0])}`);
};
read('id,skills\n1,nights|weekends|holidays\n2,days|nights|weekends\n');
read('id,skills\n1,nights\n2,days|nights\n');
PROGRAM
node program.mjs | expect_seen
