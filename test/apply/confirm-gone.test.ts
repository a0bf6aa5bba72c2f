// A site that says "no such job" is believed only if other jobs of ours exist there.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { confirmGone, isOrphanGone } from '../../src/apply/confirm-gone.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { siteJobId } from '../../src/posting/identifiers.ts';
import { NotShownError, type Outcome } from '../../src/site/exchange.ts';
import { attemptOf, siteContextWith } from './site-context.ts';

const GONE: Outcome = { kind: 'gone' };

interface Known {
  /** Jobs accepted most recently, and jobs of any age. */
  readonly recent?: readonly string[];
  readonly sample?: readonly string[];
  readonly trusted?: boolean;
  readonly fewAndOld?: boolean;
  readonly found?: boolean;
}

/**
 * The site shows the jobs `there`, and fails for those in `failing`; the database has job 7 and the jobs in `known`.
 */
function siteContextFor(
  there: readonly string[],
  known: Known = {},
  failing: readonly string[] = [],
  fields = {},
  failure = new Error('timed out'),
) {
  const shown: string[] = [];
  const client = {
    async show(id: string) {
      shown.push(id);
      if (failing.includes(id)) throw failure;
      return there.includes(id) ? { siteJobId: siteJobId(id), fields } : undefined;
    },
    probe: async () => ({
      kind: 'accepted',
      message: 'GET /jobs.xml: 404',
      mayResume: true,
      found: known.found ?? false,
    }),
  } as unknown as SiteContext['client'];
  const idsOf = (ids: readonly string[] = []) => ids.map((id) => ({ site_job_id: id }));
  const siteContext = siteContextWith({ client }, (statement) => {
    if (statement.includes('few_and_old')) return [{ few_and_old: known.fewAndOld ?? false }];
    if (statement.includes('from request')) return idsOf(known.recent);
    if (statement.includes('from mapping')) return idsOf(known.sample);
    return known.trusted === true ? [{}] : [];
  });
  return { siteContext, shown };
}

const confirm = (
  siteContext: SiteContext,
  operation: 'create' | 'update' | 'delete' = 'update',
  outcome: Outcome = GONE,
) => confirmGone({ outcome }, attemptOf(operation), siteContext, new AbortController().signal);

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

describe('confirmGone', () => {
  it('sends no request for other outcomes, or for a create', async () => {
    const { siteContext, shown } = siteContextFor([]);
    expect(await confirm(siteContext, 'update', { kind: 'accepted' })).toEqual({ kind: 'accepted' });
    expect(await confirm(siteContext, 'create')).toEqual(GONE);
    expect(shown).toEqual([]);
  });

  it('is unknown if the site still shows the job, or the request for it fails', async () => {
    expect(await confirm(siteContextFor(['7']).siteContext)).toMatchObject({ kind: 'unknown' });
    expect(await confirm(siteContextFor([], {}, ['7']).siteContext, 'delete')).toMatchObject({ kind: 'unknown' });
  });

  it.each(['7', '1'])('waits, and counts no attempt, if the site asks to wait before it shows job %s', async (id) => {
    const busy = new NotShownError('it answered 429', 429, 9_000);
    const { siteContext } = siteContextFor([], { recent: ['1'] }, [id], {}, busy);
    expect(await confirm(siteContext, 'delete')).toEqual({ kind: 'throttled', retryAfterMs: 9_000 });
  });

  it.each([
    [{ 'deleted-at': '2026-01-01T00:00:00Z' }, 'gone'],
    [{ discarded_at: '2026-01-01 00:00:00 UTC' }, 'gone'],
    [{ 'is-deleted': 'true' }, 'gone'],
    [{ deleted: '1' }, 'gone'],
    [{ status: 'deleted' }, 'gone'],
    [{ workflow_state: 'Soft_Deleted' }, 'gone'],
    [{ status: 'closed' }, 'unknown'],
    [{ 'location-state': 'removed' }, 'unknown'],
    [{ deleted: 'false' }, 'unknown'],
    [{ 'deleted-at': '' }, 'unknown'],
    [{ 'deleted-at': '0000-00-00 00:00:00' }, 'unknown'],
    [{ 'deleted-at': '0001-01-01T00:00:00Z' }, 'unknown'],
    [{ 'deleted-at': '0001-01-01 00:00:00 +0000 UTC' }, 'unknown'],
    [{ 'deleted-at': '1969-12-31T19:00:00-05:00' }, 'unknown'],
    [{ 'deleted-at': '2999-01-01T00:00:00Z' }, 'unknown'],
    [{ title: 'Deleted' }, 'unknown'],
  ])('of a job that the site still shows, with %j, it is %s', async (fields, kind) => {
    const { siteContext } = siteContextFor(['7', '8'], { recent: ['8'] }, [], fields);
    expect(await confirm(siteContext, 'delete')).toMatchObject({ kind });
    expect(await isOrphanGone(siteContext, siteJobId('7'), new AbortController().signal)).toBe(kind === 'gone');
  });

  it('is unknown if the site shows the job with a state like "deleted" that the posting has', async () => {
    const { siteContext } = siteContextFor(['7', '8'], { recent: ['8'] }, [], { status: 'removed' });
    const attempt = { ...attemptOf('delete'), before: { status: 'removed' } };
    const said = confirmGone({ outcome: GONE }, attempt, siteContext, new AbortController().signal);
    expect(await said).toMatchObject({ kind: 'unknown' });
  });

  it('believes it of the only job if the interface is there, or if a person said that the site was emptied', async () => {
    expect(await confirm(siteContextFor([], { found: true }).siteContext)).toEqual(GONE);
    expect(await confirm(siteContextFor([], { sample: ['1'], trusted: true }).siteContext)).toEqual(GONE);
    expect(await confirm(siteContextFor([]).siteContext)).toMatchObject({
      kind: 'misconfigured',
      message: {
        text: expect.stringContaining('404'),
        next: [{ action: { kind: 'resume_site', site: 'board', because: 'emptied' } }],
      },
    });
  });

  it('believes it if another job of any age exists, trying the most recently accepted ones first', async () => {
    const recent = siteContextFor(['9'], { recent: ['8', '9'], sample: ['1'] });
    expect(await confirm(recent.siteContext)).toEqual(GONE);
    expect(recent.shown).toEqual(['7', '8', '9']);
    const any = siteContextFor(['2'], { recent: [], sample: ['1', '2', '3'] });
    expect(await confirm(any.siteContext)).toEqual(GONE);
    expect(any.shown).toEqual(['7', '1', '2']);
  });

  it('does not believe a site that shows older jobs, but none of those that it accepted last: it may hide what is not published', async () => {
    const hiding = siteContextFor(['2'], { recent: ['8', '9'], sample: ['1', '8', '2', '3'] });
    expect(await confirm(hiding.siteContext)).toMatchObject({
      kind: 'unknown',
      message: {
        text: expect.stringContaining('of 2 jobs that it accepted last (8, 9), it shows none'),
        next: [{ action: { kind: 'resume_site', site: 'board', because: 'emptied' } }],
      },
    });
    expect(hiding.shown).toEqual(['7', '8', '9', '1', '2']);
  });

  it('requests no others while the address is proven by an accepted update or a shown job', async () => {
    const { siteContext, shown } = siteContextFor(['2'], { recent: ['2'] });
    await confirm(siteContext, 'update', { kind: 'accepted' });
    expect(await confirm(siteContext)).toEqual(GONE);
    expect(shown).toEqual(['7']);
    vi.advanceTimersByTime(10_001);
    for (let job = 0; job < 30; job++) expect(await confirm(siteContext)).toEqual(GONE);
    expect(shown.filter((id) => id === '2')).toHaveLength(2);
  });

  it('checks others once if many jobs seem gone at the same time', async () => {
    const { siteContext, shown } = siteContextFor([], { recent: ['1', '2'] });
    const all = await Promise.all(Array.from({ length: 8 }, () => confirm(siteContext)));
    expect(all.map(({ kind }) => kind)).toEqual(Array(8).fill('misconfigured'));
    expect(shown.filter((id) => id !== '7')).toEqual(['1', '2']);
  });

  it('does not believe it if no other job exists, or the requests for others fail', async () => {
    expect(await confirm(siteContextFor([], { recent: ['1', '2'], found: true }).siteContext)).toMatchObject({
      kind: 'misconfigured',
    });
    expect(await confirm(siteContextFor([], { sample: ['1'] }, ['1']).siteContext)).toMatchObject({ kind: 'unknown' });
  });

  it('takes a few old jobs for expired if the interface is there', async () => {
    const known = { sample: ['1', '2'], fewAndOld: true };
    expect(await confirm(siteContextFor([], { ...known, found: true }).siteContext)).toEqual(GONE);
    expect(await confirm(siteContextFor([], known).siteContext)).toMatchObject({ kind: 'misconfigured' });
  });
});
