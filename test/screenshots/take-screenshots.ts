// Takes a picture of every page, light and dark, wide and narrow, from a stage in which everything occurs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { feedName } from '../../src/posting/identifiers.ts';
import type { App } from '../../src/runtime/app.ts';
import { addUpload } from '../../src/store/feed/feed-uploads.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { openStage, type Stage } from '../review/stage.ts';
import { browserForTests } from '../support/browser.ts';
import { makeJob } from '../support/hand-made-jobs.ts';
import { holdPullLock } from '../support/hold-pull-lock.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { setEnv } from '../support/with-env.ts';
import { type SignedInPage, signInAs } from '../web/pages/signed-in.ts';
import { type Served, serve } from '../web/served.ts';
import { type Shown, shownPages, shownToAdmins, shownToStrangers } from './shown-pages.ts';

const FOLDER = resolve(process.env.SCREENSHOTS ?? 'screenshots');
/** Where the pictures of the README go. Not taken by default. */
const PICTURES = process.env.README_PICTURES;
/** Those pages, and how much of each is shown, in pixels from its top: up to the end of a part. */
const IN_README: Readonly<Record<string, number>> = { overview: 880, 'review-group': 944, posting: 1_014 };
/** How much of each page is shown where all are listed. */
const IN_LIST = { x: 0, y: 0, width: 1280, height: 800 };
const SIZES = { wide: { width: 1280, height: 800 }, narrow: { width: 390, height: 844 } } as const;
const SCHEMES = ['light', 'dark'] as const;
/** What is folded until a person asks for it. */
const UNFOLD = `for (const each of document.querySelectorAll('details:has(form#edit)')) each.open = true`;

const PAGES = `# Pages

What a browser shows of a stage in which everything occurs. Generated from the pages (\`README_PICTURES=docs/pictures npm run screenshots\`).
`;

/** Whether the page, or a part of it, is wider than the window. */
const SCROLLS = `[document.documentElement, ...document.querySelectorAll('.scroll')].some((each) => each.scrollWidth > each.clientWidth + 1)`;

const TITLES = [
  'Registered Nurse',
  'Warehouse Associate',
  'Truck Driver',
  'Software Engineer',
  'Line Cook',
  'Electrician',
];
const CITIES = ['Boston', 'Salem', 'Worcester', 'Springfield', 'Lowell'];

const usual = (from: number, count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) => {
    const n = from + at;
    return posting(`R-${1000 + n}`, { title: TITLES[n % TITLES.length], city: CITIES[n % CITIES.length] });
  });
const abroad = (state: string, from: number, count: number): TestPosting[] =>
  usual(from, count).map((each) => ({ ...each, state, city: 'Guadalajara' }));

let stage: Stage;
let served: Served;
let browser: Browser;
let shown: Shown;
let restoreEnv: () => void;
/** The pull that runs. */
let endPull: (() => Promise<void>) | undefined;

beforeAll(async () => {
  stage = await openStage();
  restoreEnv = setEnv(stage.mirror.env);
  await mkdir(join(stage.mirror.folder, 'feeds'));
  await writeFile(join(stage.mirror.folder, 'feeds/paper.yaml'), 'source: upload://\nformat: indeed\nsite: board\n');
  served = await serve(stage.mirror, { include: true });
  browser = await browserForTests().launch();
  shown = await fillStage();
});

afterAll(async () => {
  await endPull?.();
  await browser?.close();
  await served?.close();
  await stage?.close();
  restoreEnv?.();
});

/** A rejected group, a refused posting, a doubt, held deletes, an edit of many, a paused site and a pull that runs. */
async function fillStage(): Promise<Shown> {
  const { db } = served.app;
  const first = usual(0, 60);
  await stage.pull(first);
  await stage.acceptAll();
  const changed = first
    .map((each, at) => (at % 6 === 0 ? { ...each, title: `Senior ${each.title}` } : each))
    .slice(0, 58);
  const { pull } = await stage.pull([...changed, ...usual(70, 5)]);
  await stage.acceptAll();
  const bad = [...abroad('Jalisco', 100, 14), ...abroad('Sonora', 120, 5)];
  await stage.pull([...changed.slice(0, 50), ...usual(70, 5), ...bad, ...usual(210, 4)], { percent: 5, count: 3 });
  await stage.fail('R-1210', 'in_doubt', 'No answer: the connection was closed');
  await stage.fail('R-1211', 'rejected', 'Title is already used by another job of this account');
  const groups = (await served.api('GET', 'review/groups')).body.items as { group: string; count: number }[];
  const entries = (await served.api('GET', 'review?kind=rejected&limit=1')).body.items as { id: number; key: string }[];
  const doubts = (await served.api('GET', 'review?kind=in_doubt&limit=1')).body.items as { id: number }[];
  const group = groups[0]?.group ?? '';
  const q = encodeURIComponent('Sonora');
  const note = await served.api('POST', `review/groups/${group}/notes`, { text: 'Asked the agency on Monday.' });
  expect(note.status).toBe(200);
  const matching = (await served.api('GET', `review/groups?q=${q}`)).body.items[0]?.count ?? 0;
  const edit = { set: { 'location-state': 'Arizona' } };
  const body = { action: 'edit', filter: { group, q: 'Sonora' }, expected: matching, edit };
  const bulk = (await served.api('POST', 'review/actions', body)).body.bulk ?? 1;
  await db.query(
    `insert into site_state (site, paused_since, pause_cause, next_probe)
     values ('board', now() - interval '25 minutes', to_jsonb('the site refuses the token (401)'::text), now() + interval '5 minutes')
     on conflict (site) do update set paused_since = excluded.paused_since, pause_cause = excluded.pause_cause,
       next_probe = excluded.next_probe`,
  );
  await suspectKeys(db);
  await findJobs(db);
  await proposeJobs(db);
  for (const [month, count] of ['october', 'november'].entries()) {
    const content = Buffer.from(feedXml(usual(300, 8 + month)));
    const upload = { name: `${count}.xml`, content, actor: 'ada' };
    await db.transaction((tx) => addUpload(tx, feedName('paper'), upload));
  }
  endPull = await holdPullLock(db, feedName('acme'));
  const [running] = await db.query<{ id: number }>(
    `insert into pull (feed, site, seen) values ('acme', 'board', 0) returning id`,
  );
  return {
    feed: 'acme',
    site: 'board',
    pull,
    running: running?.id ?? pull,
    group,
    rejected: entries[0] ?? { id: 1, key: 'R-1100' },
    live: 'R-1006',
    doubt: doubts[0]?.id ?? 1,
    bulk,
  };
}

/** Some new postings as if they were missing ones under other keys. */
async function suspectKeys(db: App['db']): Promise<void> {
  const note = {
    text: '2 new postings of feed acme have the content of postings that are gone: their keys seem to have changed, so nothing is created or deleted until a person decides',
    next: [
      { words: 'to see which posting is which, and to keep their jobs', action: { kind: 'rekey_feed', feed: 'acme' } },
    ],
  };
  await db.query(`update feed_state set rekey_since = now(), rekey_note = $1 where feed = 'acme'`, [note]);
  await db.query(
    `insert into rekey_posting (feed, is_new, key, content, likeness, proven)
     select 'acme', is_new, key, case when n <= 2 then 'content ' || n end, 'likeness ' || n, true from (
       select is_new, key, row_number() over (partition by is_new order by key desc) as n from (
         select false as is_new, c.key from change c join mapping m using (feed, key) where c.desired = 'absent'
         union all select true, key from change where operation = 'create' and desired = 'present') sides) numbered
     where n <= 4`,
  );
  // The new ones say what the missing ones did, apart from references and addresses, and some have another description.
  await db.query(
    `update change c set fields = (d.fields::jsonb
       || jsonb_build_object('number', c.key, 'contact-web-address', 'https://jobs.example.com/' || c.key)
       || case when n.content is null then '{"description": "<p>Rewritten</p>"}'::jsonb else '{}'::jsonb end)::json
     from rekey_posting n join rekey_posting m on m.feed = n.feed and not m.is_new and m.likeness = n.likeness
     join document d on d.feed = m.feed and d.key = m.key
     where n.is_new and c.feed = n.feed and c.key = n.key`,
  );
}

/** A search of the site found a job for the create in doubt, and there is another that resembles it. */
async function findJobs(db: App['db']): Promise<void> {
  const [create] = await db.query<{ fields: Record<string, string> }>(`select fields from change where key = 'R-1210'`);
  const sent = create?.fields ?? {};
  const found = await makeJob(stage.mirror, sent);
  const other = await makeJob(stage.mirror, { ...sent, number: 'R-200', 'location-city': 'Lynn' });
  await db.query(
    `update change set found_job_id = $1, reason = reason || jsonb_build_object('candidates', jsonb_build_array($1::text, $2::text))
     where feed = 'acme' and key = 'R-1210'`,
    [found, other],
  );
  await db.query(
    `insert into site_reference (site, site_job_id, reference, shown, field) values ('board', $1, 'r-1200', 'R-1210', 'number')`,
    [found],
  );
}

/** Jobs that the site had before, as a matching proposes them. */
async function proposeJobs(db: App['db']): Promise<void> {
  await db.query(
    `insert into adopt_run (feed, site, actor, asked, state, worker, ended_at, matched_at, matched_site, sure, unsure, unmatched, other_jobs, mark)
     values ('acme', 'board', 'anna', 'match', 'done', 1, now(), now(), 'board', 3, 1, 0, 4, 'x')`,
  );
  const job = (n: number, before: string) => ({
    siteJobId: `${4_000 + n}`,
    url: `https://jobs.example.com/jobs/${4_000 + n}`,
    title: TITLES[n % TITLES.length],
    score: n % 2 === 0 ? 1 : 0.82,
    reasons: ['same title', 'same place', 'similar text'],
    differences: [{ field: 'description', before, now: '<p>Nights, weekends off</p>' }],
    moreFields: 0,
  });
  for (const [n, verdict] of ['sure', 'sure', 'sure', 'unsure'].entries()) {
    const jobs = verdict === 'sure' ? [job(n, 'Nights')] : [job(n, 'Nights and days'), job(n + 10, 'Days')];
    const reasons =
      verdict === 'sure' ? ['same reference', 'same title', 'same place'] : ['same title', 'several jobs fit'];
    await db.query(
      `insert into adopt_proposal (feed, n, key, verdict, reasons, title, candidates, version) values ('acme', $1, $2, $3, $4, $5, $6, 'v')`,
      [n, `R-${900 + n}`, verdict, JSON.stringify(reasons), TITLES[n % TITLES.length], JSON.stringify(jobs)],
    );
  }
}

/** The steps by which a feed is set up from a file, up to the one that saves it. */
async function setUpFeed({ page, go }: SignedInPage, take: (name: string) => Promise<unknown>): Promise<void> {
  const buffer = Buffer.from(feedXml([...usual(0, 12), ...abroad('Jalisco', 20, 2)]));
  await go(pageAddress.newFeed());
  await page.getByText('Sign-in, if the source asks for one').click();
  await page.getByText('SFTP server').click();
  await take('setup-sign-in');
  await page.getByLabel('Or a file of it').setInputFiles({ name: 'careers.xml', mimeType: 'text/xml', buffer });
  await page.getByRole('button', { name: 'Recognise the feed' }).click();
  await page.getByRole('heading', { name: 'Recognised: indeed' }).waitFor();
  await take('setup-fields');
  await page.getByRole('button', { name: 'Go on to the settings' }).click();
  await page.getByText('may go within 24 hours').waitFor();
  await take('setup-settings');
}

it('every page, light and dark, wide and narrow', async () => {
  await mkdir(FOLDER, { recursive: true });
  if (PICTURES !== undefined) await mkdir(join(PICTURES, 'pages'), { recursive: true });
  const refused: string[] = [];
  const listed: string[] = [];
  for (const colorScheme of SCHEMES) {
    for (const [size, viewport] of Object.entries(SIZES)) {
      const { context, page, go } = await signInAs(served, browser, 'anna', { colorScheme, viewport });
      const takeFrom =
        (of: Page) =>
        async (name: string): Promise<void> => {
          await of.screenshot({ path: join(FOLDER, `${name}-${size}-${colorScheme}.png`), fullPage: true });
          if (PICTURES === undefined || size !== 'wide' || colorScheme !== 'light') return;
          const path = join(PICTURES, 'pages', `${name}.jpg`);
          await of.screenshot({ path, type: 'jpeg', quality: 40, fullPage: true, clip: IN_LIST });
          const title = (await of.title()).replace(' – jobmirror', '');
          const { pathname, search } = new URL(of.url());
          listed.push(`## ${title}\n\n\`${pathname}${search}\`\n\n![${title}](pictures/pages/${name}.jpg)\n`);
        };
      const take = takeFrom(page);
      for (const [name, path] of Object.entries(shownPages(shown))) {
        const status = await go(path);
        if (status !== 200) refused.push(`${name} (${path}) answered ${status}`);
        await page.evaluate(UNFOLD);
        await take(name);
        if (size === 'narrow' && (await page.evaluate(SCROLLS))) refused.push(`${name} (${path}) scrolls sideways`);
        const height = IN_README[name];
        if (size === 'wide' && colorScheme === 'light' && height !== undefined && PICTURES !== undefined) {
          await page.screenshot({
            path: join(PICTURES, `${name}.png`),
            fullPage: true,
            clip: { x: 0, y: 0, width: 1280, height },
          });
        }
      }
      const admin = await signInAs(served, browser, 'ada', { colorScheme, viewport });
      const takeOf = takeFrom(admin.page);
      for (const [name, path] of Object.entries(shownToAdmins(shown))) {
        const status = await admin.go(path);
        if (status !== 200) refused.push(`${name} (${path}) answered ${status}`);
        await takeOf(name);
        if (size === 'narrow' && (await admin.page.evaluate(SCROLLS)))
          refused.push(`${name} (${path}) scrolls sideways`);
      }
      await setUpFeed(admin, takeOf);
      await admin.context.close();
      await context.clearCookies();
      for (const [name, path] of Object.entries(shownToStrangers)) {
        await go(path);
        await take(name);
      }
      await context.close();
    }
  }
  if (PICTURES !== undefined) await writeFile(join(PICTURES, '../pages.md'), `${PAGES}\n${listed.join('\n')}`);
  expect(refused).toEqual([]);
});
