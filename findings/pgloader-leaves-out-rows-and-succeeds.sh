#!/usr/bin/env bash
# pgloader empties a table, leaves out the rows of a CSV that Postgres refuses, and ends with exit status 0.
#
# Version: pgloader 3.6.9 (Debian 12: pgloader 3.6.9-1), PostgreSQL 15 (postgresql-15 15.20-0+deb12u1).
#
# Expected: All rows or none, as with COPY, or at least another exit status than 0.
#
# Behaviour: With "truncate" the table is emptied first. Each row that is refused goes to a file below --root-dir, /tmp/pgloader by default, and the
# others are kept; of two rows with one key, the first. --on-error-stop changes nothing for a CSV.
#
# Why it matters: A nightly "truncate and load" of the jobs, and a feed made of the table: an end date of "until filled" removes that job from
# the feed, as if it were closed. Compare the number of rows before anything is made of the table.
#
# Seen:
#   psql's \copy: status 1, the table has 0 rows
#   pgloader: status 0, the table has 3 rows: 1 Nurse 2026-10-01, 3 Guard 2026-12-01, 4 Chef 2026-12-01
#   pgloader --on-error-stop: status 0, the table has 3 rows: 1 Nurse 2026-10-01, 3 Guard 2026-12-01, 4 Chef 2026-12-01
#   left out: 2,Cook,until filled | 4,Driver,2026-12-01

source "$(dirname "$0")/support/prepare.sh"
debian pgloader=3.6.9-1 postgresql-15=15.20-0+deb12u1 postgresql-client-15=15.20-0+deb12u1
programs="$root/usr/lib/postgresql/15/bin"
chown nobody "$work"
as_nobody() { setpriv --reuid nobody --clear-groups --regid nogroup "$@"; }
as_nobody "$programs/initdb" -D data -A trust -U nobody -L "$root/usr/share/postgresql/15" >log
port="$(node -e 'const server = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(server.address().port); server.close(); });')"
as_nobody "$programs/postgres" -D data -k "$work" -c listen_addresses=127.0.0.1 -c port="$port" \
  -c dynamic_library_path="$root/usr/lib/postgresql/15/lib" 2>>log &
server=$!
trap 'kill "$server"; wait "$server" || true; rm -rf "$work"' EXIT
ask() { "$programs/psql" -h "$work" -p "$port" -U nobody -XAtqc "$1" postgres 2>>log; }
until "$programs/pg_isready" -q -h "$work" -p "$port"; do sleep 0.1; done
printf '%s\n' ref,title,ends 1,Nurse,2026-10-01 '2,Cook,until filled' 3,Guard,2026-12-01 4,Chef,2026-12-01 4,Driver,2026-12-01 >jobs.csv
cat >jobs.load <<LOAD
LOAD CSV FROM '$work/jobs.csv' HAVING FIELDS (ref, title, ends)
INTO postgresql://nobody@127.0.0.1:$port/postgres TARGET TABLE jobs
WITH truncate, skip header = 1, fields terminated by ',';
LOAD
ask 'create table jobs (ref text primary key, title text, ends date)'
show() {
  local status=0
  "${@:2}" >>log 2>&1 || status=$?
  echo "$1: status $status, the table has $(ask "select count(*) || ' rows' || coalesce(': ' || string_agg(concat_ws(' ', ref, title, ends), ', ' order by ref), '') from jobs")"
}
{
  show "psql's \copy" ask "\copy jobs from jobs.csv csv header"
  show pgloader pgloader --root-dir "$work/refused" jobs.load
  show 'pgloader --on-error-stop' pgloader --on-error-stop --root-dir "$work/refused" jobs.load
  echo "left out: $(sed '/^$/d; s/\t/,/g' refused/*/jobs.dat | sort -u | paste -s -d '|' | sed 's/|/ | /g')"
} | expect_seen
