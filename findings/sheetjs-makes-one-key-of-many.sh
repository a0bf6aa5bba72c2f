#!/usr/bin/env bash
# SheetJS writes numbers of 12 digits as 1.23457E+11, so that different references become one.
#
# Version: SheetJS (npm: xlsx 0.18.5), sheet_to_csv, and sheet_to_json with raw: false.
#
# Expected: Whole numbers up to 15 digits are exact in a spreadsheet, and come out with all digits, as from LibreOffice, which rounds from
# 17 digits.
#
# Behaviour: Numbers of 12 digits and more in cells of the format General are written as a spreadsheet shows them in a narrow column: six
# digits and an exponent.
#
# Why it matters: Requisition numbers of 12 digits are usual. All that share six digits get the same key: the mirror sees one posting and
# conflicting duplicates. The original is lost before any reader can notice.
#
# Seen:
#   id,title
#   12345678901,Nurse
#   1.23457E+11,Cook
#   1.23457E+11,Chef
#   ["12345678901","1.23457E+11","1.23457E+11"]

source "$(dirname "$0")/support/prepare.sh"
npm_packages xlsx@0.18.5
cat >program.mjs <<'PROGRAM'
import XLSX from 'xlsx';
const sheet = XLSX.utils.aoa_to_sheet([['id', 'title'], [12345678901, 'Nurse'], [123456789012, 'Cook'], [123456789013, 'Chef']]);
console.log(XLSX.utils.sheet_to_csv(sheet).trim());
console.log(JSON.stringify(XLSX.utils.sheet_to_json(sheet, { raw: false }).map(({ id }) => id)));
PROGRAM
node program.mjs | expect_seen
