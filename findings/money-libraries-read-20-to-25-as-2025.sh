#!/usr/bin/env bash
# currency.js, numeral and accounting read "20 to 25" as 2025 and "20,50" as 2050; numeral reads "$20 - $25" as -2025.
#
# Version: npm: currency.js 2.0.4, numeral 2.0.6, accounting 0.4.1.
#
# Expected: A number only where the text is one; NaN, null or an error for a range or a sentence.
#
# Behaviour: Each removes what is no digit, point or minus, and reads the rest, wherever it stood: the digits of two numbers become one. Which text
# is NaN and which is a number depends on the minus and the points. "$20.00 per hour, 40 hours" is 20 in one of them and 20.004 in two.
#
# Why it matters: Pay in feeds is such text as often as a number. Most results look like a pay: 2025 a week, 20.004 an hour, 1.5 for 1,500 in
# German. Read pay with a pattern that must fit the whole text.
#
# Seen:
#                                currency.js numeral  accounting
#   20 to 25                     2025        2025     2025
#   $20 - $25                    NaN         -2025    20
#   $18.50–$22                   18.5        18.5022  18.5022
#   $20.00 per hour, 40 hours    20          20.004   20.004
#   20,50                        2050        2050     2050
#   $1.500,00                    1.5         1.5      1.5
#   40k                          40          40000    40
#   $40K                         40          40       40
#   DOE                          0           null     0

source "$(dirname "$0")/support/prepare.sh"
npm_packages currency.js@2.0.4 numeral@2.0.6 accounting@0.4.1
cat >program.mjs <<'PROGRAM'
import accounting from 'accounting';
import currency from 'currency.js';
import numeral from 'numeral';
const show = (text, ...results) => console.log([text.padEnd(28), ...results.map((result, at) => String(result).padEnd([11, 8, 0][at]))].join(' '));
show('', 'currency.js', 'numeral', 'accounting');
for (const text of ['20 to 25', '$20 - $25', '$18.50–$22', '$20.00 per hour, 40 hours', '20,50', '$1.500,00', '40k', '$40K', 'DOE'])
  show(text, currency(text).value, numeral(text).value(), accounting.unformat(text));
PROGRAM
node program.mjs | expect_seen
