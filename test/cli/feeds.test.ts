// Renaming a feed in the configuration or removing it never duplicates or forgets a job.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { pullFeed } from '../../jobs/pull-feed.ts';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { openSiteQueue } from '../../src/queue/site-queue.ts';
import { feedSetups } from '../../src/runtime/feed-setups.ts';
import { enterAsWorker } from '../../src/store/locks/processes.ts';
import { FEED_TABLES } from '../../src/store/mapping/rename-feed.ts';
import { forgetOldRows } from '../../src/store/status/retention.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

// Each command runs in a process of its own.

const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  await mirror.writeFeed(feedXml(postings(3)));
});

/** Edits the configuration. */
/** A feed's name is alone on its line. */
const rename = (from: string, to: string): Promise<void> => mirror.configure(`\n  ${from}:\n`, `\n  ${to}:\n`);

async function syncOnce() {
  const report = await mirror.sync();
  await mirror.stopEngine();
  return report;
}

describe('a feed under a new name', () => {
  it('is not pulled until a person confirms the rename; then it keeps its jobs', async () => {
    await syncOnce();
    await rename('acme', 'acme-jobs');
    mirror.sandbox.requests.clear();

    const checked = await run('check');
    expect(checked.status).toBe(1);
    expect(checked.out).toContain('problem: feed acme-jobs is new');
    expect(checked.out).toContain(`feeds rename acme acme-jobs --config ${mirror.configPath}. If it is not`);
    expect((await run('plan')).errors).toContain('feeds rename acme acme-jobs --config');
    const refused = await run('sync', '--json');
    expect(refused.status).toBe(1);
    const message = expect.stringMatching(/acme \(3 live jobs on site board\).* feeds retire acme --config .*\.yaml$/);
    expect(refused.json()).toEqual([expect.objectContaining({ feed: 'acme-jobs', status: 'failed', message })]);
    expect(mirror.sandbox.requests.recent()).toEqual([]);

    expect((await run('status')).out).toContain('feeds rename acme acme-jobs');
    const { out } = await run('feeds', 'rename', 'acme', 'acme-jobs', '--as', 'ann');
    const { out: status } = await run('status');
    expect(status).toContain('its last pull failed: feed acme had not been renamed yet');
    expect(status).not.toContain('feeds rename');
    expect(out).toBe('Feed acme is acme-jobs now, with 3 jobs.\n');
    expect((await run('check')).status).toBe(0);
    await mirror.writeFeed(feedXml([...postings(2), posting('new')]));
    const synced = await run('sync', '--json');
    expect(synced.status).toBe(0);
    expect(synced.json()).toEqual([expect.objectContaining({ unchanged: 2, created: 1, deleted: 1 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(3);
    expect((await run('why', 'acme-jobs', 'p1')).out).toContain('It is on site board');
    expect(
      await mirror.query(`select actor, feed, detail->>'from' as old from audit where action = 'rename feed'`),
    ).toEqual([{ actor: 'ann', feed: 'acme-jobs', old: 'acme' }]);
  });

  it('is pulled as new once the old one is retired, which may return', { tags: 'slow' }, async () => {
    await syncOnce();
    await rename('acme', 'other');
    await writeFile(join(mirror.folder, 'other.xml'), feedXml([posting('o1')]));
    await mirror.configure('source: feed.xml', 'source: other.xml');
    expect((await run('sync')).status).toBe(1);
    // Printed once, with complete commands: neither the line of the pull nor one about acme repeats it.
    const shown = (await run('status')).out;
    expect(shown).toMatch(
      /^FAILING: feed other: .* names acme \(3 live jobs on site board\)\. .* retire acme --config \S+$/m,
    );
    expect(shown.match(/feeds rename acme other/g)).toHaveLength(1);
    expect(shown).not.toContain('acme is no longer in the configuration');
    expect((await run('feeds', 'retire', 'acme')).out).toContain('Feed acme is retired; its jobs stay.');
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ created: 1, deleted: 0 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(4);
    const { out } = await run('status');
    expect(out).toMatch(/^acme \(retired\)/m);
    expect(out).not.toContain('no longer in the configuration');

    await rename('other', 'acme');
    await mirror.configure('source: other.xml', 'source: feed.xml');
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ feed: 'acme', unchanged: 3 })]);
    expect(await mirror.query('select feed from feed_state where retired_at is not null')).toEqual([]);
  });
});

it('check accepts a configuration whose database it cannot read, and says so', { tags: 'slow' }, async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: as written in the configuration.
  await mirror.configure('${DATABASE_URL}', 'postgres://127.0.0.1:1/jobmirror');
  const { status, json } = await run('check', '--json');
  expect(status).toBe(0);
  const warnings = [expect.stringMatching(/^the database can't be read: .*ECONNREFUSED/)];
  expect(json()).toEqual([expect.objectContaining({ warnings, problems: [] })]);
});

it('sync and status report a feed that was removed while its changes were waiting', { tags: 'slow' }, async () => {
  await mirror.sandbox.setFaults([{ name: '401' }]);
  expect(await syncOnce()).toMatchObject({ status: 'pending', pending: 3 });
  await rename('acme', 'other');
  await mirror.sandbox.setFaults([]);
  await mirror.query(`update site_state set paused_since = null`);
  const { status, errors } = await run('sync');
  expect(status).toBe(2);
  expect((await run('sync', 'other')).status).toBe(0);
  expect(errors).toContain('feed acme is no longer in the configuration: 0 jobs stay as they are, and 3 changes');
  expect(errors).toContain(`feeds retire acme --config ${mirror.configPath}`);
  expect((await run('status')).out).toContain('3 changes are not sent');
});

it('check names each removed feed once, whatever else is wrong', { tags: 'slow' }, async () => {
  await syncOnce();
  await mirror.query(`insert into feed_state (feed, site) values ('globex', 'board')`);
  await mirror.query(
    `insert into change (feed, key, site, desired, operation, fields, state)
     values ('globex', 'g1', 'board', 'present', 'create', '{}', 'ready')`,
  );
  await rename('acme', 'acme-jobs');
  const { out } = await run('check');
  expect(out).toContain('problem: feed acme-jobs is new');
  expect(out).toContain('feed globex is no longer in the configuration: 0 jobs stay as they are, and 1 change');
  expect(out).not.toContain('feed acme is no longer in the configuration');
});

describe('a renamed feed without live jobs', () => {
  const LOST = [{ name: 'reset-after' }] as const;

  it('is not pulled while creates of the old name are in doubt; they continue under the new name', {
    tags: 'slow',
  }, async () => {
    const listPath = '    list_path: /jobs.xml\n';
    await mirror.configure(listPath, '');
    await mirror.sandbox.setFaults(LOST);
    expect(await syncOnce()).toMatchObject({ in_doubt: 3, created: 0 });
    await mirror.sandbox.setFaults([]);
    await rename('acme', 'acme-jobs');
    const uncertain = 'acme (0 live jobs, 3 more that may have been created on site board)';
    expect((await run('check')).out).toContain(uncertain);
    expect(await run('sync')).toMatchObject({ status: 1, errors: expect.stringContaining(uncertain) });
    expect((await run('status')).out).toContain('acme-jobs is new');
    expect(await mirror.sandbox.inspect.count()).toBe(3);

    expect((await run('feeds', 'rename', 'acme', 'acme-jobs')).out).toContain('and 3 open changes');
    await mirror.configure('    reference_field', `${listPath}    reference_field`);
    const synced = await run('sync', '--json');
    expect(synced.json()).toEqual([expect.objectContaining({ feed: 'acme-jobs', pending: 0, in_doubt: 0 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });

  it('is not pulled while the site may have an orphan site job of the old name', { tags: 'slow' }, async () => {
    await mirror.query(`insert into feed_state (feed, site) values ('old', 'board')`);
    await mirror.query(`insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '99', 'old', 'k')`);
    expect(await syncOnce()).toMatchObject({ status: 'failed', message: expect.stringContaining('1 more that may') });
  });

  it('is pulled if the site has nothing of the old name', { tags: 'slow' }, async () => {
    await mirror.query(`insert into feed_state (feed, site) values ('old', 'board')`);
    await mirror.query(
      `insert into change (feed, key, site, desired, operation, fields, state)
       values ('old', 'k', 'board', 'present', 'create', '{}', 'rejected')`,
    );
    expect(await syncOnce()).toMatchObject({ status: 'mirrored', created: 3 });
  });

  it('is not pulled either if the site was renamed too, at the same address', { tags: 'slow' }, async () => {
    await syncOnce();
    await rename('board', 'main');
    await mirror.configure('site: board', 'site: main');
    const words = 'if main is the same site, give it the name board again';
    expect(await run('check')).toMatchObject({ status: 1, out: expect.stringContaining(words) });
    expect(await run('sync')).toMatchObject({ status: 1, errors: expect.stringContaining(words) });
    await rename('acme', 'acme-jobs');
    const { status, errors } = await run('sync');
    expect(status).toBe(1);
    expect(errors).toContain('Site main is at the address of site board; give it that name again first');
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });

  it('names the possible former names of two new feeds until a person decides each', { tags: 'slow' }, async () => {
    await syncOnce();
    await mirror.query(`insert into feed_state (feed, site) values ('globex', 'board')`);
    await mirror.query(
      `insert into orphan_site_job (site, site_job_id, feed, key, not_before) values ('board', '99', 'globex', 'k', 'infinity')`,
    );
    await mirror.stopEngine();
    await rename('acme', 'acme-jobs');
    const text = await readFile(mirror.configPath, 'utf8');
    const [, block = ''] = /\n {2}acme-jobs:\n([\s\S]*)$/.exec(text) ?? [];
    await writeFile(mirror.configPath, `${text}\n  globex-jobs:\n${block}`);
    const refused = (await run('sync')).errors;
    for (const words of ['feeds rename acme acme-jobs', 'feeds rename globex globex-jobs'])
      expect(refused).toContain(words);
    expect((await run('feeds', 'rename', 'globex', 'globex-jobs')).status).toBe(0);
    const half = await run('sync', '--json', 'acme-jobs', 'globex-jobs');
    expect(half.json()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ feed: 'acme-jobs', status: 'failed' }),
        expect.objectContaining({ feed: 'globex-jobs', created: 3 }),
      ]),
    );
  });
});

describe('a feed whose postings are jobs of a retired one', () => {
  const search = async (feed: string) => {
    await mirror.query(`insert into feed_state (feed, site) values ($1, 'board') on conflict (feed) do nothing`, [
      feed,
    ]);
    await mirror.query('update feed_state set site_checked_at = null, site_declared = false where feed = $1', [feed]);
  };

  it('waits, and takes the name of a retired one over', async () => {
    await mirror.writeFeed(feedXml([...postings(3), posting('bad', { state: 'Jalisco' })]));
    await syncOnce();
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    const { status, out } = await run('sync');
    expect(status).toBe(1);
    expect(out).toContain(
      '3 postings with the same key and content, text or address are in feed acme of this site, which is retired. If other is the new name of acme: ',
    );
    expect(await mirror.sandbox.inspect.count()).toBe(3);
    expect((await run('feeds', 'rename', 'acme', 'other')).out).toContain('Feed acme is other now, with 3 jobs');
    expect((await run('sync', '--json')).json()).toEqual([
      expect.objectContaining({ unchanged: 3, rejected: 1, requests: 0 }),
    ]);
    expect((await run('review', 'list', '--json')).json()).toEqual([
      expect.objectContaining({ feed: 'other', key: 'bad' }),
    ]);
  });

  it('keeps what was edited under the new name before', async () => {
    await mirror.writeFeed(feedXml([...postings(3), posting('bad', { state: 'Jalisco' })]));
    await syncOnce();
    expect((await run('review', 'edit', 'acme', 'bad', '--set', 'location-state=Ohio', '--no-send')).status).toBe(0);
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    await run('sync');
    const edits = ['--set', 'location-state=Texas', '--no-send'];
    expect((await run('review', 'edit', 'other', 'bad', ...edits)).status).toBe(0);
    expect((await run('review', 'edit', 'other', 'p1', '--set', 'title=Chef', '--no-send')).status).toBe(0);
    expect((await run('feeds', 'rename', 'acme', 'other')).out).toContain('applies 2 edits made as other before');
    expect((await run('sync', '--json')).json()).toEqual([
      expect.objectContaining({ unchanged: 2, updated: 1, created: 1, rejected: 0 }),
    ]);
    expect(
      await mirror.query('select key, field, value from override where feed = $1 order by key', ['other']),
    ).toEqual([
      { key: 'bad', field: 'location-state', value: 'Texas' },
      { key: 'p1', field: 'title', value: 'Chef' },
    ]);
  });

  it('keeps what was discarded under the new name before', async () => {
    const write = (...bad: string[]) => {
      const all = [
        ...postings(3).filter(({ key }) => !bad.includes(key)),
        ...bad.map((key) => posting(key, { state: 'Jalisco' })),
      ];
      return mirror.writeFeed(feedXml(all).replace('</source>', '<job>x</job></source>'));
    };
    await write('both');
    await syncOnce();
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    await write('both', 'new', 'p1');
    await run('sync');
    const discarded = () =>
      mirror.query<{ key: string | null }>(
        `select key from change where feed = 'other' and state = 'discarded'
         union all select key from record_problem where feed = 'other' and discarded order by key`,
      );
    const entries = await mirror.query<{ id: number }>(
      `select id from change where feed = 'other' and state = 'rejected' union all select id from record_problem where feed = 'other'`,
    );
    expect((await run('review', 'discard', '--yes', ...entries.map(({ id }) => `${id}`))).status).toBe(0);
    const before = await discarded();
    expect(before).toHaveLength(4);
    expect((await run('feeds', 'rename', 'acme', 'other')).status).toBe(0);
    expect(await discarded()).toEqual(before);
    await run('sync');
    expect(await discarded()).toEqual(before);
  });

  it('takes the name over although one of its creates, not sent, waits for a person because of a job that was found', async () => {
    await makeJob(mirror, jobOf(posting('p3')));
    await search('acme');
    expect(await syncOnce()).toMatchObject({ created: 2, in_doubt: 1 });
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ pending: 2, in_doubt: 1 })]);
    expect((await run('feeds', 'rename', 'acme', 'other')).out).toContain('Feed acme is other now, with 2 jobs');
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ unchanged: 2, in_doubt: 1 })]);
  });

  it.for([
    { addresses: 'its own address', address: '$&', ended: { status: 1, made: 3 } },
    {
      addresses: 'the address of all',
      address: '<url>https://jobs.example.com/all</url>',
      ended: { status: 0, made: 6 },
    },
  ])('whose fields have changed with the name but for $addresses', async ({ address, ended }) => {
    const write = (list: readonly TestPosting[]) =>
      mirror.writeFeed(feedXml(list).replaceAll(/<url>.*?<\/url>/g, address));
    await write(postings(3));
    await syncOnce();
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    await write(postings(3).map((one) => ({ ...one, title: 'Cook', description: '', city: 'Lynn' })));
    expect({ status: (await run('sync')).status, made: await mirror.sandbox.inspect.count() }).toEqual(ended);
  });

  it('makes them again if a person wants them twice', async () => {
    await syncOnce();
    await rename('acme', 'other');
    await run('feeds', 'retire', 'acme');
    await search('other');
    expect((await run('sync')).status).toBe(1);
    expect((await run('feeds', 'new', 'other')).status).toBe(0);
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ created: 3 })]);
  });
});

it('retiring a feed with creates in doubt says so', async () => {
  await mirror.configure('    list_path: /jobs.xml\n', '');
  await mirror.sandbox.setFaults([{ name: 'reset-after' }]);
  expect(await syncOnce()).toMatchObject({ in_doubt: 3 });
  await rename('acme', 'other');
  expect((await run('feeds', 'retire', 'acme')).out).toContain('may have a job for each of 3 creates in doubt');
});

it('what the queue still has of a retired feed is not sent', async () => {
  const { db, log, config } = await mirror.app();
  const [setup] = feedSetups(config, ['acme']);
  if (setup === undefined) throw new Error('no feed');
  await pullFeed(setup, { db, log, signal: new AbortController().signal });
  await mirror.stopEngine();
  await rename('acme', 'other');
  expect((await run('feeds', 'retire', 'acme')).out).toContain('Feed acme is retired; its jobs stay.');
  const { backend } = await mirror.engine();
  const queue = await openSiteQueue(backend, siteName('board'));
  await queue.addMany(postings(3).map(({ key }) => ({ feed: feedName('acme'), key: postingKey(key) })));
  await vi.waitFor(async () => expect(await queue.counts()).toEqual({ waiting: 0, active: 0 }), { timeout: 60_000 });
  await queue.close();
  await mirror.stopEngine();
  expect(await mirror.sandbox.inspect.count()).toBe(0);
});

describe('feeds new', () => {
  const LOST = [{ name: 'reset-after' }] as const;
  const listPath = '    list_path: /jobs.xml\n';

  /** Three creates of acme are in doubt, and the site has created their jobs. */
  async function openDoubtful(): Promise<void> {
    await mirror.configure(listPath, '');
    await mirror.sandbox.setFaults(LOST);
    expect(await syncOnce()).toMatchObject({ in_doubt: 3, created: 0 });
    await mirror.sandbox.setFaults([]);
  }
  /** Acts like a person who ignores what the commands print. */
  const insist = async () => {
    await run('feeds', 'new', 'other');
    await run('feeds', 'retire', 'acme');
  };

  it('is refused while an unconfigured feed has creates in doubt, retired or not', { tags: 'slow' }, async () => {
    await openDoubtful();
    await rename('acme', 'other');
    for (const retired of [false, true]) {
      if (retired) expect((await run('feeds', 'retire', 'acme')).status).toBe(0);
      const { status, errors } = await run('feeds', 'new', 'other');
      expect(status).toBe(1);
      expect(errors).toContain('feed acme is not in the configuration, and has 3 creates whose outcome is unknown');
      expect(errors).toContain(`feeds rename acme other --config ${mirror.configPath}. If not, resolve`);
      expect(errors).toContain(`review list acme --config ${mirror.configPath}`);
    }
    expect(await mirror.query(`select from audit where action = 'new feed'`)).toEqual([]);
    const entries = await mirror.query<{ id: number; key: string }>(
      `select id, key from change where state = 'in_doubt'`,
    );
    const jobs = new Map((await mirror.sandbox.inspect.jobs()).map((job) => [job.fields.number, job.id]));
    for (const { id, key } of entries) {
      expect(await run('review', 'settle', `${id}`, '--exists', `${jobs.get(key)}`)).toMatchObject({ status: 0 });
    }
    expect((await run('feeds', 'new', 'other')).out).toContain('Feed other is declared new');
  });

  it('creates no duplicates even if insisted on', { tags: 'slow' }, async () => {
    await openDoubtful();
    await rename('acme', 'other');
    await insist();
    await mirror.configure('    reference_field', `${listPath}    reference_field`);
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ feed: 'other', created: 0 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });

  it('is refused while there is an orphan site job of such a feed', { tags: 'slow' }, async () => {
    await mirror.configure('\n  acme:\n', '\n  other:\n');
    await mirror.query(`insert into feed_state (feed, site) values ('acme', 'board') on conflict do nothing`);
    await mirror.query(
      `insert into orphan_site_job (site, site_job_id, feed, key) values ('board', '99', 'acme', 'k')`,
    );
    expect(await run('feeds', 'new', 'other')).toMatchObject({
      status: 1,
      errors: expect.stringContaining('feed acme is not in the configuration, and has 1 orphan site job on site board'),
    });
  });

  it('is accepted despite doubts of a feed that is configured, here or in another process, or of another site', {
    tags: 'slow',
  }, async () => {
    await openDoubtful();
    expect((await run('feeds', 'new', 'acme')).status).toBe(0);
    await rename('acme', 'other');
    const { db } = await mirror.app();
    const feeds = new Map([['acme', 'board']]) as never;
    const { leave } = await enterAsWorker(db, { ...SOMEBODY, feeds }, () => undefined);
    expect((await run('feeds', 'new', 'other')).status).toBe(0);
    await leave();
    expect((await run('feeds', 'new', 'other')).status).toBe(1);
    await db.query(`update feed_state set site = 'elsewhere' where feed = 'acme'`);
    expect((await run('feeds', 'new', 'other')).status).toBe(0);
  });

  it('no longer counts once a feed with creates in doubt is retired: the site is searched', {
    tags: 'slow',
  }, async () => {
    await openDoubtful();
    const text = await readFile(mirror.configPath, 'utf8');
    const [, block = ''] = /\n {2}acme:\n([\s\S]*)$/.exec(text) ?? [];
    await writeFile(mirror.configPath, `${text}\n  other:\n${block}`);
    expect((await run('feeds', 'new', 'other')).status).toBe(0);
    await writeFile(mirror.configPath, text.replace('\n  acme:\n', '\n  other:\n'));
    await mirror.configure('    reference_field', `${listPath}    reference_field`);
    expect((await run('feeds', 'retire', 'acme', '--json')).json()).toEqual([
      { feed: 'acme', retired: true, in_doubt: 3, searched: ['other'] },
    ]);
    expect((await run('sync', '--json')).json()).toEqual([expect.objectContaining({ feed: 'other', created: 0 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  });
});

/** A process running alongside the commands. */
const SOMEBODY = { command: 'work', host: 'here', pid: 1, parts: {}, feeds: new Map() } as const;

describe('a rename is refused', { tags: 'slow' }, () => {
  const refused = async (...names: readonly string[]) => {
    const { status, errors } = await run('feeds', 'rename', ...names);
    expect(status).toBe(1);
    return errors;
  };

  it('for a configured old name, and for an unconfigured new one', async () => {
    await syncOnce();
    expect(await refused('acme', 'other')).toContain('feed acme is in the configuration');
    expect(await refused('globex', 'acme')).toContain('there is no feed globex; feeds: acme');
    await rename('acme', 'other');
    expect(await refused('acme', 'globex')).toContain('there is no feed globex in');
  });

  it('for a name with jobs of its own, while a change is being sent, and for another site', async () => {
    await syncOnce();
    await rename('acme', 'other');
    const { db } = await mirror.app();
    await db.query(
      `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash) values ('other', 'k', 'board', 'x', '', '')`,
    );
    expect(await refused('acme', 'other')).toContain('feed other has jobs or changes of its own already');
    await db.query(`delete from mapping where feed = 'other'`);
    const { worker, leave } = await enterAsWorker(db, SOMEBODY, () => undefined);
    await db.query(
      `insert into change (feed, key, site, desired, operation, state, attempt_token, attempt_operation, attempt_started,
         attempt_worker)
       values ('acme', 'k', 'board', 'absent', 'delete', 'sending', gen_random_uuid(), 'delete', now(), $1)`,
      [worker],
    );
    expect(await refused('acme', 'other')).toContain('are being sent');
    await leave();
    await db.query('delete from change');
    await db.query(`update feed_state set site = 'elsewhere'`);
    expect(await refused('acme', 'other')).toContain('was mirrored into site elsewhere');
    expect(await db.query('select distinct feed from mapping')).toEqual([{ feed: 'acme' }]);
  });
});

it('a rename releases the changes that an ended process was sending', { tags: 'slow' }, async () => {
  await syncOnce();
  await rename('acme', 'other');
  const { db } = await mirror.app();
  const { worker, leave } = await enterAsWorker(db, SOMEBODY, () => undefined);
  await leave();
  await db.query(
    `insert into change (feed, key, site, desired, operation, state, attempt_token, attempt_operation, attempt_started,
       attempt_worker)
     values ('acme', 'k', 'board', 'absent', 'delete', 'sending', gen_random_uuid(), 'delete', now(), $1)`,
    [worker],
  );
  expect((await run('feeds', 'rename', 'acme', 'other')).status).toBe(0);
  expect(await db.query('select feed, state from change')).toEqual([{ feed: 'other', state: 'ready' }]);
});

it.each([
  ['just now', '0 days'],
  ['before all that the audit trail still keeps', '400 days'],
])(
  'a process that still has the former name, given up %s, creates nothing, although the source has changed too',
  async (_, age) => {
    const former = { ...mirror, configPath: join(mirror.folder, 'former.yaml') };
    await writeFile(former.configPath, await readFile(mirror.configPath, 'utf8'));
    await syncOnce();
    await rename('acme', 'other');
    await writeFile(join(mirror.folder, 'other.xml'), feedXml(postings(3)));
    await mirror.configure('source: feed.xml', 'source: other.xml');
    expect((await run('feeds', 'rename', 'acme', 'other')).status).toBe(0);
    const { db } = await mirror.app();
    await db.query(`update audit set at = now() - $1::interval`, [age]);
    const days = { requests: 30, failures: 90, audit: 365, pulls: 90, undo: 30 };
    await forgetOldRows(db, days, new AbortController().signal);
    await mirror.engine();
    const late = await runProgram(former, 'sync', '--json');
    await mirror.stopEngine();
    expect(late.json()).toEqual([expect.objectContaining({ feed: 'acme', status: 'failed', created: 0 })]);
    expect(await mirror.sandbox.inspect.count()).toBe(3);
  },
);

// Tables of processes keep the names and schedules of their own configurations. Triggers count what is renamed.
it('a rename covers every table', async () => {
  const rows = await mirror.query<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'feed'
       and table_name not in ('process_feed', 'feed_schedule', 'review_total', 'review_value_total', 'review_tally',
         'mapping_total', 'mapping_tally')
       and table_name in (select table_name from information_schema.tables where table_type = 'BASE TABLE')
       and table_name::text not in (select relname::text from pg_class where relispartition)`,
  );
  expect([...FEED_TABLES].sort()).toEqual(rows.map(({ name }) => name).sort());
});
