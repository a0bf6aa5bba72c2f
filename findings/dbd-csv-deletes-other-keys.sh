#!/usr/bin/env bash
# DBD::CSV deletes the jobs 007 and 7.0 with the job '7', and takes 100 for '1e2'.
#
# Version: DBD::CSV 0.60 with SQL::Statement 1.414 (Debian 12: libdbd-csv-perl 0.6000-1+deb12u1, libsql-statement-perl 1.414-1).
#
# Expected: All columns of a CSV table are texts, and '7' in quotes is a text too: only the row with that text is deleted, as in SQL.
#
# Behaviour: = and <> compare two values as numbers if both look like numbers, whatever was quoted or bound. ORDER BY and DISTINCT
# compare texts, so that a key that DISTINCT counts as another one is deleted with the first.
#
# Why it matters: A table of jobs is kept up by key with UPDATE and DELETE, and each key stands for all that are the same number. One closed job
# takes others with it, or others get its title; the number of changed rows is the only sign.
#
# Seen:
#   delete where id = '7': 3 rows
#   delete where id = ? (as a text): 3 rows
#   update where id = '1e2': 2 rows
#   distinct: 7 007 7.0 1e2 100 A7
#   left after the delete of '7': 1e2,Clerk 100,Guard A7,Chef

source "$(dirname "$0")/support/prepare.sh"
debian libdbd-csv-perl=0.6000-1+deb12u1 libsql-statement-perl=1.414-1 libtext-csv-xs-perl=1.49-1+deb12u1 libdbi-perl=1.643-4+deb12u3
cat >program.pl <<'PROGRAM'
use DBI qw(:sql_types);
my $jobs = DBI->connect('dbi:CSV:', undef, undef, { f_dir => '.', f_ext => '.csv/r', RaiseError => 1 });
sub fill {
  open my $table, '>', 'jobs.csv';
  print $table "id,title\n7,Nurse\n007,Cook\n7.0,Baker\n1e2,Clerk\n100,Guard\nA7,Chef\n";
}
fill();
print "delete where id = '7': ", $jobs->do("delete from jobs where id = '7'"), " rows\n";
fill();
my $delete = $jobs->prepare('delete from jobs where id = ?');
$delete->bind_param(1, '7', SQL_VARCHAR);
print 'delete where id = ? (as a text): ', $delete->execute, " rows\n";
fill();
print "update where id = '1e2': ", $jobs->do("update jobs set title = 'Chef' where id = '1e2'"), " rows\n";
fill();
print 'distinct: ', join(' ', map { $_->[0] } @{ $jobs->selectall_arrayref('select distinct id from jobs') }), "\n";
$jobs->do("delete from jobs where id = '7'");
print "left after the delete of '7': ", join(' ', map { "$_->[0],$_->[1]" } @{ $jobs->selectall_arrayref('select id, title from jobs') }), "\n";
PROGRAM
perl program.pl | expect_seen
