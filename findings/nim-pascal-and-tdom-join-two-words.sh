#!/usr/bin/env bash
# Nim, Free Pascal and tDOM read "Senior <b>Nurse</b> <i>ICU</i>" as "Senior NurseICU"; Nim loses CDATA as well.
#
# Version: Debian 12: Nim 1.6.10, Free Pascal 3.2.2 (fp-units-fcl-3.2.2), Tcl 8.6.13 with tDOM 0.9.3.
#
# Expected: A blank between two elements is text, unless a schema says that there are only elements: XML 1.0, 2.10 has all of it passed on.
#
# Behaviour: All three drop a text of blanks only, also where there are words beside it; each has an option that keeps it. Nim's innerText
# leaves out CDATA too.
#
# Why it matters: Titles and descriptions with markup lose blanks between words. A feed that passes through such a tool and one that does
# not differ in such jobs only, so that a mirror updates them whenever the source is changed from one to the other.
#
# Seen:
#   Nim: Senior NurseICU; description: ""
#   Free Pascal: Senior NurseICU; description: "<p>Days</p>"
#   tDOM: Senior NurseICU; description: "<p>Days</p>"

source "$(dirname "$0")/support/prepare.sh"
debian nim=1.6.10-2 fp-compiler-3.2.2=3.2.2+dfsg-20 fp-units-fcl-3.2.2=3.2.2+dfsg-20 fp-units-base-3.2.2=3.2.2+dfsg-20 \
  fp-units-rtl-3.2.2=3.2.2+dfsg-20 tdom=0.9.3-1 tcl8.6=8.6.13+dfsg-2
echo '<job><title>Senior <b>Nurse</b> <i>ICU</i></title><description><![CDATA[<p>Days</p>]]></description></job>' >job.xml
cat >program.nim <<'PROGRAM'
import xmlparser, xmltree
let job = loadXml("job.xml")
echo "Nim: ", job.child("title").innerText, "; description: \"", job.child("description").innerText, "\""
PROGRAM
cat >program.pas <<'PROGRAM'
program jobs;
{$mode objfpc}{$H+}
uses dom, xmlread;
var
  Document: TXMLDocument;
  Job: TDOMElement;
begin
  ReadXMLFile(Document, 'job.xml');
  Job := Document.DocumentElement;
  WriteLn('Free Pascal: ', Job.FindNode('title').TextContent, '; description: "', Job.FindNode('description').TextContent, '"');
end.
PROGRAM
cat >program.tcl <<'PROGRAM'
package require tdom
set job [[dom parse [read [open job.xml]]] documentElement]
puts "tDOM: [$job selectNodes string(title)]; description: \"[$job selectNodes string(description)]\""
PROGRAM
libraries="$root/usr/lib/nim/lib"
cp "$root/etc/nim/"*.cfg .
nim compile --hints:off --warnings:off --lib:"$libraries" --nimcache:"$work/nim" --out:of-nim "--path:$libraries/pure" "--path:$libraries/core" \
  "--path:$libraries/std" "--path:$libraries/pure/collections" program.nim >log 2>&1
ppcx64-3.2.2 -n "-Fu$root/usr/lib/x86_64-linux-gnu/fpc/3.2.2/units/x86_64-linux/*" -oof-pascal program.pas >>log 2>&1
{
  ./of-nim
  ./of-pascal
  TCL_LIBRARY="$root/usr/share/tcltk/tcl8.6" TCLLIBPATH="$root/usr/lib/tcltk/x86_64-linux-gnu" tclsh8.6 program.tcl
} | expect_seen
