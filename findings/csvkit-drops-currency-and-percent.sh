#!/usr/bin/env bash
# csvsort removes $, % and the comma of 12,5, and reads hours as minutes.
#
# Version: csvkit 1.0.7 with agate 1.6.3 (Debian 12: csvkit 1.0.7-1).
#
# Expected: A tool that sorts rows keeps the text of a salary.
#
# Behaviour: "$50", "50%" and "50" all become 50, "12,5" becomes 125, and "10:30" becomes 0:10:30, ten and a half minutes. A column of
# "yes" and "no" becomes True and False.
#
# Why it matters: A share of 50 % and a wage of $50 are the same after that. Salaries and hours are wrong by a factor, in valid CSV and
# without a warning.
#
# Seen:
#   id,pay,bonus,rate,hours,remote
#   1,50,50,125,0:10:30,True
#   2,60,5,1200,0:07:45,False

source "$(dirname "$0")/support/prepare.sh"
debian csvkit=1.0.7-1

printf 'id,pay,bonus,rate,hours,remote\n1,$50,50%%,"12,5",10:30,yes\n2,$60,5%%,"1,200",7:45,no\n' >jobs.csv
python3.11 "$root/usr/bin/csvsort" -c id jobs.csv | expect_seen
