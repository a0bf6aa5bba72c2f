#!/usr/bin/env bash
# sqlite3 writes 20.1 as 20.10000000000000142 in JSON and as 20.1 in CSV.
#
# Version: SQLite 3.40.1 (Debian 12: sqlite3 3.40.1-2+deb12u2), .mode json and .mode csv.
#
# Expected: One value has the same digits in both, the shortest that lead back to it.
#
# Behaviour: CSV has 15 significant digits, JSON 19: 0.3 is 0.29999999999999998889 there. A key of 17 digits in a REAL column is
# 1.23456789012346e+16 in CSV, and has all its digits, and .0, in JSON.
#
# Why it matters: A wage of 20.1 has another text, depending on the mode of the export; a job site stores what it gets as text.
#
# Seen:
#   20.1,0.3,1.23456789012346e+16
#   [{"wage":20.10000000000000142,"share":0.29999999999999998889,"id":12345678901234568.0}]

source "$(dirname "$0")/support/prepare.sh"
debian sqlite3=3.40.1-2+deb12u2

for mode in csv json; do
  sqlite3 :memory: ".mode $mode" 'select 20.1 as wage, 0.3 as share, 12345678901234567.0 as id'
done | tr -d '\r' | expect_seen
