#!/usr/bin/env bash
# pandas writes keys of 17 digits to JSON with nine or ten digits once a row has no key; to CSV it writes all it has.
#
# Version: pandas 1.5.3 (Debian 12).
#
# Expected: A column of whole numbers with a gap becomes one of doubles, which lose digits from the 16th on. to_json and to_csv lose the same.
#
# Behaviour: to_json has ten decimal places by default (double_precision=10) and applies them to the number before its exponent.
#
# Why it matters: Keys that differ in their last seven digits become one. CSV made from the same frame looks right. A job without a key, which
# a mirror can report by itself, destroys all other keys.
#
# Seen:
#   all have one: [{"id":12345678901234561},{"id":12345678905555555}]
#   JSON, one has none: [{"id":1.23456789e+16},{"id":1.234567891e+16},{"id":null}]
#   CSV, one has none: 1.234567890123456e+16 1.2345678905555556e+16
#   JSON, 12 and 13 digits: [{"id":123456789012.0},{"id":1234567890123.0},{"id":null}]

source "$(dirname "$0")/support/prepare.sh"
debian python3-pandas=1.5.3+dfsg-2
cat >program.py <<'PROGRAM'
import pandas
def frame(*ids): return pandas.DataFrame({'id': list(ids)})
keys = (12345678901234561, 12345678905555555)
print('all have one:', frame(*keys).to_json(orient='records'))
print('JSON, one has none:', frame(*keys, None).to_json(orient='records'))
print('CSV, one has none:', *frame(*keys, None).to_csv(index=False).split('\n')[1:3])
print('JSON, 12 and 13 digits:', frame(123456789012, 1234567890123, None).to_json(orient='records'))
PROGRAM
python3.11 -W ignore program.py | expect_seen
