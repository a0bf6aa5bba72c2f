// A search of the site, for another feed, has found the job that a create in doubt has made. Nobody has seen that job yet.
import { afterEach, expect, it } from 'vitest';
import { textOf } from '../../src/plan/message.ts';
import { postingKey, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { candidatesOf, explainDoubts, findDoubt } from '../../src/store/change/doubt.ts';
import { databaseTime } from '../../src/store/change/site-search.ts';
import { keepFound } from '../../src/store/site/unowned-jobs.ts';
import { posting } from '../support/indeed-feed.ts';
import { acme, acting, openStage, type Stage } from './stage.ts';

let stage: Stage;
afterEach(() => stage.close());

/** The list can be read no more. */
async function doubt(): Promise<number> {
  stage = await openStage();
  const { db } = stage.app;
  await stage.pull([posting('p1')]);
  const since = await databaseTime(db);
  await stage.fail('p1', 'in_doubt');
  const found = {
    siteJobId: siteJobId('job-9'),
    reference: 'p1',
    isSecret: false,
    features: undefined,
    holdsSecret: false,
    saysDeleted: false,
  };
  await keepFound(db, { site: siteName('board'), referenceField: 'number', since, isSearch: true }, [found]);
  await db.query(`update change set attempt_started = attempt_started - interval '1 hour'`);
  const open = await findDoubt(db, acme, postingKey('p1'));
  await explainDoubts(db, open === undefined ? [] : [open], 'the list was cut', 60_000);
  return stage.entry('p1');
}

/** It is not sent before somebody has decided about that job. */
async function isAskedAbout(entry: number) {
  await expect(stage.claim('p1')).rejects.toThrow('p1 is not ready to be sent');
  expect(await stage.change('p1')).toMatchObject({ state: 'in_doubt', reason: { kind: 'found_on_site' } });
  expect(await candidatesOf(stage.app.db, entry)).toEqual(['job-9']);
}

it('is not refuted by a decision about many creates', async () => {
  const entry = await doubt();
  const { db, config } = stage.app;
  const start = await startBulk(db, config, {
    action: 'missing',
    ...acting,
    detail: { query: { kinds: ['in_doubt'] } },
  });
  if (start.kind === 'refused') throw new Error(textOf(start.message));
  const end = await runBulk(db, config, start.bulk.id, { signal: new AbortController().signal });
  expect(end?.bulk).toMatchObject({ state: 'done', done: 1 });
  await isAskedAbout(entry);
});

it('is not refuted by a decision about this one, but by the next one', async () => {
  const entry = await doubt();
  const { db } = stage.app;
  const missing = () => resolveEntry(db, entry, { kind: 'missing' }, { ...acting, site: undefined });
  expect(await missing()).toMatchObject({ kind: 'recorded' });
  await isAskedAbout(entry);
  expect(await missing()).toMatchObject({ kind: 'recorded' });
  expect((await stage.claim('p1')).request).toMatchObject({ kind: 'create' });
});
