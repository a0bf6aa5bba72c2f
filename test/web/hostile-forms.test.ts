// Every form of the pages, sent by who may not, from elsewhere, or as what it is not: each is refused, and nothing is changed.
// @module-tag slow
import { beforeAll, expect, it } from 'vitest';
import { openStage } from '../review/stage.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { type Fields, visitorOf } from './form-visitor.ts';
import { rawRequest, serve, TOKENS } from './served.ts';
import { digestOf } from './whole-state.ts';

let forms: readonly (readonly [string, Fields])[];
const stage = openedForAll(() => openStage());
const served = openedForAll(() => serve(stage.mirror, { requestsPerMinute: 100_000 }));
beforeAll(async () => {
  await stage.pull([...postings(10), posting('odd', { state: 'Jalisco' }), posting('doubt')]);
  await stage.fail('doubt', 'in_doubt');
  await stage.acceptAll();
  await stage.pull([...postings(2), posting('odd', { state: 'Jalisco' }), posting('doubt')]);
  const [entry, doubt] = [await stage.entry('odd'), await stage.entry('doubt')];
  const { group } = (await served.api('GET', 'review/groups?kind=rejected')).body.items[0];
  forms = [
    ['/feed/pull', { feed: 'acme' }],
    ['/feed/resume', { feed: 'acme' }],
    ['/posting/sync', { feed: 'acme', key: 'odd' }],
    ['/posting/renew', { feed: 'acme', key: 'odd' }],
    ['/posting/undo-edit', { feed: 'acme', key: 'odd', version: 'x', fields: 'title' }],
    [`/review/entry/${entry}/decide`, { action: 'discard', version: 'x' }],
    ['/posting/edit', { feed: 'acme', key: 'odd', 'field.location-state': 'Texas', version: 'x' }],
    ['/review/entries', { action: 'retry', group, count: '1' }],
    ['/review/confirm', { action: 'discard', group, count: '1' }],
    ['/review/actions/1/stop', {}],
    ['/review/actions/1/continue', {}],
    ['/review/rules/1/end', {}],
    ['/review/notes', { group, text: 'x' }],
    ['/review/notes/1/remove', {}],
    ['/held', { feed: 'acme' }],
    [`/doubts/${doubt}`, { verdict: 'missing', version: 'x' }],
    ['/sites/board/resume', {}],
    ['/doubts/found', { feed: 'acme', mark: 'x' }],
    ['/rekey', { feed: 'acme', decision: 'sure', mark: 'x' }],
    ['/rekey', { feed: 'acme', decision: 'pair', key: 'p1', old_key: 'p9' }],
    ['/rekey', { feed: 'acme', decision: 'not_rekey', confirmed: 'true', mark: 'x' }],
    ['/adopt', { feed: 'acme', decision: 'match' }],
    ['/adopt', { feed: 'acme', decision: 'sure', mark: 'x' }],
    ['/adopt', { feed: 'acme', decision: 'named', key: 'p1', job: '1', show: 'sure' }],
  ];
});

it('without the CSRF token or with a wrong one, by viewers, and with wrong values', { timeout: 180_000 }, async () => {
  const [anna, ben] = [await visitorOf(served, 'anna'), await visitorOf(served, 'ben')];
  const before = await digestOf(stage);
  for (const [path, fields] of forms) {
    for (const csrf of ['', 'x', 'A'.repeat(43), ['a', 'b']]) {
      expect([path, (await anna.post(path, { ...fields, csrf })).status]).toEqual([
        path,
        Array.isArray(csrf) ? 400 : 403,
      ]);
    }
    expect([path, 'viewer', (await ben.post(path, fields)).status]).toEqual([path, 'viewer', 403]);
    for (const name of Object.keys(fields)) {
      // Any text may be a note.
      if (name === 'text') continue;
      for (const value of ['\0', "' or 1=1 --", '<script>', 'x'.repeat(20_000), ['one', 'two']]) {
        const { status, text } = await anna.post(path, { ...fields, version: 'x', [name]: value });
        expect([path, name, status >= 400 && status < 500]).toEqual([path, name, true]);
        expect(text).not.toMatch(/node_modules|\bat .*\.ts:\d|syntax error/);
        expect(text).not.toContain('<script>');
      }
    }
  }
  expect(await digestOf(stage)).toBe(before);
});

it('by strangers, with a token, from another origin, and as another type', async () => {
  const before = await digestOf(stage);
  const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
  for (const [path] of forms) {
    for (const [headers, statuses] of [
      [{ ...type, Origin: served.url }, [401, 403, 404]],
      [{ ...type, Origin: 'https://evil.example.com' }, [401, 403, 404]],
      [{ Authorization: `Bearer ${TOKENS.reader}`, ...type }, [400, 403, 404]],
      [{ Authorization: `Bearer ${TOKENS.reviewer}`, 'Content-Type': 'application/json' }, [415, 404]],
      [{ Authorization: `Bearer ${TOKENS.reviewer}`, 'Content-Type': 'multipart/form-data; boundary=x' }, [415, 404]],
    ] as const) {
      const { status } = await rawRequest(served.url, { method: 'POST', path, headers, body: 'a=b' });
      expect([path, headers, status, statuses.some((each) => each === status)]).toEqual([path, headers, status, true]);
    }
  }
  expect(await digestOf(stage)).toBe(before);
});
