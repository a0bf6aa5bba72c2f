#!/usr/bin/env bash
# Papa Parse and fast-csv leave out every member that the first job does not have.
#
# Version: npm: papaparse 5.7.1, fast-csv 5.0.8; d3-dsv 3.0.1 and @json2csv/plainjs 7.0.8 for comparison.
#
# Expected: The columns are all members that occur, as with json2csv and d3-dsv, or an unknown one is an error.
#
# Behaviour: The header is made of the first object. What only later objects have is left out, without an error.
#
# Why it matters: Whether the feed has salaries depends on whether the first job has one. When jobs are sorted by date, one new job
# without a salary removes those of all others, and the next one brings them back: two updates for each job.
#
# Seen:
#   papaparse: id / 1 / 2
#   fast-csv: id / 1 / 2
#   json2csv: "id","pay" / 1, / 2,20
#   d3-dsv: id,pay / 1, / 2,20

source "$(dirname "$0")/support/prepare.sh"
npm_packages papaparse@5.7.1 fast-csv@5.0.8 @json2csv/plainjs@7.0.8 d3-dsv@3.0.1
cat >program.mjs <<'PROGRAM'
import { Parser } from '@json2csv/plainjs';
import { csvFormat } from 'd3-dsv';
import { writeToString } from 'fast-csv';
import Papa from 'papaparse';
const jobs = [{ id: 1 }, { id: 2, pay: 20 }];
const show = (name, text) => console.log(`${name}: ${text.trim().split(/\r?\n/).join(' / ')}`);
show('papaparse', Papa.unparse(jobs));
show('fast-csv', await writeToString(jobs, { headers: true }));
show('json2csv', new Parser().parse(jobs));
show('d3-dsv', csvFormat(jobs));
PROGRAM
node program.mjs | expect_seen
