#!/usr/bin/env bash
# data.table keeps doubled quotes when it reads and doubles them when it writes: they grow on every pass.
#
# Version: data.table 1.14.8 on R 4.2.2 (Debian 12: r-cran-data.table 1.14.8+dfsg-1).
#
# Expected: A table that is read and written without a change is the same table.
#
# Behaviour: fread leaves `""` within a quoted field as two quotes, and fwrite escapes each: a title with a quote has 2, 4, 8, 16 of them
# after each pass.
#
# Why it matters: A feed that R cleans from its own former output changes in every run. Each job with a quote in its title is updated
# every time, with ever more quotes.
#
# Seen:
#   1,"Senior ""A"" nurse" 
#   1,"Senior """"A"""" nurse" 
#   1,"Senior """"""""A"""""""" nurse" 

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2 r-cran-data.table=1.14.8+dfsg-1
cat >program.R <<'PROGRAM'
library(data.table)
writeLines(c('id,title', '1,"Senior ""A"" nurse"', '2,Cook'), 'jobs.csv')
for (pass in 1:3) {
  cat(readLines('jobs.csv')[2], '\n')
  fwrite(fread('jobs.csv'), 'jobs.csv')
}
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
