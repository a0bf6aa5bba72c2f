#!/usr/bin/env bash
# DuckDB reads a whole table as one column if one row lacks the last field, and dates by what other rows have.
#
# Version: npm: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6), read_csv without options.
#
# Expected: A row that is too short is an error, or its last fields are empty; 01/02/2026 is the same day whatever other rows have.
#
# Behaviour: The dialect is guessed so that all rows have equally many columns. With one short row, wherever it is, that is a table of one
# column, whose name is the whole header. 01/02/2026 is 1 February; once any row has 01/13/2026, it is 2 January.
#
# Why it matters: Many writers leave empty fields out at the end of a row. The key column is gone, in a valid table and without an error. The
# dates of all jobs change, as soon as one job of the middle of a month comes or goes.
#
# Seen:
#   first row short: id,title,city
#   last row short: id,title,city
#   none short: id | title | city
#   01/02/2026, 03/04/2026: 2026-02-01, 2026-04-03
#   01/02/2026, 03/04/2026, 01/13/2026: 2026-01-02, 2026-03-04, 2026-01-13

source "$(dirname "$0")/support/prepare.sh"
npm_packages @duckdb/node-api@1.5.6-r.1
cat >program.mjs <<'PROGRAM'
import { DuckDBInstance } from '@duckdb/node-api';
import { writeFileSync } from 'node:fs';
const connection = await (await DuckDBInstance.create(':memory:')).connect();
async function read(lines) {
  writeFileSync('jobs.csv', lines.map((line) => `${line}\n`).join(''));
  const reader = await connection.runAndReadAll("select columns(*)::text from read_csv('jobs.csv')");
  return { names: reader.columnNames(), rows: reader.getRows() };
}
const short = await read(['id,title,city', '1,Nurse', '2,Cook,Salem', '3,Driver,Lynn', '4,Chef,Troy']);
console.log(`first row short: ${short.names.join(' | ')}`);
const last = await read(['id,title,city', '2,Cook,Salem', '3,Driver,Lynn', '4,Chef,Troy', '1,Nurse']);
console.log(`last row short: ${last.names.join(' | ')}`);
const none = await read(['id,title,city', '2,Cook,Salem', '3,Driver,Lynn', '4,Chef,Troy', '1,Nurse,']);
console.log(`none short: ${none.names.join(' | ')}`);
for (const dates of [['01/02/2026', '03/04/2026'], ['01/02/2026', '03/04/2026', '01/13/2026']]) {
  const { rows } = await read(['id,starts', ...dates.map((date, at) => `${at},${date}`)]);
  console.log(`${dates.join(', ')}: ${rows.map(([, date]) => date).join(', ')}`);
}
PROGRAM
node program.mjs | expect_seen
