#!/usr/bin/env bash
# data.table drops all rows from the first short one on, with a warning.
#
# Version: data.table 1.14.8 on R 4.2.2 (Debian 12: r-cran-data.table 1.14.8+dfsg-1).
#
# Expected: A row that lacks its last fields is filled, as read.csv does, or the reading fails.
#
# Behaviour: fread warns "Stopped early" and returns the rows before it. The exit status of the script is 0.
#
# Why it matters: One short row in the middle removes the rest of the feed. The warning is in a log; the table that the script writes is
# valid and complete, and the missing jobs are deleted.
#
# Seen:
#   warning: Stopped early on line 4 
#   rows of 5: 2 

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2 r-cran-data.table=1.14.8+dfsg-1
cat >program.R <<'PROGRAM'
library(data.table)
text <- 'id,title,city\n1,Nurse,Boston\n2,Cook,Salem\n3,Driver\n4,Chef,Lynn\n5,Guard,Quincy\n'
withCallingHandlers(rows <- fread(text = text), warning = function(warned) {
  cat('warning:', sub('[.] Expected.*', '', conditionMessage(warned)), '\n')
  invokeRestart('muffleWarning')
})
cat('rows of 5:', nrow(rows), '\n')
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
