#!/usr/bin/env bash
# csvstack puts tables with the columns in another order together by place.
#
# Version: csvkit 1.0.7 with agate 1.6.3 (Debian 12: csvkit 1.0.7-1).
#
# Expected: Rows of files with the same column names are put under those names, as Miller does.
#
# Behaviour: Only the first header is used. The columns of the second file keep their places: titles come under "id", without a warning.
#
# Why it matters: Agencies export each office to a file of its own. After a column was moved in one of them, the titles of its jobs are
# the keys: each job is deleted and made again.
#
# Seen:
#   id,title
#   1,Nurse
#   Cook,2

source "$(dirname "$0")/support/prepare.sh"
debian csvkit=1.0.7-1

printf 'id,title\n1,Nurse\n' >north.csv
printf 'title,id\nCook,2\n' >south.csv
python3.11 "$root/usr/bin/csvstack" north.csv south.csv | expect_seen
