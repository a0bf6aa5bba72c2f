#!/usr/bin/env bash
# pandas makes numbers of strings in JSON: two keys become one. It makes milliseconds of dates by their names.
#
# Version: pandas 1.5.3 (Debian 12).
#
# Expected: JSON tells strings from numbers: "0017" stays a string, and "123456789012345678" too. Dates stay as they are, as JSON has none.
#
# Behaviour: read_json converts each column whose strings can all be read as numbers, by way of doubles. It converts dates to times, and
# to_json writes those as milliseconds, if the name of the member ends in _at or _time, begins with timestamp, or is date or modified.
#
# Why it matters: A filter or a merge of feeds in a few lines of pandas joins keys without a warning. Renaming a member changes all
# dates.
#
# Seen:
#   [{"id":123456789012345680,"ref":17},{"id":123456789012345680,"ref":18}]
#   [{"posted_at":1790812800000,"date_posted":"2026-10-01"}]

source "$(dirname "$0")/support/prepare.sh"
debian python3-pandas=1.5.3+dfsg-2
cat >program.py <<'PROGRAM'
import io, pandas
def pass_on(text): print(pandas.read_json(io.StringIO(text)).to_json(orient='records'))
pass_on('[{"id": "123456789012345678", "ref": "0017"}, {"id": "123456789012345679", "ref": "0018"}]')
pass_on('[{"posted_at": "2026-10-01", "date_posted": "2026-10-01"}]')
PROGRAM
python3.11 -W ignore program.py | expect_seen
