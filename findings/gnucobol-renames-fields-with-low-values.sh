#!/usr/bin/env bash
# GnuCOBOL's XML GENERATE writes a title with a NUL in it as an element of another name, hex.JOB-TITLE.
#
# Version: GnuCOBOL 3.1.2 (Debian 12: gnucobol3 3.1.2-5+b1), libxml2 2.9.14.
#
# Expected: Trailing NULs (LOW-VALUES), which COBOL programs leave where nothing was moved to, are dropped as blanks are, or are an error.
#
# Behaviour: One NUL anywhere in a field makes digits of all its characters, and puts "hex." before the name of its element. An empty field that
# has blanks is an element with one blank, one that has NULs is hex.JOB-TITLE. XML-CODE is 0 each time.
#
# Why it matters: Staff systems on mainframes fill records from several programs, so that the same field has blanks in one job and NULs in the
# next. A mapping of JOB-TITLE finds no title there, without an error from the writer: a mirror must not take that for an empty title.
#
# Seen:
#   blanks: <JOB><JOB-ID>7</JOB-ID><JOB-TITLE>Nurse</JOB-TITLE></JOB>
#   blanks and a NUL: <JOB><JOB-ID>7</JOB-ID><hex.JOB-TITLE>4e75727365202000</hex.JOB-TITLE></JOB>
#   only NULs: <JOB><JOB-ID>7</JOB-ID><hex.JOB-TITLE>0000000000000000</hex.JOB-TITLE></JOB>
#   only blanks: <JOB><JOB-ID>7</JOB-ID><JOB-TITLE> </JOB-TITLE></JOB>

source "$(dirname "$0")/support/prepare.sh"
debian gnucobol3=3.1.2-5+b1 libcob4=3.1.2-5+b1 libcob4-dev=3.1.2-5+b1
cat >program.cob <<'PROGRAM'
       IDENTIFICATION DIVISION.
       PROGRAM-ID. JOBS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 JOB.
          05 JOB-ID PIC 9(7) VALUE 7.
          05 JOB-TITLE PIC X(8) VALUE "Nurse".
       01 XML-TEXT PIC X(200).
       01 XML-LENGTH PIC 9(5).
       PROCEDURE DIVISION.
           DISPLAY "blanks: " NO ADVANCING PERFORM WRITE-JOB
           MOVE LOW-VALUES TO JOB-TITLE(8:1)
           DISPLAY "blanks and a NUL: " NO ADVANCING PERFORM WRITE-JOB
           MOVE LOW-VALUES TO JOB-TITLE
           DISPLAY "only NULs: " NO ADVANCING PERFORM WRITE-JOB
           MOVE SPACES TO JOB-TITLE
           DISPLAY "only blanks: " NO ADVANCING PERFORM WRITE-JOB
           STOP RUN.
       WRITE-JOB.
           MOVE 0 TO XML-LENGTH
           XML GENERATE XML-TEXT FROM JOB COUNT IN XML-LENGTH
             ON EXCEPTION DISPLAY "error " XML-CODE END-XML
           DISPLAY XML-TEXT(1:XML-LENGTH).
PROGRAM
export COB_CONFIG_DIR="$root/etc/gnucobol" COB_CFLAGS="-I$root/usr/include" COB_LIBS="-L$root/usr/lib/x86_64-linux-gnu -lcob"
cobc -x -o program program.cob
./program | expect_seen
