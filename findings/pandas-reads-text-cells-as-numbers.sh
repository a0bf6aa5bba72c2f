#!/usr/bin/env bash
# pandas makes numbers of the text cells of a workbook, and one 1e5 among them makes 7.0 of 007.
#
# Version: pandas 1.5.3 with openpyxl 3.0.9 (Debian 12).
#
# Expected: A workbook knows the type of each cell, unlike a CSV file. A reference that was entered as text stays as it is.
#
# Behaviour: read_excel guesses the types of columns from their texts, as read_csv does. If all texts of a column can be read as numbers, the
# column is numeric: 007 is 7, and with a text such as 1e5 or an empty cell all are written with .0.
#
# Why it matters: Formatting the column as text, the usual advice against lost zeros, does not help. A single new reference changes the
# keys of all jobs, so that a mirror creates all again. Use dtype=str.
#
# Seen:
#   ['7', '8']
#   ['7.0', '8.0', '100000.0']
#   ['007', '008', '1e5']

source "$(dirname "$0")/support/prepare.sh"
debian python3-pandas=1.5.3+dfsg-2 python3-openpyxl=3.0.9-1
cat >program.py <<'PROGRAM'
import openpyxl, pandas
def save(name, references):
    book = openpyxl.Workbook()
    for text in ['id', *references]:
        book.active.append([text])
        book.active.cell(book.active.max_row, 1).number_format = '@'
        assert book.active.cell(book.active.max_row, 1).data_type == 's'
    book.save(name)
def ids(name, **options):
    return pandas.read_excel(name, **options).to_csv(index=False).split()[1:]
save('one.xlsx', ['007', '008'])
save('two.xlsx', ['007', '008', '1e5'])
print(ids('one.xlsx'))
print(ids('two.xlsx'))
print(ids('two.xlsx', dtype=str))
PROGRAM
python3.11 -W ignore program.py | expect_seen
