#!/usr/bin/env bash
# node-ical returns a title as an object where it has a language, and keeps one of two events with a UID.
#
# Version: npm: node-ical 0.26.1.
#
# Expected: The type of a property does not depend on its parameters, and a repeated UID is kept or reported.
#
# Behaviour: `SUMMARY:Nurse` is a string, `SUMMARY;LANGUAGE=en:Nurse` an object with `params` and `val`. Of two events with one UID, as
# calendars of job fairs have for their days, the last one is kept, and nothing says so.
#
# Why it matters: Programs that make feeds of calendars write "[object Object]" for titles once somebody sets a language.
#
# Seen:
#   a Nurse "Nurse"
#   b [object Object] {"params":{"LANGUAGE":"en"},"val":"Cook"}
#   c Fair, Tuesday "Fair, Tuesday"

source "$(dirname "$0")/support/prepare.sh"
npm_packages node-ical@0.26.1
cat >program.mjs <<'PROGRAM'
import ical from 'node-ical';
const event = (uid, summary) => ['BEGIN:VEVENT', `UID:${uid}`, 'DTSTAMP:20261101T000000Z', 'DTSTART:20261101T100000Z', summary, 'END:VEVENT'];
const calendar = ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:x', ...event('a', 'SUMMARY:Nurse'), ...event('b', 'SUMMARY;LANGUAGE=en:Cook'),
  ...event('c', 'SUMMARY:Fair, Monday'), ...event('c', 'SUMMARY:Fair, Tuesday'), 'END:VCALENDAR'].join('\r\n');
for (const { type, uid, summary } of Object.values(ical.sync.parseICS(calendar)))
  if (type === 'VEVENT') console.log(uid, `${summary}`, JSON.stringify(summary));
PROGRAM
node program.mjs | expect_seen
