#!/usr/bin/env bash
# json-2-csv writes the word undefined into the columns that only other jobs have, and a place into two columns at once.
#
# Version: json-2-csv 5.6.0 (npm).
#
# Expected: A cell without a value is empty, as a text that is empty is.
#
# Behaviour: Null is the word null, what is missing is the word undefined. If one job has the place {} and another { city }, there are the
# columns place.city and place, and the second has the whole object as JSON.
#
# Why it matters: Words pass every check that a value is there: a job gets the city "undefined". Which columns there are depends on what
# the other jobs have.
#
# Seen:
#   id,category,place.city,place
#   1,null,Boston,"{""city"":""Boston""}"
#   2,undefined,undefined,{}

source "$(dirname "$0")/support/prepare.sh"
npm_packages json-2-csv@5.6.0
cat >program.mjs <<'PROGRAM'
import { json2csv } from 'json-2-csv';
console.log(json2csv([{ id: '1', category: null, place: { city: 'Boston' } }, { id: '2', place: {} }]));
PROGRAM
node program.mjs | expect_seen
