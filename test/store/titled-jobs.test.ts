// Jobs that their postings have under an ID with their title (`12-nurse`), and that are named by their number elsewhere.
import { expect, it } from 'vitest';
import { resolveDoubts } from '../../src/apply/resolve-doubts.ts';
import { postingKey, type SiteJobId, siteJobId } from '../../src/posting/identifiers.ts';
import type { Fields } from '../../src/posting/posting.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import type { SiteClient } from '../../src/site/exchange.ts';
import type { Attempt } from '../../src/store/change/attempt.ts';
import { adoptDoubt, type Doubt, findDoubt } from '../../src/store/change/doubt.ts';
import { outcomeRecorder } from '../../src/store/change/record-outcomes.ts';
import { adoptJobs } from '../../src/store/mapping/adopt-jobs.ts';
import { dueOrphans } from '../../src/store/site/orphan-site-jobs.ts';
import { siteContextWith } from '../apply/site-context.ts';
import { acme, acting, openStage } from '../review/stage.ts';
import { posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';

const stage = openedForEach(() => openStage());

const [NUMBER, TITLED] = [siteJobId('12'), siteJobId('12-nurse')];

async function doubtOf(key: string): Promise<Doubt> {
  return (await findDoubt(stage.app.db, acme, postingKey(key))) ?? expect.fail(`${key} is not in doubt`);
}

const recordCreated = (attempt: Attempt, id: SiteJobId) =>
  outcomeRecorder(stage.app.db.prepared)({
    attempt,
    result: { kind: 'created', siteJobId: id, url: undefined },
    record: undefined,
  });

const mappings = () => stage.app.db.query('select key, site_job_id as id from mapping order by key');

it.each([
  { adopted: NUMBER, answered: TITLED },
  { adopted: TITLED, answered: NUMBER },
])('a late answer that names job $adopted as $answered makes it no orphan', async ({ adopted, answered }) => {
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  const attempt = await stage.claim('a');
  await db.query(`update change set state = 'in_doubt'`);
  const doubt = await doubtOf('a');
  const content = { fields: doubt.attempt.accepted.fields, uncertain: [], isProven: true };
  expect(await adoptDoubt(db, doubt, adopted, undefined, content)).toBe('recorded');
  expect(await recordCreated(attempt, answered)).toBe('superseded');
  expect(await db.query('select from orphan_site_job')).toEqual([]);
  expect(await mappings()).toEqual([{ key: 'a', id: adopted }]);
});

it('an orphan is not deleted once a posting has its job by the number', async () => {
  const { db } = stage.app;
  await db.query(
    `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '12-nurse', 'acme', 'a')`,
  );
  const site = attemptSite();
  expect(await dueOrphans(db, site, 10)).toEqual([TITLED]);
  await stage.pull([posting('a')]);
  await recordCreated(await stage.claim('a'), NUMBER);
  expect(await dueOrphans(db, site, 10)).toEqual([]);
});

const attemptSite = () => siteContextWith({}).site;

/** Posting a has the job under its title, and the create of b is in doubt. @param shows what the site shows of job 12 */
async function besideTitled(shows: (sent: Fields) => Fields) {
  await stage.pull([posting('a', { title: 'Nurse' }), posting('b', { title: 'Nurse' })]);
  await recordCreated(await stage.claim('a'), TITLED);
  await stage.fail('b', 'in_doubt');
  const shown = { siteJobId: NUMBER, fields: shows((await doubtOf('b')).attempt.accepted.fields) };
  const show = async () => shown;
  const list: SiteClient['list'] = async (take) => {
    take(shown);
    return { kind: 'listed', pages: 1 };
  };
  return { show, list };
}

it('a person cannot give it to another posting by its number', async () => {
  const { show } = await besideTitled(({ number: _, ...fields }) => fields);
  const site = { client: { show }, referenceField: undefined, resolveAfterMs: 0 };
  const verdict = { kind: 'exists', siteJobId: NUMBER, anyway: false } as const;
  // The site has no field for references.
  const report = await resolveEntry(stage.app.db, await stage.entry('b'), verdict, {
    ...acting,
    site: site as unknown as Parameters<typeof resolveEntry>[3]['site'],
  });
  expect(report).toMatchObject({
    kind: 'refused',
    message: 'that job belongs to posting a of feed acme, as 12-nurse: a site job can have only one posting',
  });
  expect(await mappings()).toEqual([{ key: 'a', id: '12-nurse' }]);
});

it('another posting cannot adopt it by its number', async () => {
  const { db } = stage.app;
  await stage.pull([posting('a'), posting('b')]);
  await recordCreated(await stage.claim('a'), TITLED);
  const [{ address } = { address: 'jobs.example.com' }] = await db.query<{ address: string }>(
    `select address from site_state where site = 'board' and address is not null`,
  );
  const subject = { feed: acme, site: attemptSite(), address, actor: 'ann', since: new Date(), policy: undefined };
  const session = await db.session();
  const adoption = { key: postingKey('b'), siteJobId: NUMBER, url: undefined, shown: { title: 'Nurse' } };
  expect(await adoptJobs(session, subject, [adoption])).toEqual([
    { key: 'b', message: 'job 12 belongs, as 12-nurse, to posting a of feed acme' },
  ]);
  await session.end();
  expect(await mappings()).toEqual([{ key: 'a', id: '12-nurse' }]);
});

it('another posting takes it if the site has used its number again', async () => {
  const { show, list } = await besideTitled((sent) => sent);
  const { db } = stage.app;
  const client = { show, list } as unknown as SiteClient;
  const doubts = { resolveAfterMs: 0, listChecks: 1, escalateAfterMs: 0 };
  const context = siteContextWith({ db, client, policy: { ...siteContextWith({}).policy, doubts } });
  expect(await resolveDoubts(context, new AbortController().signal)).toBe(1);
  expect(await mappings()).toEqual([{ key: 'b', id: '12' }]);
});
