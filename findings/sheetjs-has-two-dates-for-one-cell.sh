#!/usr/bin/env bash
# SheetJS writes one cell of a workbook with the dates of 1904 as 2026-10-01 to CSV and as 2022-09-30 to JSON.
#
# Version: npm: xlsx (SheetJS) 0.18.5, convert-excel-to-json 1.7.0, xlstream 2.5.5, xlsx-stream-reader 1.1.1, xlsx-populate 1.21.0,
# exceljs 4.4.0, read-excel-file 9.3.17; Debian 12: XlsxWriter 3.0.2.
#
# Expected: A workbook says whether its days are counted from 1900 or from 1904, as Excel on the Mac did and files made there still do;
# each reader goes by it.
#
# Behaviour: SheetJS goes by it for the text of a cell, not for the date that cellDates makes of it. convert-excel-to-json, which is made of it,
# xlstream, xlsx-stream-reader and the conversion of xlsx-populate do not either. exceljs and read-excel-file do, as do
# openpyxl, xlsx2csv, csvkit, Roo and readxl in Debian.
#
# Why it matters: A job that is open until next autumn closed four years and a day before that: a mirror that leaves out expired jobs deletes all
# jobs of such a table.
#
# Seen:
#   SheetJS, CSV: 2026-10-01
#   SheetJS, JSON: 2022-09-30
#   convert-excel-to-json: 2022-09-30
#   xlstream: 2022-09-30
#   xlsx-stream-reader: 2022-09-30
#   xlsx-populate: 2022-09-30
#   exceljs: 2026-10-01
#   read-excel-file: 2026-10-01

source "$(dirname "$0")/support/prepare.sh"
npm_packages xlsx@0.18.5 convert-excel-to-json@1.7.0 xlstream@2.5.5 xlsx-stream-reader@1.1.1 xlsx-populate@1.21.0 exceljs@4.4.0 \
  read-excel-file@9.3.17
debian python3-xlsxwriter=3.0.2-2
python3.11 - <<'PROGRAM'
import datetime, xlsxwriter
book = xlsxwriter.Workbook('jobs.xlsx', {'date_1904': True})
sheet = book.add_worksheet()
sheet.write_datetime(0, 0, datetime.datetime(2026, 10, 1), book.add_format({'num_format': 'yyyy-mm-dd'}))
book.close()
PROGRAM
cat >program.mjs <<'PROGRAM'
import { createReadStream } from 'node:fs';
import convert from 'convert-excel-to-json';
import exceljs from 'exceljs';
import readExcelFile from 'read-excel-file/node';
import SheetJS from 'xlsx';
import xlsxPopulate from 'xlsx-populate';
import XlsxStreamReader from 'xlsx-stream-reader';
import { getXlsxStream } from 'xlstream';
const show = (name, value) => console.log(`${name}: ${value instanceof Date ? value.toISOString().slice(0, 10) : value}`);
const file = 'jobs.xlsx';
const sheet = SheetJS.readFile(file, { cellDates: true }).Sheets.Sheet1;
show('SheetJS, CSV', SheetJS.utils.sheet_to_csv(sheet).trim());
show('SheetJS, JSON', SheetJS.utils.sheet_to_json(sheet, { header: 'A' })[0].A);
show('convert-excel-to-json', convert({ sourceFile: file }).Sheet1[0].A);
for await (const row of await getXlsxStream({ filePath: file, sheet: 0 })) show('xlstream', row.formatted.arr[0]);
await new Promise((resolve) => {
  const reader = new XlsxStreamReader();
  reader.on('worksheet', (rows) => rows.on('row', ({ values }) => show('xlsx-stream-reader', values[1])).on('end', resolve).process());
  createReadStream(file).pipe(reader);
});
show('xlsx-populate', xlsxPopulate.numberToDate((await xlsxPopulate.fromFileAsync(file)).sheet(0).cell('A1').value()));
const book = new exceljs.Workbook();
await book.xlsx.readFile(file);
show('exceljs', book.worksheets[0].getCell('A1').value);
show('read-excel-file', (await readExcelFile(file))[0].data[0][0]);
PROGRAM
node program.mjs | expect_seen
