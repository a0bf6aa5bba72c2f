#!/usr/bin/env bash
# "5/15 * * * *" runs four times an hour in cron-parser and cron, once in cron-schedule, and is an error in croner.
#
# Version: npm: cron-parser 5.10.6, cron 4.4.0, cron-schedule 6.0.0, croner 11.0.1.
#
# Expected: The five fields of cron mean the same in all libraries; at most they differ in what they do not know.
#
# Behaviour: A number before the slash is the begin of a range to some and that number alone to others. In the hour that a change of the clock
# leaves out, 02:30 is 03:30 in cron-parser and 03:00 in croner and cron.
#
# Why it matters: A schedule that is copied from one tool to another pulls a feed every quarter of an hour or once, without any message.
#
# Seen:
#   cron-parser: 5/15 at 05 20 35 50; 02:30 on 2026-03-08 in New York at 03:30
#   cron: 5/15 at 05 20 35 50; 02:30 on 2026-03-08 in New York at 03:00
#   cron-schedule: 5/15 at 05 05 05 05
#   croner: 5/15 at error; 02:30 on 2026-03-08 in New York at 03:00

source "$(dirname "$0")/support/prepare.sh"
npm_packages cron-parser@5.10.6 cron@4.4.0 cron-schedule@6.0.0 croner@11.0.1
cat >program.mjs <<'PROGRAM'
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { parseCronExpression } from 'cron-schedule';
import { Cron } from 'croner';
const step = (next) => (from, count) => {
  const runs = [];
  for (let at = from; runs.length < count; ) runs.push((at = next(at)));
  return runs;
};
const LIBRARIES = {
  'cron-parser': (line, tz) => step((from) => CronExpressionParser.parse(line, { currentDate: from, tz }).next().toDate()),
  cron: (line, tz) => step((from) => new CronTime(line, tz).getNextDateFrom(from, tz).toJSDate()),
  // Knows the zone of the process only.
  'cron-schedule': (line, tz) => (tz === 'UTC' ? step((from) => parseCronExpression(line).getNextDate(from)) : undefined),
  croner: (line, timezone) => (from, count) => new Cron(line, { timezone }).nextRuns(count, from),
};
const show = (form) => { try { return form(); } catch { return 'error'; } };
const clock = new Intl.DateTimeFormat('en-GB', { timeZone: 'America/New_York', hour: '2-digit', minute: '2-digit' });
for (const [name, runs] of Object.entries(LIBRARIES)) {
  const minutes = show(() => runs('5/15 * * * *', 'UTC')(new Date('2026-12-01T00:00:00Z'), 4).map((at) => at.toISOString().slice(14, 16)).join(' '));
  const inYork = show(() => runs('30 2 * * *', 'America/New_York')?.(new Date('2026-03-07T12:00:00Z'), 1).map((at) => clock.format(at)).join());
  console.log(`${name}: 5/15 at ${minutes}${inYork === undefined ? '' : `; 02:30 on 2026-03-08 in New York at ${inYork}`}`);
}
PROGRAM
node program.mjs | expect_seen
