// Likely mistakes of a mapping: the first pull, plan, check and status warn about the same, and later pulls do not.
// @module-tag slow
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror.close());

const format = (records: string, description: string) =>
  `{ records: ${records}, key: referencenumber, fields: { number: referencenumber, title: title, description: ${description}, location-state: { from: state, as: us_state } } }`;

const TYPO =
  'fields.description: "descripton" is always empty in the 5 records that were read; did you mean "description"?';

it('a path that no record has is reported by check, plan, the first pull and status', async () => {
  mirror = await openMirror({ feed: { format: format('source/job', 'descripton') } });
  await mirror.writeFeed(feedXml(postings(5)));
  const checked = await runProgram(mirror, 'check');
  expect(checked.out).toContain(`warning: feed acme: ${TYPO}`);
  expect(checked.status).toBe(0);
  const [json] = (await runProgram(mirror, 'check', '--json')).json<{ warnings: string[]; right: boolean }>();
  expect(json).toMatchObject({ right: true, warnings: expect.arrayContaining([`feed acme: ${TYPO}`]) });
  expect((await runProgram(mirror, 'plan')).errors).toContain(`acme: warning: ${TYPO}`);

  const first = await runProgram(mirror, 'sync');
  expect(first.out).toContain(`\n  warning: ${TYPO}`);
  expect(first.status).toBe(0);
  // One more posting: the others are known, so nothing is sampled.
  expect(await mirror.syncOf(postings(6))).toMatchObject({ created: 1, unchanged: 5, warnings: [] });
  expect(await mirror.sync()).toMatchObject({ unchanged: 6, warnings: [] });
  expect((await runProgram(mirror, 'status')).out).toContain(`acme: warning: ${TYPO}`);
  const feed = (await runProgram(mirror, 'status', '--json')).json().find(({ kind }) => kind === 'feed');
  expect(feed).toMatchObject({ warnings: [TYPO] });
});

it('values that stand for nothing are reported by check, plan, the first pull and status', async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(5).map((one, at) => (at < 3 ? { ...one, city: 'Unknown' } : one))));
  const warning =
    'fields.location-city: "Unknown" is the value in 3 of the 5 records that were read, and seems to stand for nothing; to leave it out: location-city: { from: city, when: { city: { not: Unknown } } }';
  expect((await runProgram(mirror, 'check')).out).toContain(`warning: feed acme: ${warning}`);
  expect((await runProgram(mirror, 'plan')).errors).toContain(`acme: warning: ${warning}`);
  expect((await runProgram(mirror, 'sync')).out).toContain(`\n  warning: ${warning}`);
  expect((await runProgram(mirror, 'status')).out).toContain(`acme: warning: ${warning}`);
});

it('a path of the records that matches nothing is reported, until it is right', async () => {
  mirror = await openMirror({ feed: { format: format('source/jobb', 'description') } });
  await mirror.writeFeed(feedXml(postings(5)));
  const warning = 'records: "source/jobb" matches nothing; "source/job" occurs 5 times';
  expect((await runProgram(mirror, 'check')).out).toContain(`warning: feed acme: ${warning}`);
  expect(await mirror.sync()).toMatchObject({ seen: 0, warnings: [warning] });
  expect((await runProgram(mirror, 'status')).out).toContain(`acme: warning: ${warning}`);

  await mirror.configure('source/jobb', 'source/job');
  expect(await mirror.sync()).toMatchObject({ seen: 5, created: 5, warnings: [] });
  expect((await runProgram(mirror, 'status')).out).not.toContain('warning:');
});

it('a warning about a feed without records goes once it has records again', async () => {
  // Incomplete pulls hold no deletes: the postings stay known.
  mirror = await openMirror({ feed: { format: format('source/job', 'description'), expect: '{ min_records: 1 }' } });
  const feed = feedXml(postings(5));
  await mirror.writeFeed(feed);
  expect(await mirror.sync()).toMatchObject({ created: 5, warnings: [] });
  await mirror.writeFeed(feed.toString().replaceAll('job>', 'jobb>'));
  const warning = 'records: "source/job" matches nothing; "source/jobb" occurs 5 times';
  expect(await mirror.sync()).toMatchObject({ seen: 0, warnings: [warning] });
  expect((await runProgram(mirror, 'status')).out).toContain(`acme: warning: ${warning}`);
  await mirror.writeFeed(feed);
  expect(await mirror.sync()).toMatchObject({ seen: 5, unchanged: 5, warnings: [] });
  expect((await runProgram(mirror, 'status')).out).not.toContain('warning:');
});

it('a changed mapping is checked again, and a large feed by a part of its records', async () => {
  mirror = await openMirror({ feed: { format: format('source/job', 'description') } });
  expect(await mirror.syncOf(postings(5))).toMatchObject({ created: 5, warnings: [] });
  await mirror.stopEngine();
  await writeFile(
    mirror.configPath,
    (await readFile(mirror.configPath, 'utf8')).replace('description: description', 'description: descripton'),
  );
  // Those that are new break a rule, so that they need not be sent.
  const many = postings(400).map((one, at) => ({ ...one, description: 'x'.repeat(10_000) + at }));
  const { warnings } = await mirror.syncOf(many.map((one, at) => (at < 5 ? one : { ...one, state: 'Jalisco' })));
  const [, records] = /always empty in the (\d+) records/.exec(warnings[0] ?? '') ?? [];
  expect(Number(records)).toBeGreaterThanOrEqual(100);
  expect(Number(records)).toBeLessThan(200);
});

it('check says why a file is no feed, and nothing about an empty one', async () => {
  mirror = await openMirror();
  await mirror.writeFeed('<!DOCTYPE html><html><title>Sign in</title></html>');
  const html = await runProgram(mirror, 'check');
  expect(html.out).toMatch(/warning: feed acme: HTML where an XML feed was expected/);
  expect(html.status).toBe(0);
  await mirror.writeFeed('<source><publisher/></source>');
  expect((await runProgram(mirror, 'check')).out).not.toContain('warning: feed');
  await mirror.writeFeed(feedXml([posting('p1')]));
  expect((await runProgram(mirror, 'check')).out).not.toContain('warning: feed');
});
