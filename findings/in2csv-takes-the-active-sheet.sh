#!/usr/bin/env bash
# in2csv converts the sheet that was open when the workbook was last saved; the other converters take the first one.
#
# Version: csvkit 1.0.7, xlsx2csv 0.7.8, openpyxl 3.0.9 (Debian 12).
#
# Expected: A converter to CSV takes the first sheet of a workbook, unless another one is named.
#
# Behaviour: in2csv asks openpyxl for the active sheet. xlsx2csv, and LibreOffice, Gnumeric, pandas and SheetJS as well, take the first.
#
# Why it matters: Somebody looks at the sheet "Closed" and saves the workbook: nothing has changed in it, but the feed has the other jobs,
# and a mirror sees all of its own ones gone. Name the sheet (--sheet).
#
# Seen:
#   first sheet open
#   id,title
#   a7,Nurse
#   id,title
#   a7,Nurse
#   second sheet open
#   id,title
#   b1,Cook (closed)
#   id,title
#   a7,Nurse

source "$(dirname "$0")/support/prepare.sh"
debian csvkit=1.0.7-1 xlsx2csv=1:0.7.8-1 python3-openpyxl=3.0.9-1
cat >program.py <<'PROGRAM'
import openpyxl
book = openpyxl.Workbook()
for row in (['id', 'title'], ['a7', 'Nurse']): book.active.append(row)
closed = book.create_sheet('Closed')
for row in (['id', 'title'], ['b1', 'Cook (closed)']): closed.append(row)
book.save('first.xlsx')
book.active = 1
book.save('second.xlsx')
PROGRAM
python3.11 program.py
for book in first second; do
  echo "$book sheet open"
  python3.11 "$root/usr/bin/in2csv" $book.xlsx 2>log
  python3.11 "$root/usr/bin/xlsx2csv" $book.xlsx
done | expect_seen
