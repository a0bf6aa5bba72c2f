#!/usr/bin/env bash
# jsonlite writes places to four digits, and leaves missing members out.
#
# Version: jsonlite 1.8.4 on R 4.2.2 (Debian 12: r-cran-jsonlite 1.8.4+dfsg-1).
#
# Expected: Numbers are written so that they are the same when they are read, as in other writers of JSON.
#
# Behaviour: The default is digits = 4: 40.712776 becomes 40.7128. NA of a data frame is left out, and a single value of a list becomes an
# array: `{"id":[1]}`.
#
# Why it matters: Four digits are 11 m of latitude, so that two addresses in a street have one place; a path that finds `id` in records of
# a data frame finds an array in those of a list.
#
# Seen:
#   [{"id":1,"latitude":40.7128},{"id":2}] 
#   {"id":[1],"latitude":[40.7128]} 

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2 r-cran-jsonlite=1.8.4+dfsg-1
cat >program.R <<'PROGRAM'
library(jsonlite)
cat(toJSON(data.frame(id = 1:2, latitude = c(40.712776, NA))), '\n')
cat(toJSON(list(id = 1, latitude = 40.712776)), '\n')
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
