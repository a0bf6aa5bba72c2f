#!/usr/bin/env bash
# Tcl's csv package reads "", the empty text that sqlite3 and Postgres write, as one quotation mark.
#
# Version: csv 0.8.1 (Debian 12: tcllib 1.21+dfsg-1), Tcl 8.6.13; sqlite3 3.40.1.
#
# Expected: A field "" is an empty text (RFC 4180); two quotation marks mean one only within quotation marks, which then are four.
#
# Behaviour: csv::split and csv::read2matrix return one quotation mark for "", unless they are told -alternate. csv::join writes it as """",
# which other readers take for a quotation mark. A field that is empty without quotation marks stays empty.
#
# Why it matters: Databases write "" for an empty text and nothing for NULL. Each job with an empty salary or place has a quotation mark
# there, and only those that are NULL are right.
#
# Seen:
#   sqlite3 writes: 7,Nurse,"" 8,Cook,
#   csv::split: 7|Nurse|" 8|Cook|
#   csv::join of it: 7,Nurse,"""" 8,Cook,
#   csv::split -alternate: 7|Nurse| 8|Cook|

source "$(dirname "$0")/support/prepare.sh"
debian tcllib=1.21+dfsg-1 tcl8.6=8.6.13+dfsg-2 sqlite3=3.40.1-2+deb12u2
sqlite3 -csv :memory: "select 7, 'Nurse', '' union all select 8, 'Cook', null" | tr -d '\r' >jobs.csv
cat >program.tcl <<'PROGRAM'
package require csv
set lines [split [string trim [read [open jobs.csv]]] \n]
puts "sqlite3 writes: [join $lines]"
puts "csv::split: [join [lmap line $lines { join [csv::split $line] | }]]"
puts "csv::join of it: [join [lmap line $lines { csv::join [csv::split $line] }]]"
puts "csv::split -alternate: [join [lmap line $lines { join [csv::split -alternate $line] | }]]"
PROGRAM
TCL_LIBRARY="$root/usr/share/tcltk/tcl8.6" TCLLIBPATH="$root/usr/share/tcltk/tcllib1.21" tclsh8.6 program.tcl | expect_seen
