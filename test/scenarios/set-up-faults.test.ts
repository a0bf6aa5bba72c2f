// Sites that refuse every posting alike for a fault of the set-up: no posting is called invalid, the site is paused with the
// likely cause, and everything is sent once that is corrected. What is wrong with a posting is still said of that posting.
import { describe, expect } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { resumeSite } from '../../src/store/site/site-state.ts';
import type { Got, Reply } from '../site/scripted-site.ts';
import { endsTest as it, type OpenAt } from '../support/ends-test.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import type { Mirror, MirrorOptions } from '../support/mirror.ts';

const keyOf = ({ body }: Got): string => /<number>([^<]*)</.exec(body)?.[1] ?? '';
const hash = (status: number, error: string): Reply => [
  status,
  { 'content-type': 'application/xml; charset=UTF-8' },
  `<?xml version="1.0" encoding="UTF-8"?>\n<hash>\n  <status type="integer">${status}</status>\n  <error>${error}</error>\n</hash>\n`,
];
const errors = (text: string): Reply => [422, {}, `<errors><error>${text}</error></errors>`];
const SIGN_IN =
  '<!DOCTYPE html><html><body><h1>Sign in</h1><form><input type="password" name="p"></form></body></html>';

interface Set {
  /** What the site answers to a create or an update instead of doing it; may be changed. */
  refuse: (got: Got) => Reply | undefined;
  readonly made: Map<string, number>;
  readonly requests: () => number;
  readonly mirror: Mirror;
  /** A person says that the cause is gone. */
  readonly resume: () => Promise<void>;
  readonly states: () => Promise<Record<string, number>>;
}

async function openSet(openAt: OpenAt, refuse: Set['refuse'], settings: MirrorOptions['site'] = {}): Promise<Set> {
  const set = { refuse, made: new Map<string, number>() };
  const answer = (got: Got): Reply => {
    if (got.method === 'GET') return [200, { 'content-type': 'application/xml' }, '<jobs type="array"></jobs>'];
    const refused = set.refuse(got);
    if (refused !== undefined) return refused;
    if (got.method !== 'POST') return [200];
    set.made.set(keyOf(got), (set.made.get(keyOf(got)) ?? 0) + 1);
    return [201, { location: `/jobs/${set.made.size}` }, `<job><id>${set.made.size}</id></job>`];
  };
  const { mirror, site } = await openAt(answer, {
    site: { list_path: undefined, reference_field: undefined, ...settings },
  });
  return Object.assign(set, {
    mirror,
    requests: () => site.got.filter(({ method }) => method !== 'GET').length,
    resume: async () => void (await resumeSite((await mirror.app()).db, siteName('board'))),
    states: async () => {
      const rows = await mirror.query<{ state: string; n: number }>(
        'select state, count(*)::int as n from change group by state',
      );
      return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
    },
  });
}

describe('a site that refuses every posting alike', { concurrent: true }, () => {
  const cases: readonly [name: string, answer: Reply, says: string | RegExp][] = [
    ['a parameter (Rails)', hash(400, 'found unpermitted parameter: :number'), 'refuses the parameter `number`'],
    [
      'two parameters, in development',
      [
        400,
        {},
        '<hash><error>Bad Request</error><exception>#&lt;ActionController::UnpermittedParameters: found unpermitted parameters: :number, :category_name&gt;</exception></hash>',
      ],
      'refuses the parameters `number`, `category_name`',
    ],
    ['an attribute', errors("unknown attribute 'number' for Job."), 'refuses the parameter `number`'],
    ['without a CSRF token', errors("Can't verify CSRF token authenticity."), 'demands a CSRF token'],
    ['without a CSRF token, by its name', errors('ActionController::InvalidAuthenticityToken'), 'demands a CSRF token'],
    [
      'without a CSRF token, as Django',
      [403, {}, 'CSRF verification failed. Request aborted.'],
      'demands a CSRF token',
    ],
    [
      'without a reason, as Rails in production',
      hash(422, 'Unprocessable Entity'),
      'answers 422 (Unprocessable Entity)',
    ],
    ['a body that it does not parse, as Rails in production', hash(400, 'Bad Request'), 'answers 400 (Bad Request)'],
    [
      'a body that it does not parse',
      errors('param is missing or the value is empty: job'),
      'does not find the record that was sent: it expects `job`',
    ],
    ['the format', hash(406, 'ActionController::UnknownFormat'), 'no XML form of this action (406)'],
    ['with a page to sign in', [400, { 'content-type': 'text/html' }, SIGN_IN], 'a page to sign in'],
    ['in words of its own', errors('The company profile is not complete'), 'The company profile is not complete'],
  ];

  it.for(cases)('for %s is paused, and nothing is lost or doubled', async ([, answer, says], { openAt }) => {
    const set = await openSet(openAt, () => answer);
    const report = await set.mirror.syncOf(postings(5));
    expect(report).toMatchObject({ status: 'pending', pending: 5, rejected: 0, failed: 0, in_doubt: 0, created: 0 });
    expect(report.message).toContain(says);
    expect(report.message).toContain('jobmirror resume board');
    expect(await set.states()).toEqual({ ready: 5 });
    expect(await set.mirror.query(`select from failure where kind = 'rejected'`)).toEqual([]);
    // Nobody has resumed it.
    const before = set.requests();
    expect(await set.mirror.sync()).toMatchObject({ status: 'pending', pending: 5 });
    expect(set.requests()).toBe(before);
    // Corrected and resumed.
    set.refuse = () => undefined;
    await set.resume();
    const end = await set.mirror.sync();
    expect(end).toMatchObject({ status: 'mirrored', pending: 0, rejected: 0 });
    expect([...set.made.values()]).toEqual([1, 1, 1, 1, 1]);
    expect(await set.states()).toEqual({});
  });

  it('is paused within ten postings and the requests in flight', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors('The company profile is not complete'));
    const report = await set.mirror.syncOf(postings(60));
    expect(report).toMatchObject({ status: 'pending', pending: 60, rejected: 0 });
    expect(set.requests()).toBeLessThanOrEqual(10 + 3 * 8);
  });

  it('is paused although it has accepted postings before', async ({ openAt }) => {
    const set = await openSet(openAt, () => undefined);
    expect(await set.mirror.syncOf(postings(12))).toMatchObject({ created: 12 });
    set.refuse = () => hash(422, 'Unprocessable Entity');
    await set.mirror.writeFeed(feedXml(postings(12).map((one) => ({ ...one, title: `Changed ${one.key}` }))));
    expect(await set.mirror.sync()).toMatchObject({ status: 'pending', pending: 12, rejected: 0 });
    set.refuse = () => undefined;
    await set.resume();
    expect(await set.mirror.sync()).toMatchObject({ status: 'mirrored', rejected: 0 });
    expect(set.made.size).toBe(12);
  });

  it('with one posting only is paused for words that are never about a posting', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors("Can't verify CSRF token authenticity."));
    const report = await set.mirror.syncOf(postings(1));
    expect(report).toMatchObject({ status: 'pending', pending: 1, rejected: 0 });
    expect(report.message).toContain('the only posting');
    expect(set.requests()).toBe(1);
  });

  it('is paused again after a resume that came too early', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors("Can't verify CSRF token authenticity."));
    await set.mirror.syncOf(postings(4));
    await set.resume();
    expect(await set.mirror.sync()).toMatchObject({ status: 'pending', pending: 4, rejected: 0 });
    set.refuse = () => undefined;
    await set.resume();
    expect(await set.mirror.sync()).toMatchObject({ status: 'mirrored' });
  });

  it('after a person resumed it, says of each posting what the site says', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors('The company profile is not complete'));
    expect(await set.mirror.syncOf(postings(15))).toMatchObject({ status: 'pending', pending: 15 });
    await set.resume();
    expect(await set.mirror.sync()).toMatchObject({ status: 'review', rejected: 15, pending: 0 });
    // The source changes one of them: nothing is stuck.
    set.refuse = () => undefined;
    await set.mirror.writeFeed(feedXml(postings(15).map((one) => ({ ...one, title: `Changed ${one.key}` }))));
    expect(await set.mirror.sync()).toMatchObject({ status: 'mirrored', created: 15 });
  });

  it('with a page to sign in under 200 leaves a few creates in doubt, not twenty', async ({ openAt }) => {
    const set = await openSet(openAt, () => [200, { 'content-type': 'text/html' }, SIGN_IN]);
    const report = await set.mirror.syncOf(postings(40));
    expect(report.message).toContain('a page to sign in');
    expect(report.in_doubt).toBeLessThanOrEqual(3 + 8);
    expect(report).toMatchObject({ status: 'pending', rejected: 0, created: 0 });
  });
});

describe('a refusal that is about postings', { concurrent: true }, () => {
  it('of all of them is told for each, with its field', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors('Location state is not included in the list'));
    const report = await set.mirror.syncOf(postings(6));
    expect(report).toMatchObject({ status: 'review', rejected: 6, pending: 0 });
    expect(report.message).toContain('nothing was mirrored');
    expect(set.requests()).toBe(6);
    expect(await set.mirror.query(`select distinct field, message from review_entry`)).toEqual([
      { field: 'location-state', message: 'is not included in the list' },
    ]);
  });

  it('of some, without their field, does not stop the others', async ({ openAt }) => {
    const set = await openSet(openAt, (got) =>
      ['p2', 'p7'].includes(keyOf(got)) ? errors('Only one job per address is allowed') : undefined,
    );
    await set.mirror.writeFeed(feedXml(postings(12)));
    expect(await set.mirror.sync()).toMatchObject({ status: 'review', rejected: 2, created: 10, pending: 0 });
    expect(set.requests()).toBeLessThanOrEqual(16);
    expect(await set.mirror.sync()).toMatchObject({ rejected: 2, requests: 0 });
  });

  it('of every third of many does not pause the site', async ({ openAt }) => {
    const set = await openSet(openAt, (got) =>
      Number(keyOf(got).slice(1)) % 3 === 0 ? errors('Only one job per address is allowed') : undefined,
    );
    await set.mirror.writeFeed(feedXml(postings(90)));
    expect(await set.mirror.sync()).toMatchObject({ status: 'review', rejected: 30, created: 60, pending: 0 });
  });

  it('in different words for each is told for each', async ({ openAt }) => {
    const set = await openSet(openAt, (got) => errors(`${keyOf(got) === 'p1' ? 'Too short' : 'Seems to be spam'}`));
    expect(await set.mirror.syncOf(postings(5))).toMatchObject({ status: 'review', rejected: 5, pending: 0 });
  });

  it('of the only posting is told at once', async ({ openAt }) => {
    const set = await openSet(openAt, () => errors('This board is full'));
    expect(await set.mirror.syncOf(postings(1))).toMatchObject({ status: 'review', rejected: 1 });
    expect(set.requests()).toBe(1);
  });

  it('for one parameter that others do not have is told with its field', async ({ openAt }) => {
    const set = await openSet(openAt, () => undefined);
    await set.mirror.syncOf(postings(3));
    set.refuse = () => hash(400, 'found unpermitted parameter: :category_name');
    await set.mirror.writeFeed(feedXml([...postings(3), { key: 'p4' }]));
    expect(await set.mirror.sync()).toMatchObject({ status: 'review', rejected: 1, pending: 0 });
    expect(await set.mirror.query('select field from review_entry')).toEqual([{ field: 'category-name' }]);
  });

  it('is told at once if the check is off', async ({ openAt }) => {
    const set = await openSet(openAt, () => hash(422, 'Unprocessable Entity'), { canary: '{ requests: 0 }' });
    expect(await set.mirror.syncOf(postings(5))).toMatchObject({ status: 'review', rejected: 5 });
    expect(set.requests()).toBe(5);
  });
});
