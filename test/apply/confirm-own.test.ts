// Before a delete, where job IDs may be reused: a job that shows no reference is told by its title.
import { describe, expect, it, vi } from 'vitest';
import { confirmOwn } from '../../src/apply/confirm-own.ts';
import type { SiteContext } from '../../src/apply/site-context.ts';
import { watchOmitted } from '../../src/apply/site-health.ts';
import { formsAfter } from '../../src/plan/compare-shown.ts';
import { siteJobId } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';
import { NotShownError } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { attemptOf, siteContextWith } from './site-context.ts';

const BEFORE = { title: 'Driver (CDL-A)', number: 'k' };

/** What the site showed after our last accepted write. */
const formsOf = (fields: Fields) =>
  formsAfter(
    { accepted: BEFORE, sent: new Set(['title', 'number']), known: undefined },
    { fields, kept: fields, types: undefined, isWhole: true },
  );

async function outcomeOf(
  fields: Fields,
  formerly?: Fields,
  references?: { readonly shown: boolean; readonly missing: boolean },
) {
  const client = {
    show: async () => ({ siteJobId: siteJobId('7'), fields }),
  } as unknown as SiteContext['client'];
  const siteContext = siteContextWith({ client }, (statement) =>
    references !== undefined && statement.includes('reference_shown_at') ? [references] : [],
  );
  const forms = formerly && formsOf(formerly);
  const attempt = { ...attemptOf('delete'), before: BEFORE, idMayBeReused: true, forms };
  return (await confirmOwn(attempt, siteContext, new AbortController().signal))?.outcome.kind;
}

describe('a delete of a job without a reference', () => {
  it.each<[string, string, string | undefined, string | undefined]>([
    ['with the title that was sent', 'Driver CDL A', undefined, undefined],
    ['with the title that it showed after our last write', 'Offer 4711', 'Offer 4711', undefined],
    ['with another title', 'Offer 4711', undefined, 'unconfirmed'],
    ['with another title than it showed', 'Plumber', 'Offer 4711', 'unconfirmed'],
  ])('%s', async (_name, shown, formTitle, expected) => {
    const formerly = formTitle === undefined ? undefined : { title: formTitle };
    expect(await outcomeOf({ title: shown }, formerly)).toBe(expected);
  });
});

describe('an update of a job without a reference', () => {
  const TEXT = 'Drives a truck through the state of Ohio, and is home every night of the week but Friday.';
  const before = { title: 'Driver', 'contact-web-address': 'https://a.example.com/1', description: TEXT };
  const OTHER = { 'contact-web-address': 'https://b.example.com/2', description: 'Cares for patients at night.' };
  const outcomeWith = async (shown: Fields, options: Partial<Attempt> = {}, id = 'driver', isShared = true) => {
    const show = async () => ({ siteJobId: siteJobId(id), fields: shown });
    const client = { show } as unknown as SiteContext['client'];
    const siteContext = siteContextWith({ client }, (statement) =>
      isShared && statement.includes('with asked as') ? [{ value: TEXT }] : [],
    );
    const fields = { ...before, title: 'Trucker' };
    const attempt = {
      ...attemptOf('update'),
      request: { kind: 'update', siteJobId: siteJobId(id), fields: { title: fields.title } } as const,
      before,
      accepted: { fields, recordHash: Buffer.alloc(0), contentHash: Buffer.alloc(0) },
      ...options,
    };
    return (await confirmOwn(attempt, siteContext, new AbortController().signal))?.outcome;
  };
  const ASKED = { kind: 'unconfirmed', isUntraceable: true };

  it.each<[string, Fields, Partial<Attempt>, boolean?]>([
    ['the title that it had', before, {}],
    ['the title that it is to have, after an update that may have been done', { title: 'TRUCKER' }, {}],
    ['a form of its title', { title: 'Driver…' }, {}],
    ['a title that was edited, next to a text that only its posting has', { ...before, title: 'Pilot' }, {}, false],
    ['a title that is left to the site', { title: 'Pilot', description: TEXT }, { createOnly: new Set(['title']) }],
    ['its title, next to another text', { ...before, description: OTHER.description }, {}],
  ])('is sent if the job shows %s', async (_name, shown, options, isShared = true) => {
    expect(await outcomeWith(shown, options, 'driver', isShared)).toBeUndefined();
  });

  it('waits for a person if the job shows another title, or nothing but its title', async () => {
    const shown = { title: 'Pilot', description: TEXT };
    expect(await outcomeWith(shown)).toMatchObject(ASKED);
    expect(await outcomeWith({ title: 'Driver', ...OTHER })).toMatchObject(ASKED);
    expect(await outcomeWith(shown, {}, '7')).toBeUndefined();
    expect(await outcomeWith(shown, { idMayBeReused: true }, '7')).toMatchObject(ASKED);
  });
});

it('a job that shows another reference is another posting’s, unless it showed that after our last write', async () => {
  const shown = { title: BEFORE.title, number: 'JOB-4711' };
  expect(await outcomeOf(shown, undefined, { shown: true, missing: false })).toBe('foreign');
  expect(await outcomeOf(shown, undefined, { shown: true, missing: true })).toBe('unconfirmed');
  // The site may have made it of the posting's own.
  expect(await outcomeOf(shown)).toBe('unconfirmed');
  expect(await outcomeOf(shown, { ...shown, number: 'JOB-9' })).toBe('foreign');
  expect(await outcomeOf(shown, shown)).toBeUndefined();
  // It may show the same reference for every job, or make it of an ID that it uses again.
  expect(await outcomeOf({ ...shown, title: 'Welder' }, shown)).toBe('foreign');
  expect(await outcomeOf({ ...shown, title: 'Offer 9' }, { ...shown, title: 'Offer 9' })).toBeUndefined();
});

it('deletes of jobs with other titles are told by their texts, many in one pass through all postings', async () => {
  const texts = ['a', 'b', 'c'].map(
    (key) => `Ward ${key} looks for somebody who cares for twelve patients, every night but Sunday.`,
  );
  const befores = texts.map((description) => ({ ...BEFORE, description }));
  let passes = 0;
  const show = async (id: string) => ({
    siteJobId: siteJobId(id),
    fields: { title: 'Offer 4711', description: texts[Number(id)] },
  });
  const siteContext = siteContextWith({ client: { show } as unknown as SiteContext['client'] }, (statement) => {
    if (statement.includes('with asked as')) passes++;
    return statement.includes("c.operation <> 'create'") ? befores.slice(0, 2).map((fields) => ({ fields })) : [];
  });
  const confirm = (at: number) =>
    confirmOwn(
      {
        ...attemptOf('delete'),
        request: { kind: 'delete', siteJobId: siteJobId(String(at)) },
        before: befores[at] as Fields,
        idMayBeReused: true,
      },
      siteContext,
      new AbortController().signal,
    );
  expect(await Promise.all([confirm(0), confirm(1), confirm(0)])).toEqual([undefined, undefined, undefined]);
  expect(passes).toBe(1);
  // It comes later.
  expect(await confirm(2)).toBeUndefined();
  expect(passes).toBe(2);
});

it('logs of a job that the site does not show why, and a stack only of faults of our own', async () => {
  for (const [error, logged] of [
    [new NotShownError('it answered 502', 502, undefined), { message: 'it answered 502' }],
    [new Error('a fault'), { err: expect.any(Error) }],
  ] as const) {
    const client = { show: () => Promise.reject(error) } as unknown as SiteContext['client'];
    const warn = vi.fn();
    const siteContext = siteContextWith({ client, log: { warn } as unknown as SiteContext['log'] });
    const attempt = { ...attemptOf('update'), idMayBeReused: true };
    expect(await confirmOwn(attempt, siteContext, new AbortController().signal)).toBeUndefined();
    expect(warn.mock.calls).toEqual([[{ ...logged, site: 'board', siteJobId: '7' }, expect.any(String)]]);
  }
});

it('asks only a few times what becomes of fields that updates omit, if neither the job nor another one shows them', async () => {
  const shown = { siteJobId: siteJobId('7'), url: undefined, fields: { title: 'Nurse' } };
  const show = vi.fn(async () => shown);
  const siteContext = siteContextWith({ client: { show } as unknown as SiteContext['client'] }, () => []);
  const before = { title: 'Cook', description: 'Care', city: 'Boston' };
  const attempt = { ...attemptOf('update'), before, forms: Buffer.alloc(0) };
  for (let update = 0; update < 30; update++)
    await watchOmitted(attempt, shown, siteContext, new AbortController().signal);
  expect(show).toHaveBeenCalledTimes(20);
});

it('a site that clears all omitted fields but one is paused, with those that it cleared', async () => {
  const before = { title: 'Cook', number: 'k', description: 'Care', city: 'Boston' };
  const wiped = { siteJobId: siteJobId('7'), url: undefined, fields: { title: 'Nurse', number: 'k' } };
  const show = vi.fn(async (id: string) => (id === '7' ? wiped : { ...wiped, siteJobId: id, fields: before }));
  const error = vi.fn();
  const query = async (statement: string) =>
    statement.includes('from request r') ? [{ site_job_id: '8' }] : [{ paused: true }];
  const db = { query, transaction: async (work: (tx: object) => Promise<unknown>) => work({ query }) };
  const siteContext = siteContextWith({ client: { show }, db, log: { error, warn: error } } as unknown as SiteContext);
  const attempt = { ...attemptOf('update'), before, forms: Buffer.alloc(0) };
  await watchOmitted(attempt, wiped, siteContext, new AbortController().signal);
  expect(error.mock.calls).toEqual([
    [expect.objectContaining({ cause: expect.stringMatching(/has cleared description, city, which/) }), 'site paused'],
  ]);
});
