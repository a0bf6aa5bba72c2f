#!/usr/bin/env bash
# Miller writes a second header into the same CSV where a record lacks a member.
#
# Version: Miller 6.6.0 (Debian 12: 6.6.0-2+b3), JSON Lines to CSV.
#
# Expected: A record without a salary gets an empty field, or the conversion fails.
#
# Behaviour: At the first record with other members the table ends with an empty line, and a new header and table begin, in the same
# output and with exit status 0.
#
# Why it matters: Readers skip empty lines: the second header is a posting whose key is "id" and whose title is "title", and its rows are
# under the columns of the first one. `unsparsify` prevents it.
#
# Seen:
#   id,title,pay
#   1,Nurse,20
#   
#   id,title,city
#   2,Cook,Salem
#   
#   id,title,pay
#   3,Chef,30
#   exit status 0

source "$(dirname "$0")/support/prepare.sh"
debian miller=6.6.0-2+b3

printf '{"id":1,"title":"Nurse","pay":20}\n{"id":2,"title":"Cook","city":"Salem"}\n{"id":3,"title":"Chef","pay":30}\n' >jobs.jsonl
{
  mlr --ijsonl --ocsv cat jobs.jsonl
  echo "exit status $?"
} | expect_seen
