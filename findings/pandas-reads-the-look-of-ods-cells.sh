#!/usr/bin/env bash
# pandas reads TRUE in an .ods file as False where it is shown as WAHR, and a comment as the beginning of the title.
#
# Version: pandas 1.5.3, odfpy 1.4.2 (Debian 12).
#
# Expected: A cell has its value, office:boolean-value; its text is only what a person sees, in the language of the program. A comment on a cell is
# no part of it, and two lines of a text stay two.
#
# Behaviour: A boolean is True if the text of the cell is TRUE, and False for any other text or none. The text of a comment stands before the text of the
# cell, and lines are joined without anything between them.
#
# Why it matters: LibreOffice in German, French or Spanish saves WAHR, VRAI or VERDADERO: all jobs that are remote or urgent are not. A colleague's comment
# on a title changes it, also where the comment is hidden, and the job is updated; the name of a person and "don't publish" are then in public.
#
# Seen:
#   boolean-value true, shown as TRUE: True
#   boolean-value true, shown as WAHR: False
#   boolean-value true, shown as VRAI: False
#   boolean-value true, without a text: False
#   Cook, with a comment: 'Ask Ann firstCook'
#   two lines: 'NurseNights'

source "$(dirname "$0")/support/prepare.sh"
debian python3-pandas=1.5.3+dfsg-2 python3-odf=1.4.2-2
cat >program.py <<'PROGRAM'
import pandas
from odf.office import Annotation
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableCell, TableRow
from odf.text import P
def cell(*content, **attributes):
    made = TableCell(**attributes)
    for each in content: made.addElement(P(text=each) if isinstance(each, str) else each)
    return made
comment = Annotation()
comment.addElement(P(text='Ask Ann first'))
cells = {f'boolean-value true, shown as {text}': cell(text, valuetype='boolean', booleanvalue='true') for text in ('TRUE', 'WAHR', 'VRAI')}
cells['boolean-value true, without a text'] = cell(valuetype='boolean', booleanvalue='true')
cells['Cook, with a comment'] = cell(comment, 'Cook', valuetype='string')
cells['two lines'] = cell('Nurse', 'Nights', valuetype='string')
book = OpenDocumentSpreadsheet()
table = Table(name='Jobs')
book.spreadsheet.addElement(table)
for name, made in cells.items():
    row = TableRow()
    row.addElement(cell(name, valuetype='string'))
    row.addElement(made)
    table.addElement(row)
book.save('jobs.ods')
for name, value in pandas.read_excel('jobs.ods', engine='odf', header=None).values.tolist(): print(f'{name}: {value!r}')
PROGRAM
python3.11 -W ignore program.py | expect_seen
