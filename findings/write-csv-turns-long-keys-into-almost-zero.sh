#!/usr/bin/env bash
# write.csv writes keys of 17 digits that data.table has read as numbers near zero.
#
# Version: data.table 1.14.8 on R 4.2.2 (Debian 12: r-cran-data.table 1.14.8+dfsg-1), without the package bit64.
#
# Expected: A column of large whole numbers is written as it was read, or rounded to a double as read.csv does.
#
# Behaviour: fread makes the column an integer64, whose bits are those of another number for everybody who does not have bit64: R itself
# writes 7.749…e-308, for both keys. fwrite writes the right digits.
#
# Why it matters: The package bit64 is only suggested. The script works on the machine where it was written, and makes one key of many
# where bit64 is not installed.
#
# Seen:
#   class: integer64 
#   id,title
#   12345678901234567,Nurse
#   12345678901234568,Cook
#   "id","title"
#   7.74900392235981e-308,"Nurse"
#   7.74900392235981e-308,"Cook"

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2 r-cran-data.table=1.14.8+dfsg-1
cat >program.R <<'PROGRAM'
library(data.table)
rows <- suppressWarnings(fread('id,title\n12345678901234567,Nurse\n12345678901234568,Cook\n'))
cat('class:', class(rows$id), '\n')
fwrite(rows)
write.csv(rows, row.names = FALSE)
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
