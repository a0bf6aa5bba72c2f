#!/usr/bin/env bash
# feedgenerator, which is Django's, makes the ID of an Atom entry of its address and its date.
#
# Version: feedgenerator 2.0.0 (Debian 12: python3-feedgenerator 2.0.0-1).
#
# Expected: The ID of an entry without one of its own is its address, as in RSS of the same package, and does not change (RFC 4287,
# 4.2.6: it must never change).
#
# Behaviour: The ID is a tag URI with the day of publication. The fragment of the address becomes a part of its path.
#
# Why it matters: Job boards renew the date of a job to show it on top again. Each renewal is another ID: a mirror deletes the job and creates a
# new one, with another address and without its applicants. The link is the better key.
#
# Seen:
#   https://example.com/jobs/7 on 2026-10-01: tag:example.com,2026-10-01:/jobs/7
#   https://example.com/jobs/7 on 2026-11-01: tag:example.com,2026-11-01:/jobs/7
#   https://example.com/jobs#7 on 2026-11-01: tag:example.com,2026-11-01:/jobs/7

source "$(dirname "$0")/support/prepare.sh"
debian python3-feedgenerator=2.0.0-1 python3-six=1.16.0-4
cat >program.py <<'PROGRAM'
import datetime, feedgenerator, re
for link, month in (('https://example.com/jobs/7', 10), ('https://example.com/jobs/7', 11), ('https://example.com/jobs#7', 11)):
    day = datetime.date(2026, month, 1)
    feed = feedgenerator.Atom1Feed(title='Jobs', link='https://example.com/', description='')
    feed.add_item(title='Nurse', link=link, description='Work', pubdate=datetime.datetime.combine(day, datetime.time(9, 30)))
    entry = feed.writeString('utf-8').split('<entry>')[1]
    print(f'{link} on {day}:', re.search('<id>(.*?)</id>', entry)[1])
PROGRAM
python3.11 program.py | expect_seen
