// What one process notes of a site, while others send to it as well.
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { heedOutcome } from '../../jobs/heed-outcome.ts';
import type { SiteDesk } from '../../jobs/site-desk.ts';
import { siteName } from '../../src/posting/identifiers.ts';
import type { Outcome } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/attempt.ts';
import { type Database, openDatabase } from '../../src/store/database.ts';
import { readSiteState } from '../../src/store/site-state.ts';
import { type FreshDatabase, freshDatabase } from '../support/database.ts';

const site = siteName('board');
const attempt = {} as Attempt;
let fresh: FreshDatabase;
let db: Database;
beforeEach(async () => {
  fresh = await freshDatabase();
  db = openDatabase(fresh.url);
  vi.useFakeTimers({ toFake: ['performance'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await db.close();
  await fresh.drop();
});

/** As each process has one. */
const openDesk = (): SiteDesk =>
  ({ site, address: 'jobs.example.com', db, policy: {}, log: pino({ level: 'silent' }) }) as unknown as SiteDesk;

const accepted: Outcome = { kind: 'accepted' };
const misconfigured: Outcome = { kind: 'misconfigured', message: 'redirects' };
const state = () => readSiteState(db, site);

it('ends a streak that another process began, within a second of the next success', async () => {
  const [well, troubled] = [openDesk(), openDesk()];
  await heedOutcome(accepted, attempt, well);
  for (let round = 0; round < 4; round++) {
    await heedOutcome(misconfigured, attempt, troubled);
    await heedOutcome({ kind: 'unreachable', message: 'refused' }, attempt, troubled);
    vi.advanceTimersByTime(1_001);
    await heedOutcome(accepted, attempt, well);
  }
  expect(await state()).toMatchObject({ pausedSince: undefined, unreachableStreak: 0 });
});

it('pauses after a streak with no success in between', async () => {
  const [one, other] = [openDesk(), openDesk()];
  await heedOutcome(accepted, attempt, one);
  for (const desk of [one, other, one]) await heedOutcome(misconfigured, attempt, desk);
  expect((await state()).pauseCause).toBe('redirects');
});

it('notes where the site is with what it accepted first, and not with a job that is not there', async () => {
  await heedOutcome({ kind: 'gone' }, attempt, openDesk());
  expect((await state()).address).toBeUndefined();
  await heedOutcome(accepted, attempt, openDesk());
  await heedOutcome(accepted, attempt, { ...openDesk(), address: 'elsewhere.example.com' });
  expect((await state()).address).toBe('jobs.example.com');
});

it('looks at no refusals where nobody is to look', async () => {
  const desk = { ...openDesk(), policy: { canary: { requests: 0, percent: 0, until: 16 } } } as unknown as SiteDesk;
  const refusesToAnswer = { query: () => Promise.reject(new Error('asked')) } as unknown as Database;
  await heedOutcome({ kind: 'rejected', problems: [] }, attempt, { ...desk, db: refusesToAnswer });
});
