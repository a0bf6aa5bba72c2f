// A site that says "no such job" is believed only where other jobs of ours are there.
import { describe, expect, it } from 'vitest';
import { confirmGone } from '../../jobs/confirm-gone.ts';
import type { SiteDesk } from '../../jobs/site-desk.ts';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { Outcome } from '../../src/site/exchange.ts';
import { attemptOf, deskWith } from './desk.ts';

const GONE: Outcome = { kind: 'gone' };

/** The site shows the jobs `there`, and fails for those of `failing`; the books have made job 7 and the `others`. */
function deskFor(
  there: readonly string[],
  others: readonly string[],
  failing: readonly string[] = [],
  trusted = false,
) {
  const shown: string[] = [];
  const client = {
    async show(id: string) {
      shown.push(id);
      if (failing.includes(id)) throw new Error('timed out');
      return there.includes(id) ? { siteJobId: siteJobId(id), fields: {} } : undefined;
    },
  } as unknown as SiteDesk['client'];
  const desk = deskWith({ client }, (statement) => {
    if (statement.includes('from mapping')) return others.map((id) => ({ site_job_id: id }));
    return trusted ? [{}] : [];
  });
  return { desk, shown };
}

const confirm = (desk: SiteDesk, operation: 'create' | 'update' | 'delete' = 'update', outcome: Outcome = GONE) =>
  confirmGone(outcome, attemptOf(operation), desk, new AbortController().signal);

describe('confirmGone', () => {
  it('asks nothing about other outcomes, nor about a create', async () => {
    const { desk, shown } = deskFor([], []);
    expect(await confirm(desk, 'update', { kind: 'accepted' })).toEqual({ kind: 'accepted' });
    expect(await confirm(desk, 'create')).toEqual(GONE);
    expect(shown).toEqual([]);
  });

  it('does not know of a job that the site shows all the same, nor of one that it can not be asked for', async () => {
    expect(await confirm(deskFor(['7'], []).desk)).toMatchObject({ kind: 'unknown' });
    expect(await confirm(deskFor([], [], ['7']).desk, 'delete')).toMatchObject({ kind: 'unknown' });
  });

  it('believes it where it is the only job, or a person has said that the site was emptied', async () => {
    expect(await confirm(deskFor([], []).desk)).toEqual(GONE);
    expect(await confirm(deskFor([], ['1'], [], true).desk)).toEqual(GONE);
  });

  it('believes it where another job is there, and asks no more for a while', async () => {
    const { desk, shown } = deskFor(['2'], ['1', '2', '3']);
    expect(await confirm(desk)).toEqual(GONE);
    expect(await confirm(desk)).toEqual(GONE);
    expect(shown).toEqual(['7', '1', '2', '7']);
  });

  it('does not believe it where no other job is there, or can be asked for', async () => {
    expect(await confirm(deskFor([], ['1', '2']).desk)).toMatchObject({ kind: 'misconfigured' });
    expect(await confirm(deskFor([], ['1'], ['1']).desk)).toMatchObject({ kind: 'unknown' });
  });
});
