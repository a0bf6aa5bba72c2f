// Waiting for quiet, with what the database says told look by look.
import { expect, it, vi } from 'vitest';
import { awaitQuiet } from '../../src/cli/await-quiet.ts';
import type { Books } from '../../src/cli/books.ts';
import type { Engine } from '../../src/cli/engine.ts';
import { feedName, siteName } from '../../src/posting/identifiers.ts';
import * as siteState from '../../src/store/site-state.ts';
import * as standings from '../../src/store/standing.ts';

vi.mock('../../src/store/standing.ts');
vi.mock('../../src/store/site-state.ts');

const books = {} as Books;
const engine = { desks: new Map() } as unknown as Engine;
const standing = (sending: boolean): standings.Standing => ({
  due: true,
  sending,
  inDoubt: false,
  nextDueMs: undefined,
  settled: 0,
});
const state = (pausedSince: Date | undefined) =>
  ({ pausedSince, pauseCause: 'it refuses', unreachableStreak: 0, waitsMs: 0 }) as siteState.SiteState;

it('reports a pause only when what began just before it has ended', async () => {
  const looks = [
    { sending: false, pausedSince: undefined },
    // A request began and the pause came between the two questions of this look.
    { sending: false, pausedSince: new Date() },
    { sending: true, pausedSince: new Date() },
    { sending: false, pausedSince: new Date() },
  ];
  let look = -1;
  vi.mocked(standings.readStanding).mockImplementation(async () => {
    look++;
    return standing(looks[look]?.sending ?? fail());
  });
  vi.mocked(siteState.readSiteState).mockImplementation(async () => state(looks[look]?.pausedSince));
  const rest = await awaitQuiet(books, engine, siteName('board'), [feedName('acme')], {
    signal: new AbortController().signal,
  });
  expect(rest).toMatchObject({ kind: 'waiting', message: expect.stringContaining('site board is paused: it refuses') });
  expect(look).toBe(3);
});

const fail = (): never => {
  throw new Error('it looked once more than it had to');
};
