#!/usr/bin/env bash
# croniter runs a daily schedule twice on the day when clocks go forward, and an hour late on the day when they go back.
#
# Version: croniter 1.3.5 (Debian 12: python3-croniter 1.3.5-3) with Python's own time zones, zoneinfo of Python 3.11.2.
#
# Expected: "0 9 * * *" is at 9:00 of each day, also on the two days whose clocks change at 2:00.
#
# Behaviour: In New York, croniter says 8:00 and 9:00 on 8 March 2026, and 10:00 on 1 November. With the time zones of pytz it is right.
#
# Why it matters: A daily pull runs at a time that nobody has set, and twice: before the source has its new file, and after it. What was set for
# the quiet hour meets other work. A program that counts missed pulls by such a schedule counts one too many.
#
# Seen:
#   zoneinfo, March: 07 09:00, 08 08:00, 08 09:00, 09 09:00
#   zoneinfo, November: 31 09:00, 01 10:00, 02 09:00, 03 09:00
#   pytz, March: 07 09:00, 08 09:00, 09 09:00, 10 09:00
#   pytz, November: 31 09:00, 01 09:00, 02 09:00, 03 09:00

source "$(dirname "$0")/support/prepare.sh"
debian python3-croniter=1.3.5-3 python3-tz=2022.7.1-4 python3-dateutil=2.8.2-2
cat >program.py <<'PROGRAM'
import datetime, zoneinfo, pytz
from croniter import croniter
york = zoneinfo.ZoneInfo('America/New_York')
for name, zone in ('zoneinfo', york), ('pytz', pytz.timezone('America/New_York')):
    for month, day in ('March', (2026, 3, 6)), ('November', (2026, 10, 30)):
        runs = croniter('0 9 * * *', datetime.datetime(*day, 20, tzinfo=datetime.timezone.utc).astimezone(zone))
        at = [datetime.datetime.fromtimestamp(runs.get_next(), york).strftime('%d %H:%M') for _ in range(4)]
        print(f'{name}, {month}:', ', '.join(at))
PROGRAM
python3.11 program.py | expect_seen
