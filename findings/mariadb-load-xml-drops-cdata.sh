#!/usr/bin/env bash
# MariaDB's LOAD XML drops CDATA, takes tags within it for columns, and gives one job's title to the jobs that follow.
#
# Version: MariaDB 10.11.19 (Debian 12: mariadb-server 1:10.11.19-0+deb12u1).
#
# Expected: CDATA is text; a reference like &#39; is its character; each job has its own elements and no others, as in any XML parser.
#
# Behaviour: CDATA is left out: the column is NULL, or what stood before it. An element in CDATA that is named like a column fills that column. After a
# title with CDATA behind a text, each later job without a title gets that text. &#39; stays as it is. Elements are columns at any depth, and the
# last one of a name wins. There is no warning.
#
# Why it matters: Feeds have descriptions with markup in CDATA, and companies or places with an id and a title of their own. The table has as many rows as
# there are jobs, but with the keys and titles of other things: what is written from it has lost jobs and has wrong ones.
#
# Seen:
#   id	title	description
#   1	Night&#39;s nurse	NULL
#   2	Cook 	\n
#   3	Cook 	NULL
#   company-4	ACME	NULL
#   5	Careers at ACME	NULL
#   warnings: 0

source "$(dirname "$0")/support/prepare.sh"
debian mariadb-server=1:10.11.19-0+deb12u1 mariadb-client=1:10.11.19-0+deb12u1
cat >jobs.xml <<'FEED'
<jobs>
<job><id>1</id><title>Night&#39;s nurse</title><description><![CDATA[<p>Nights</p>]]></description></job>
<job><id>2</id><title>Cook <![CDATA[& baker]]></title><description>
  <![CDATA[<p>Days</p>]]>
</description></job>
<job><id>3</id></job>
<job><id>4</id><title>Chef</title><company><id>company-4</id><title>ACME</title></company></job>
<job><id>5</id><title>Guard</title><description><![CDATA[<html><head><title>Careers at ACME</title></head></html>]]></description></job>
</jobs>
FEED
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
"$root/usr/bin/mariadb" --no-defaults --socket="$work/socket" --local-infile=1 --batch >out <<'SQL'
create database jobs;
use jobs;
create table jobs (at int auto_increment primary key, id varchar(20), title varchar(40), description text);
load xml local infile 'jobs.xml' into table jobs rows identified by '<job>' (id, title, description);
set @warnings = @@warning_count;
select id, title, trim(description) as description from jobs order by at;
select concat('warnings: ', @warnings) as '';
SQL
sed '/^$/d; s/ *$//' out | expect_seen
