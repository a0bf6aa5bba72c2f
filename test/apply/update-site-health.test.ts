// What one process records about a site while others send to it as well.
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { updateSiteHealth } from '../../src/apply/site-health.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import type { Outcome } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { tokenHistory } from '../../src/store/site/refused-token.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const site = siteName('board');
const attempt = {} as Attempt;
let testDatabase: TestDatabase;
let db: Database;
beforeEach(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase(testDatabase.url);
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await db.close();
  await testDatabase.drop();
});

/** Each process has its own. */
const openSiteContext = (): SiteContext =>
  ({
    site,
    address: 'jobs.example.com',
    db,
    policy: {},
    log: pino({ level: 'silent' }),
    writeAction: () => '',
  }) as unknown as SiteContext;

const accepted: Outcome = { kind: 'accepted' };
const misconfigured: Outcome = { kind: 'misconfigured', message: 'redirects' };
const state = () => readSiteState(db, site);

it('ends a streak that another process began, within a second of the next success', async () => {
  const [well, troubled] = [openSiteContext(), openSiteContext()];
  await updateSiteHealth(accepted, attempt, well);
  for (let round = 0; round < 4; round++) {
    await updateSiteHealth(misconfigured, attempt, troubled);
    await updateSiteHealth({ kind: 'unreachable', message: 'refused' }, attempt, troubled);
    vi.advanceTimersByTime(1_001);
    await updateSiteHealth(accepted, attempt, well);
  }
  expect(await state()).toMatchObject({ pausedSince: undefined, unreachableStreak: 0 });
});

it('records one success for all that arrive meanwhile, and the next one after a problem', async () => {
  let statements = 0;
  const counting = {
    ...db,
    query(text: string, values?: readonly unknown[]) {
      statements++;
      return db.query(text, values);
    },
  } as Database;
  const siteContext = { ...openSiteContext(), db: counting, tokenDigest: 'digest', client: {} } as SiteContext;
  const succeed = () =>
    updateSiteHealth(accepted, attempt, siteContext, { durationMs: 1, startedAt: performance.now() });
  await Promise.all(Array.from({ length: 20 }, succeed));
  // One of the site, and one of its token.
  expect(statements).toBe(2);
  vi.advanceTimersByTime(1_001);
  const first = succeed();
  await updateSiteHealth({ kind: 'unreachable', message: 'refused' }, attempt, siteContext);
  await Promise.all([first, succeed()]);
  expect(await state()).toMatchObject({ unreachableStreak: 0 });
});

it('pauses after a streak with no success in between', async () => {
  const [one, other] = [openSiteContext(), openSiteContext()];
  await updateSiteHealth(accepted, attempt, one);
  for (const siteContext of [one, other, one]) await updateSiteHealth(misconfigured, attempt, siteContext);
  expect((await state()).pauseCause).toBe('redirects');
});

it('takes no change that only its job shows for a proof of the token', async () => {
  const siteContext = { ...openSiteContext(), tokenDigest: 'digest', client: {} } as SiteContext;
  const history = () => tokenHistory(db, site, 'digest');
  const exchange = { durationMs: 1, startedAt: performance.now() };
  await updateSiteHealth({ ...accepted, isRead: true }, attempt, siteContext, exchange);
  expect((await history()).acceptedAt).toBeUndefined();
  await updateSiteHealth(accepted, attempt, siteContext, exchange);
  expect((await history()).acceptedAt).toBeDefined();
});

it('records the address with the first accepted change, and not with a missing job', async () => {
  await updateSiteHealth({ kind: 'gone' }, attempt, openSiteContext());
  expect((await state()).address).toBeUndefined();
  await updateSiteHealth(accepted, attempt, openSiteContext());
  await updateSiteHealth(accepted, attempt, { ...openSiteContext(), address: 'elsewhere.example.com' });
  expect((await state()).address).toBe('jobs.example.com');
});

it('does not check refusals if the canary is off', async () => {
  const siteContext = {
    ...openSiteContext(),
    policy: { canary: { requests: 0, percent: 0, until: 16 } },
  } as unknown as SiteContext;
  const refusesToAnswer = { query: () => Promise.reject(new Error('asked')) } as unknown as Database;
  await updateSiteHealth({ kind: 'rejected', problems: [] }, attempt, { ...siteContext, db: refusesToAnswer });
});
