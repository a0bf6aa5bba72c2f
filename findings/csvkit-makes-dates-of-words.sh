#!/usr/bin/env bash
# csvsort writes the weekday, the town or the start date as a date of the year 1.
#
# Version: csvkit 1.0.7 with agate 1.6.3 (Debian 12: csvkit 1.0.7-1).
#
# Expected: csvsort only reorders rows: a column of words stays as it is, as with csvcut, csvgrep and csvstack.
#
# Behaviour: csvsort, csvjson and csvsql guess types. A column is a date if each of its values can be read as one: the weekdays of a
# shift, towns named March and May, "today" and "tomorrow".
#
# Why it matters: Whether a column is changed depends on the values of all its rows: one more town in the feed, and all towns are text
# again. A mirror sees every job change. The option -I prevents it.
#
# Seen:
#   id,shift,city,starts
#   1,0001-01-08,0001-03-01,0001-01-01
#   2,0001-01-05,0001-05-01,0001-01-02
#   id,shift,city,starts
#   1,0001-01-08,March,0001-01-01
#   2,0001-01-05,May,0001-01-02
#   3,0001-01-08,Boston,0001-01-01

source "$(dirname "$0")/support/prepare.sh"
debian csvkit=1.0.7-1

printf 'id,shift,city,starts\n2,Friday,May,tomorrow\n1,Monday,March,today\n' >jobs.csv
{
  python3.11 "$root/usr/bin/csvsort" -c id jobs.csv
  echo '3,Monday,Boston,today' >>jobs.csv
  python3.11 "$root/usr/bin/csvsort" -c id jobs.csv
} | expect_seen
