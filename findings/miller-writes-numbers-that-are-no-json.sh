#!/usr/bin/env bash
# Miller writes .5, 1. and 0xff into JSON as they are in the table.
#
# Version: Miller 6.6.0 (Debian 12: 6.6.0-2+b3).
#
# Expected: What Miller writes as JSON can be read as JSON: a value is either a JSON number or a string.
#
# Behaviour: A value that Miller takes for a number is written without quotes in its original spelling. JSON has no `.5`, no `1.` and no
# `0xff`. `007` becomes a string, `1e5` a number.
#
# Why it matters: One reference such as 0xff, or a rate of .5, makes the whole document invalid for strict readers; the same column is a
# string in one record and a number in another.
#
# Seen:
#   {"id": "007", "rate": .5}
#   {"id": 1e5, "rate": 1.}
#   {"id": 0xff, "rate": 5}
#   not JSON: {"id": "007", "rate": .5}
#   not JSON: {"id": 1e5, "rate": 1.}
#   not JSON: {"id": 0xff, "rate": 5}

source "$(dirname "$0")/support/prepare.sh"
debian miller=6.6.0-2+b3

printf 'id,rate\n007,.5\n1e5,1.\n0xff,5\n' >jobs.csv
{
  mlr --icsv --ojsonl cat jobs.csv
  mlr --icsv --ojsonl cat jobs.csv | node -e '
    for (const line of require("fs").readFileSync(0, "utf8").trim().split("\n"))
      try { console.log(JSON.stringify(JSON.parse(line))); } catch { console.log("not JSON: " + line); }'
} | expect_seen
