#!/usr/bin/env bash
# R's read.fwf makes "C" of the title "C# developer" in a table of fixed width.
#
# Version: R 4.2.2 (Debian 12: r-base-core 4.2.2.20221110-2), readr 2.1.4.
#
# Expected: In columns of fixed width each character is part of its column; there is nothing to quote, and no comments.
#
# Behaviour: read.fwf writes the columns to a file that read.table reads, where a # begins a comment. The rest of the last column is dropped
# without a message; in another column the row has too few fields, which is an error. readr's read_fwf keeps it, and so does comment.char = "".
#
# Why it matters: Staff systems export fixed columns, the longest text last: the title. C# and F# developers are offered as C and F, and
# each apartment "#4" in a street is gone.
#
# Seen:
#   read.fwf: 7 C; 8 Cook; 9 Driver, gate
#   read.fwf, comment.char = "": 7 C# developer; 8 Cook; 9 Driver, gate #4
#   read_fwf: 7 C# developer; 8 Cook; 9 Driver, gate #4

source "$(dirname "$0")/support/prepare.sh"
debian r-base-core=4.2.2.20221110-2 r-cran-readr=2.1.4-1
printf '%s\n' '7   C# developer    ' '8   Cook            ' '9   Driver, gate #4 ' >jobs.txt
cat >program.R <<'PROGRAM'
library(readr)
show <- function(name, jobs) cat(name, ': ', paste(jobs$id, trimws(jobs$title), collapse = '; '), '\n', sep = '')
names <- c('id', 'title')
show('read.fwf', read.fwf('jobs.txt', c(4, 16), col.names = names))
show('read.fwf, comment.char = ""', read.fwf('jobs.txt', c(4, 16), col.names = names, comment.char = ''))
show('read_fwf', read_fwf('jobs.txt', fwf_widths(c(4, 16), names), show_col_types = FALSE))
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | expect_seen
