#!/usr/bin/env bash
# MariaDB's CSV tables have \" and \n where CSV has "" and a line break, and REPAIR drops all jobs from the first such.
#
# Version: MariaDB 10.11.19 (Debian 12: mariadb-server 1:10.11.19-0+deb12u1), engine=CSV; Python 3.11.2 csv as the other reader and writer.
#
# Expected: The file of a CSV table can be read and written by other programs, which is what this engine is for.
#
# Behaviour: Quotation marks and line breaks are escaped by a backslash, and a backslash by another. Python reads a title with quotes as another one, and
# the two characters \n for a line break. In Python's file MariaDB keeps both quotation marks
# of "", makes a line break of \n, and takes a line break for a crash.
#
# Why it matters: The feed is the table's file, or the table is the feed's. Titles change silently, and whoever obeys "should be repaired" has one
# job left, with status OK: the others are cut off the file.
#
# Seen:
#   MariaDB wrote, Python read: Chef "A" as Chef \A\"" | C:\new as C:\\new | Nurse<LF>nights as Nurse\nnights
#   Python wrote, MariaDB read: Chef ""A"" | C:<LF>ew
#   Python wrote a line break: ERROR 1194: Table 'feed' is marked as crashed and should be repaired
#   after REPAIR (status OK): Chef ""A""

source "$(dirname "$0")/support/prepare.sh"
debian mariadb-server=1:10.11.19-0+deb12u1 mariadb-client=1:10.11.19-0+deb12u1 python3=3.11.2-1+b1
share="$root/usr/share/mysql"
mkdir -p data/mysql
chown -R nobody "$work"
as_nobody() { setpriv --reuid nobody --clear-groups --regid nogroup "$@"; }
serve() {
  as_nobody "$root/usr/sbin/mariadbd" --no-defaults --datadir="$work/data" --lc-messages-dir="$share" --character-sets-dir="$share/charsets" \
    --plugin-dir="$root/usr/lib/mysql/plugin" --innodb-buffer-pool-size=16M "$@"
}
{ echo 'use mysql;' && cat "$share/mysql_system_tables.sql" "$share/mysql_system_tables_data.sql"; } | serve --bootstrap >log 2>&1
serve --skip-grant-tables --skip-networking --socket="$work/socket" --pid-file="$work/pid" >>log 2>&1 &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
until [ -S socket ]; do sleep 0.1; done
ask() { "$root/usr/bin/mariadb" --no-defaults --socket="$work/socket" --batch --raw --skip-column-names "$@" 2>&1; }
cat >feed.py <<'PROGRAM'
import csv
import sys
path, *titles = sys.argv[1:]
with open(path, newline="") as file:
    rows = [row[0] for row in csv.reader(file)]
if titles:
    with open(path, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([title] for title in titles)
else:
    print("\n".join(rows))
PROGRAM
feed="$work/data/jobs/feed.CSV"
titles=('Chef "A"' 'C:\new' $'Nurse\nnights')
write() {
  /usr/bin/python3 feed.py "$feed" "$@"
  ask -e 'flush tables' jobs
}
list() { paste -s -d '|' | sed 's/|/ | /g'; }
ask <<'SQL'
create database jobs;
use jobs;
create table feed (title varchar(40) not null) engine = csv;
insert into feed values ('Chef "A"'), ('C:\\new'), ('Nurse\nnights');
flush tables;
SQL
{
  echo "MariaDB wrote, Python read: $(paste -d '=' <(printf '%s\n' 'Chef "A"' 'C:\new' 'Nurse<LF>nights') <(/usr/bin/python3 feed.py "$feed") | sed 's/=/ as /' | list)"
  write "${titles[@]:0:2}"
  echo "Python wrote, MariaDB read: $(ask -e "select replace(title, char(10), '<LF>') from feed" jobs | list)"
  write "${titles[0]}" "${titles[2]}" "${titles[1]}"
  echo "Python wrote a line break: $(ask -e "select replace(title, char(10), '<LF>') from feed" jobs | sed 's/ (HY000) at line 1//')"
  echo "after REPAIR (status $(ask -e 'repair table feed' jobs | cut -f 4)): $(ask -e "select replace(title, char(10), '<LF>') from feed" jobs | list)"
} | expect_seen
