#!/usr/bin/env bash
# csvclean leaves out rows of another length, with exit status 0.
#
# Version: csvkit 1.0.7 with agate 1.6.3 (Debian 12: csvkit 1.0.7-1).
#
# Expected: A tool that cleans a table repairs what it can, and fails if rows are lost.
#
# Behaviour: Rows with fewer or more fields than the header go into another file, jobs_err.csv, and the exit status is 0.
#
# Why it matters: A script that cleans an export before it is mirrored removes jobs whenever a title has an unquoted comma, or where a
# writer leaves out empty fields at the end. The result is a valid and complete table: the jobs are deleted.
#
# Seen:
#   2 errors logged to jobs_err.csv
#   exit status 0
#   id,title,city
#   1,Nurse,Boston
#   4,Chef,Lynn

source "$(dirname "$0")/support/prepare.sh"
debian csvkit=1.0.7-1

printf 'id,title,city\n1,Nurse,Boston\n2,Cook, night,Salem\n3,Driver\n4,Chef,Lynn\n' >jobs.csv
{
  python3.11 "$root/usr/bin/csvclean" jobs.csv && echo 'exit status 0'
  cat jobs_out.csv
} | expect_seen
