#!/usr/bin/env bash
# pandas and R write all dates of a column in another form once one of them has a time of day.
#
# Version: pandas 1.5.3, R 4.2.2 (Debian 12).
#
# Expected: Each cell is written by itself: midnight either with or without its time, whatever the other rows have.
#
# Behaviour: to_csv and write.csv leave the times of a column out if all of them are midnight. One row with another time adds
# 00:00:00 to all the others.
#
# Why it matters: One new job, entered with a time, changes every record of the feed, and back when it leaves. Whoever compares records,
# or sends such a date as a text, sends an update for every job.
#
# Seen:
#   pandas: 2026-10-01 2026-10-02
#   pandas: 2026-10-01 00:00:00 2026-10-02 00:00:00 2026-10-03 09:30:00
#   R: 2026-10-01 2026-10-02
#   R: 2026-10-01 00:00:00 2026-10-02 00:00:00 2026-10-03 09:30:00

source "$(dirname "$0")/support/prepare.sh"
debian python3-pandas=1.5.3+dfsg-2 r-base-core=4.2.2.20221110-2
cat >program.py <<'PROGRAM'
import pandas
days = ['2026-10-01', '2026-10-02']
for times in (days, days + ['2026-10-03 09:30']):
    print('pandas:', *pandas.DataFrame({'posted': pandas.to_datetime(times)}).to_csv(index=False).strip().split('\n')[1:])
PROGRAM
cat >program.R <<'PROGRAM'
days <- c('2026-10-01 00:00', '2026-10-02 00:00')
for (times in list(days, c(days, '2026-10-03 09:30'))) {
  lines <- capture.output(write.csv(data.frame(posted = as.POSIXct(times, tz = 'UTC')), row.names = FALSE))
  cat('R:', lines[-1], '\n')
}
PROGRAM
rm -f "$root"/usr/lib/R/etc/{Renviron,Renviron.site,Rprofile.site,Makeconf,ldpaths}
touch "$root/usr/lib/R/etc/Renviron"
export R_HOME="$root/usr/lib/R" R_SHARE_DIR="$root/usr/share/R/share" EDITOR=vi PAGER=cat
{
  python3.11 -W ignore program.py
  R_LIBS="$root/usr/lib/R/site-library" "$R_HOME/bin/exec/R" --no-save --no-restore --no-echo -f program.R 2>&1 | sed 's/ $//'
} | expect_seen
