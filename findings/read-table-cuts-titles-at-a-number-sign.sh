#!/usr/bin/env bash
# read.table cuts "Driver #2, days" at the number sign, and drops the rest of the row.
#
# Version: R 4.2.2 (Debian 12: r-base-core 4.2.2.20221110-2), read.table with sep = ",".
#
# Expected: read.table(sep = ",", header = TRUE) reads a table as read.csv does.
#
# Behaviour: # starts a comment in read.table, and not in read.csv. The fields behind it are missing; with fill = TRUE the row stays,
# without a warning.
#
# Why it matters: Titles with numbers ("Driver #2") are usual. The cut title is a valid one, and the fields after it are empty.
#
# Seen:
#   id,title,city
#   1,Driver ,
#   2,Cook,Boston
#   id,title,city
#   1,Driver #2 days,Salem
#   2,Cook,Boston

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2
cat >program.R <<'PROGRAM'
text <- 'id,title,city\n1,Driver #2 days,Salem\n2,Cook,Boston\n'
write.csv(read.table(text = text, sep = ',', header = TRUE, fill = TRUE), row.names = FALSE, quote = FALSE)
write.csv(read.csv(text = text), row.names = FALSE, quote = FALSE)
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
