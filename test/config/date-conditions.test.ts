// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration itself contains ${NAME}.
// How conditions on dates are written, what they become, and what is said about mistakes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { feedName } from '../../src/posting/identifiers.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const folder = temporaryFolder();

async function mappingOf(skip: string, timeZone?: string) {
  const config = [
    'sites: { board: { base_url: "https://jobs.example.com", token: "${TOKEN}" } }',
    'feeds:',
    '  acme:',
    '    source: "-"',
    '    site: board',
    ...(timeZone === undefined ? [] : [`    time_zone: ${timeZone}`]),
    `    skip: ${skip}`,
    '    format:',
    '      type: json',
    '      key: key',
    '      skip: { withdrawn: { past: true } }',
    '      fields: { title: { when: { opens: { future: false, zone: UTC } }, from: name }, location-state: { value: Texas } }',
  ].join('\n');
  writeFileSync(join(folder, 'jobmirror.yaml'), config);
  const { feeds } = await loadConfig({ env: { TOKEN: 'zq-1' }, cwd: folder });
  return feeds.get(feedName('acme'))?.mapping ?? expect.fail();
}

const DAY = 86_400_000;

test.each([
  ['{ posted: { newer_than: 30d } }', [[{ path: 'posted', newerThan: 30 * DAY }]]],
  ['{ posted: { older_than: 2w, order: day_first } }', [[{ path: 'posted', olderThan: 14 * DAY, order: 'day first' }]]],
  ['{ date: closes, past: true }', [[{ path: 'closes', past: true }]]],
  [
    '{ date: "job/@closes", past: false, zone: Europe/Berlin }',
    [[{ path: 'job/@closes', past: false, zone: 'Europe/Berlin' }]],
  ],
  [
    '{ date: posted, older_than: 90m, newer_than: 12h }',
    [[{ path: 'posted', olderThan: 5_400_000, newerThan: DAY / 2 }]],
  ],
  [
    '{ date: closes, future: true, status: open }',
    [
      [
        { path: 'closes', future: true },
        { path: 'status', is: ['open'] },
      ],
    ],
  ],
  // A path may be called date, or past.
  ['{ date: { older_than: 1d } }', [[{ path: 'date', olderThan: DAY }]]],
  ['{ date: date, older_than: 1d }', [[{ path: 'date', olderThan: DAY }]]],
  ['{ date: today }', [[{ path: 'date', is: ['today'] }]]],
  ['{ past: { is: true } }', [[{ path: 'past', is: ['true'] }]]],
  ['{ past: [a, b] }', [[{ path: 'past', is: ['a', 'b'] }]]],
  [
    '[{ date: closes, past: true }, { status: closed }]',
    [[{ path: 'closes', past: true }], [{ path: 'status', is: ['closed'] }]],
  ],
])('%s', async (written, groups) => {
  expect((await mappingOf(written)).skip?.slice(1)).toEqual(groups);
});

test('days are those of the time zone of the feed, unless a condition names another one', async () => {
  const { skip, fields } = await mappingOf('[{ closes: { past: true } }, { city: x }]', 'America/Chicago');
  expect(skip).toEqual([
    [{ path: 'withdrawn', past: true, zone: 'America/Chicago' }],
    [{ path: 'closes', past: true, zone: 'America/Chicago' }],
    [{ path: 'city', is: ['x'] }],
  ]);
  expect(fields.title).toMatchObject({ when: [[{ path: 'opens', future: false, zone: 'UTC' }]] });
});

const DURATION = 'must be a number and a unit, such as 90m (minutes), 12h (hours), 30d (days) or 2w (weeks)';

test.each([
  ['{ posted: { older_than: 30 } }', `skip.posted.older_than: ${DURATION}`],
  ['{ posted: { older_than: 30 days } }', `skip.posted.older_than: ${DURATION}`],
  ['{ posted: { older_than: 0d } }', `skip.posted.older_than: ${DURATION}`],
  ['{ posted: { newer_than: 40000d } }', 'skip.posted.newer_than: must be at most 36500d'],
  ['{ date: posted, newer_than: 1y }', `skip.newer_than: ${DURATION}`],
  ['{ newer_than: 30d }', 'skip.date: is missing: the path of the date; write { date: closes, past: true }'],
  ['{ past: true }', 'skip.date: is missing'],
  ['{ date: [a, b], past: true }', 'skip.date: must be the path of the date'],
  ['{ date: "a//b", past: true }', 'skip.date: the path "a//b" has no name'],
  ['{ date: closes, past: yes }', 'skip.past: must be true or false'],
  ['{ closes: { past: maybe } }', 'skip.closes.past: must be true or false'],
  ['{ closes: { zone: UTC } }', 'skip.closes: order and zone belong to newer_than, older_than, past or future'],
  ['{ closes: { past: true, zone: Berlin } }', 'skip.closes.zone: must be an IANA time zone'],
  ['{ date: closes, past: true, order: us }', 'skip.order: '],
])('%s is refused', async (written, message) => {
  await expect(mappingOf(written)).rejects.toThrow(message);
});
