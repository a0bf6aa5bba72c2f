// Pages, API and terminal do the same: one list of actions through each of them leads to the same state after every step.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/command-list.ts';
import { textOf } from '../../src/plan/message.ts';
import { startBulk } from '../../src/review/bulk/start-bulk.ts';
import { listGroups } from '../../src/review/list-groups.ts';
import { startBulkRunner } from '../../src/runtime/bulk-runner.ts';
import { OPERATIONS } from '../../src/web/http-routes.ts';
import { pageRoutes } from '../../src/web/pages/page-routes.tsx';
import { runProgram } from '../cli/run-program.ts';
import { firstOf } from '../support/extent.ts';
import { jobOf, makeJob } from '../support/hand-made-jobs.ts';
import { posting, postings } from '../support/indeed-feed.ts';
import { type Fields, visitorOf } from '../web/form-visitor.ts';
import { type Answer, type Served, serve } from '../web/served.ts';
import { openStage, type Stage } from './stage.ts';

/** What a person does with a group of so many entries, or with an action, a rule or a note by its number. */
interface Medium {
  addNote(group: string, text: string): Promise<void>;
  removeNote(id: number): Promise<void>;
  setOne(group: string, count: number, value: string, alsoNew?: boolean): Promise<void>;
  setByTable(group: string, count: number, values: Readonly<Record<string, string>>): Promise<void>;
  retry(group: string, count: number): Promise<void>;
  discard(group: string, count: number, reason: string): Promise<void>;
  reopen(group: string, count: number): Promise<void>;
  approve(group: string, count: number): Promise<void>;
  check(group: string, count: number): Promise<void>;
  missing(group: string, count: number): Promise<void>;
  /** The jobs that a search of the site found, where their posting is certain. */
  adopt(): Promise<void>;
  endRule(id: number): Promise<void>;
  stop(bulk: number): Promise<void>;
  resume(bulk: number): Promise<void>;
}

const FIELD = 'location-state';

async function throughPages(served: Served): Promise<Medium> {
  const anna = await visitorOf(served, 'anna');
  const page = (group: string) => anna.get(`/review/entries?group=${group}`);
  const press = async (
    at: Answer,
    ...rest: Parameters<typeof anna.press> extends [unknown, ...infer R] ? R : never
  ) => {
    const answer = await anna.press(at, ...rest);
    expect(answer.status, answer.text).toBe(200);
    return answer;
  };
  const all = (count: number) => (count === 1 ? '1' : `all ${count}`);
  return {
    addNote: async (group, text) => void (await press(await page(group), 'Add note', { text })),
    removeNote: async (id) => void expect((await anna.post(`/review/notes/${id}/remove`, {})).status).toBe(200),
    async setOne(group, count, value, alsoNew = false) {
      const rule: Fields = alsoNew ? { also_new: 'true' } : {};
      await press(await page(group), `Set for ${all(count)}`, { value, ...rule });
    },
    async setByTable(group, count, values) {
      const at = await page(group);
      expect(at.text).toContain(`Set for ${all(count)}`);
      const table = Object.entries(values).map((row) => row.join(','));
      await press(at, 'Replace values', { table: table.join('\n') });
    },
    retry: async (group, count) => void (await press(await page(group), `Send again ${all(count)}`)),
    async discard(group, count, reason) {
      const question = await press(await page(group), `Discard ${all(count)}…`);
      await press(question, /^Discard/, { reason });
    },
    async reopen(group, count) {
      await press(await anna.get(`/review/entries?group=${group}&discarded=true`), `Reopen ${all(count)}`);
    },
    async approve(group, count) {
      await press(await press(await page(group), `Approve deletes: ${all(count)}…`), /^Delete/);
    },
    check: async (group, count) => void (await press(await page(group), `Check again ${all(count)}`)),
    async missing(group, count) {
      const question = await press(await page(group), `The site made none: send again ${all(count)}…`);
      expect((await anna.press(question, /^Send again/)).status).toBe(400);
      await press(question, /^Send again/, { confirmed: 'true' });
    },
    adopt: async () => void (await press(await anna.get('/doubts/found?feed=acme'), 'Adopt the certain job')),
    endRule: async (id) => void expect((await anna.post(`/review/rules/${id}/end`, {})).status).toBe(200),
    stop: async (id) => void (await press(await anna.get(`/review/actions/${id}`), /^Stop/)),
    resume: async (id) => void (await press(await anna.get(`/review/actions/${id}`), 'Continue')),
  };
}

function throughApi(served: Served): Medium {
  const post = async (path: string, body?: unknown): Promise<void> => {
    const answer = await served.api('POST', path, body);
    expect(answer.status, answer.text).toBeLessThan(300);
  };
  const act = (group: string, expected: number, body: object) =>
    post('review/actions', { filter: { group }, expected, ...body });
  return {
    addNote: (group, text) => post(`review/groups/${group}/notes`, { text }),
    removeNote: (id) => post(`review/notes/${id}/remove`),
    setOne: (group, count, value, alsoNew = false) =>
      act(group, count, { action: 'edit', edit: { set: { [FIELD]: value } }, also_new: alsoNew }),
    setByTable: (group, count, values) =>
      act(group, count, { action: 'edit', edit: { map: { field: FIELD, values } } }),
    retry: (group, count) => act(group, count, { action: 'retry' }),
    discard: (group, count, reason) => act(group, count, { action: 'discard', reason }),
    reopen: (group, count) => act(group, count, { action: 'reopen' }),
    async approve(group, count) {
      const { body } = await served.api('GET', `review/selection?action=approve&group=${group}`);
      await act(group, count, { action: 'approve', mark: body.mark });
    },
    check: (group, count) => act(group, count, { action: 'check' }),
    async missing(group, count) {
      const { body } = await served.api('GET', `review/selection?action=missing&group=${group}`);
      await act(group, count, { action: 'missing', mark: body.mark });
    },
    async adopt() {
      const { body } = await served.api('GET', 'feeds/acme/found');
      await post('feeds/acme/found', { mark: body.mark });
    },
    endRule: (id) => post(`review/rules/${id}/end`),
    stop: (id) => post(`review/actions/${id}/stop`),
    resume: (id) => post(`review/actions/${id}/continue`),
  };
}

function throughTerminal({ mirror }: Stage): Medium {
  const run = async (...args: readonly string[]): Promise<void> => {
    const { status, errors } = await runProgram(mirror, 'review', ...args);
    // 2: some entries still need a person.
    expect([0, 2], errors).toContain(status);
  };
  const on = (group: string, count: number) => ['--group', group, '--count', String(count)];
  return {
    addNote: (group, text) => run('note', group, text),
    removeNote: (id) => run('note', '--remove', String(id)),
    setOne: (group, count, value, alsoNew = false) =>
      run('edit', ...on(group, count), '--set', `${FIELD}=${value}`, '--no-send', ...(alsoNew ? ['--also-new'] : [])),
    async setByTable(group, count, values) {
      const file = join(mirror.folder, 'table.csv');
      await writeFile(
        file,
        Object.entries(values)
          .map((row) => `${row.join(',')}\n`)
          .join(''),
      );
      await run('edit', ...on(group, count), '--set-map', `${FIELD}=${file}`, '--no-send');
    },
    retry: (group, count) => run('retry', ...on(group, count), '--no-send'),
    discard: (group, count, reason) => run('discard', ...on(group, count), '--reason', reason, '--yes'),
    reopen: (group, count) => run('reopen', ...on(group, count)),
    approve: (group, count) => run('approve', ...on(group, count), '--no-send'),
    check: (group, count) => run('settle', '--check', ...on(group, count), '--no-send'),
    async missing(group) {
      const [shown] = (await runProgram(mirror, 'review', 'show', '--group', group, '--json')).json<{ mark: string }>();
      await run('settle', '--missing', '--group', group, '--mark', shown?.mark ?? '', '--no-send');
    },
    adopt: () => run('settle', 'acme', '--found', '--yes', '--no-send'),
    endRule: (id) => run('rules', 'end', String(id)),
    stop: (id) => run('stop', String(id)),
    resume: (id) => run('continue', String(id), '--no-send'),
  };
}

/** Everything that an action changes, apart from who did it, when, and by which process it is run. */
async function stateOf({ app: { db } }: Stage): Promise<unknown> {
  return {
    changes: await db.query(
      `select key, state, discarded_from, desired, fields->>'${FIELD}' as value from change order by feed, key`,
    ),
    edits: await db.query('select key, field, source_value, value from override order by 1, 2'),
    notes: await db.query('select group_id, text from group_note order by id'),
    rules: await db.query(
      'select group_id, action, detail, ended_at is not null as ended from review_rule order by id',
    ),
    bulks: await db.query('select action, state, total, done, remaining, skipped from bulk_action order by id'),
    left: await db.query('select bulk, skipped from bulk_entry where skipped is not null order by 1, 2'),
    mapped: await db.query('select key, site_job_id from mapping order by feed, key'),
    audit: await db.query(
      `select a.action, a.feed, a.key, a.detail - 'entry' - 'url' as detail from audit a order by a.action, a.key, a.detail->>'bulk', a.id`,
    ),
  };
}

interface Step {
  readonly after: string;
  readonly state: unknown;
}

async function walk(open: (stage: Stage, served: Served) => Medium | Promise<Medium>): Promise<Step[]> {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    await stage.pull(postings(10));
    await stage.acceptAll();
    const odd = ['a', 'b', 'c'].map((key) => posting(key, { state: key === 'c' ? 'Sonora' : 'Jalisco' }));
    await stage.pull([
      ...postings(2),
      ...odd,
      posting('d', { title: '' }),
      posting('e', { title: '' }),
      posting('f'),
      posting('g'),
      posting('h'),
    ]);
    await stage.fail('f', 'failed', 'no answer');
    await stage.fail('g', 'in_doubt', 'no answer');
    await stage.fail('h', 'in_doubt', 'found');
    await stage.app.db.query(
      `update change set attempt_started = now() - interval '1 hour', reason = reason || '{"note":"cut"}' where key = 'g'`,
    );
    const groups = await listGroups(stage.app.db, {}, { groups: undefined, values: 1 });
    const groupOf = (kind: string, field?: string) =>
      groups.find((group) => group.kind === kind && (field === undefined || group.field === field))?.id ?? '';
    const [states, titles] = [groupOf('rejected', FIELD), groupOf('rejected', 'title')];
    const medium = await open(stage, served);
    const steps: Step[] = [];
    const done = async (after: string): Promise<void> => {
      await carryOut(stage, served);
      steps.push({ after, state: await stateOf(stage) });
    };
    await medium.addNote(states, 'ask Marta');
    await medium.addNote(states, 'she says Texas');
    await medium.removeNote(1);
    await done('notes');
    await medium.setByTable(states, 3, { Jalisco: 'Texas' });
    await done('a table of values');
    await medium.setOne(states, 1, 'Arizona', true);
    await done('one value, and a rule');
    await medium.endRule(1);
    await done('the end of the rule');
    await medium.discard(titles, 2, 'closed');
    await done('discarding');
    await medium.reopen(titles, 2);
    await done('reopening');
    await medium.retry(groupOf('failed'), 1);
    await done('sending again');
    await medium.approve(groupOf('held'), 8);
    await done('approving');
    await medium.check(groupOf('in_doubt'), 1);
    await done('reading the list again');
    await medium.missing(groupOf('in_doubt'), 1);
    await done('sending what was in doubt');
    const found = await makeJob(stage.mirror, { ...jobOf(posting('h')), title: 'Made earlier' });
    await stage.app.db.query(`update change set found_job_id = $1 where key = 'h'`, [found]);
    await stage.app.db.query(
      `insert into site_reference (site, site_job_id, reference, shown, field) values ('board', $1, 'h', 'h', 'number')`,
      [found],
    );
    await medium.adopt();
    await done('adopting what was found');
    const begun = await startBulk(stage.app.db, stage.app.config, {
      action: 'discard',
      actor: 'ann',
      detail: { query: { groups: [titles] } },
    });
    if (begun.kind === 'refused') throw new Error(textOf(begun.message));
    await medium.stop(begun.bulk.id);
    steps.push({ after: 'a stop', state: await stateOf(stage) });
    await medium.resume(begun.bulk.id);
    await done('going on');
    return steps;
  } finally {
    await served.close();
    await stage.close();
  }
}

/** As the process that was asked does. */
async function carryOut({ app }: Stage, served: Served): Promise<void> {
  const open = async () => app.db.query<{ id: number }>(`select id from bulk_action where state = 'open' order by id`);
  const runner = startBulkRunner(served.app, () => undefined);
  for (const { id } of await open()) runner.begin(id);
  await expect.poll(open).toEqual([]);
  await runner.stop(5_000);
}

it('every step through pages, API and terminal ends in the same state', async () => {
  const pages = await walk((_, served) => throughPages(served));
  const api = await walk((_, served) => throughApi(served));
  const terminal = await walk((stage) => throughTerminal(stage));
  for (const [at, step] of pages.entries()) {
    expect(api[at], `the API after ${step.after}`).toEqual(step);
    expect(terminal[at], `the terminal after ${step.after}`).toEqual(step);
  }
  // And the steps did something.
  expect(new Set(pages.map(({ state }) => JSON.stringify(state))).size).toBe(pages.length);
  const last = pages.at(-1)?.state as { changes: { key: string; state: string; value: string | null }[] };
  expect(last.changes.map(({ key, state, value }) => [key, state, value])).toEqual([
    ['a', 'ready', 'Texas'],
    ['b', 'ready', 'Texas'],
    ['c', 'ready', 'Arizona'],
    ['d', 'discarded', 'Massachusetts'],
    ['e', 'discarded', 'Massachusetts'],
    ['f', 'ready', 'Massachusetts'],
    ['g', 'ready', 'Massachusetts'],
    ['h', 'ready', 'Massachusetts'],
    ...['p10', 'p3', 'p4', 'p5', 'p6', 'p7', 'p8', 'p9'].map((key) => [key, 'ready', null]),
  ]);
});

it('jobs are found by key, ID and title on the page and in a terminal', async () => {
  const stage = await openStage();
  const served = await serve(stage.mirror);
  try {
    await stage.pull([...postings(3), posting('p4', { title: 'Pilot of p1' })]);
    await stage.acceptAll();
    await stage.pull([
      ...postings(3),
      posting('p4', { title: 'Pilot of p1' }),
      posting('p5', { title: 'Pilot waits' }),
    ]);
    const anna = await visitorOf(served, 'anna');
    const find = (...args: readonly string[]) => runProgram(stage.mirror, 'mappings', 'find', ...args);
    for (const text of ['', '  ']) {
      expect(await find(text)).toMatchObject({ status: 1, errors: expect.stringContaining('the text is empty') });
    }
    const found: readonly (readonly [string, readonly string[]])[] = [
      ['p1', ['p1', 'p4']],
      ['NURS', ['p1', 'p2', 'p3']],
      ['job-p2', ['p2']],
      ['pilot', ['p4']],
      ['p5', ['p5']],
      ['nobody', []],
    ];
    for (const [text, keys] of firstOf(found, 3)) {
      const page = (await anna.get(`/jobs?q=${encodeURIComponent(text)}`)).text;
      const shown = [...page.matchAll(/<th scope="row"[^>]*><a href="[^"]*key=(p\d)"/g)].map(([, key]) => key);
      expect([text, shown]).toEqual([text, keys]);
      expect([text, (await find(text, '--json')).json().map(({ key }) => key)]).toEqual([text, keys]);
    }
    expect((await find('job-p2', 'acme', '--json')).json()).toEqual([
      {
        feed: 'acme',
        key: 'p2',
        site: 'board',
        job_id: 'job-p2',
        url: null,
        title: 'Nurse p2',
        state: null,
      },
    ]);
    expect((await find('nurse', '--limit', '2')).out).toContain('There are more');
    expect((await find('nobody')).out).toContain('found by its key only');
    expect((await find('p1', 'nowhere')).status).toBe(1);
  } finally {
    await served.close();
    await stage.close();
  }
});

interface Twin {
  readonly api: readonly string[];
  readonly terminal: readonly string[];
}
const twin = (api: string, ...terminal: readonly string[]): Twin => ({ api: api.split(' '), terminal });
const SETUP = twin(
  'keepFeedSample recogniseFeed tryFeedText planFeedText saveFeedFile',
  'feeds recognise',
  'feeds try-file',
  'feeds plan-file',
  'feeds save-file',
);

/** What shows or does the same as a page: operations of the API, and commands. */
const SAME: Readonly<Record<string, Twin>> = {
  'GET /': twin('showStatus', 'status'),
  'GET /held': twin('listReview', 'review list'),
  'POST /held': twin('actOnReview', 'review approve', 'review discard'),
  'GET /doubts': twin('listReview', 'review list'),
  'GET /doubts/:id': twin('showEntry compareEntry', 'review show'),
  'POST /doubts/:id': twin('settleEntry', 'review settle'),
  'GET /doubts/found': twin('showFound', 'review show'),
  'POST /doubts/found': twin('adoptFound', 'review settle'),
  'GET /rekey': twin('showRekey', 'feeds rekey'),
  'POST /rekey': twin('decideAboutRekey', 'feeds rekey'),
  'GET /adopt': twin('showAdoption', 'mappings adopt'),
  'POST /adopt': twin('startAdoption', 'mappings adopt'),
  'GET /jobs': twin('listPostings', 'mappings find', 'mappings list'),
  'GET /review': twin('listReviewGroups', 'review groups'),
  'GET /review/entries': twin('listReview showReviewGroup', 'review list'),
  'POST /review/entries': twin('actOnReview', 'review edit', 'review retry', 'review reopen', 'review settle'),
  'GET /review/confirm': twin('previewActionOnReview', 'review discard'),
  'POST /review/confirm': twin('actOnReview', 'review discard', 'review approve', 'review settle'),
  'GET /review/actions': twin('listReviewActions', 'review actions'),
  'GET /review/actions/:id': twin('showReviewAction', 'review actions'),
  'POST /review/actions/:id/stop': twin('stopReviewAction', 'review stop'),
  'POST /review/actions/:id/continue': twin('continueReviewAction', 'review continue'),
  'GET /review/rules': twin('listReviewRules', 'review rules'),
  'POST /review/rules/:id/end': twin('endReviewRule', 'review rules'),
  'POST /review/notes': twin('noteReviewGroup', 'review note'),
  'POST /review/notes/:id/remove': twin('removeReviewNote', 'review note'),
  'GET /review/entry': twin('showEntry', 'review show'),
  'POST /review/entry/:id/decide': twin(
    'retryEntry approveEntry discardEntry reopenEntry editEntry settleEntry',
    'review retry',
    'review approve',
    'review discard',
    'review reopen',
    'review edit',
    'review settle',
  ),
  'GET /posting': twin('showPosting', 'why'),
  'POST /posting/sync': twin('syncPosting', 'sync'),
  'POST /posting/renew': twin('renewPosting', 'feeds renew'),
  'POST /posting/edit': twin('editPosting', 'review edit'),
  'POST /posting/undo-edit': twin('undoEdit', 'review undo-edit'),
  'GET /feed': twin('showFeed', 'status'),
  'POST /feed/pull': twin('startPull', 'sync'),
  'POST /feed/resume': twin('resumeFeed', 'feeds resume'),
  'GET /feed/uploads': twin('listUploads', 'feeds uploads'),
  'POST /feed/uploads': twin('uploadFeed', 'feeds upload'),
  'POST /feed/uploads/restore': twin('restoreUpload', 'feeds restore-upload'),
  'GET /feed/file': twin('showFeedFile listFeedFileVersions', 'feeds show-file', 'feeds versions'),
  'GET /feed/file/version': twin('showFeedFileVersion', 'feeds show-version'),
  'POST /feed/file/check': twin('checkFeedFile', 'feeds check-file'),
  'POST /feed/file/save': twin('saveFeedFile', 'feeds save-file'),
  'POST /feed/file/restore': twin('restoreFeedFileVersion', 'feeds restore-version'),
  'GET /feeds/new': SETUP,
  'POST /feeds/new': SETUP,
  'GET /feeds/change': SETUP,
  'POST /feeds/setup/fields': SETUP,
  'POST /feeds/setup/settings': SETUP,
  'GET /pulls': twin('listPulls', 'pulls'),
  'GET /pulls/:id': twin('showPull', 'pulls'),
  'GET /pulls/:pull/undo': twin('showUndo', 'undo'),
  'POST /pulls/:pull/undo': twin('undoPull', 'undo'),
  'GET /changes': twin('listChanges', 'changes'),
  'GET /changes.csv': twin('listChanges', 'changes'),
  'GET /sites': twin('listSites', 'status'),
  'GET /sites/:site': twin('listSites', 'status'),
  'POST /sites/:site/resume': twin('resumeSite', 'resume'),
  'GET /pause': twin('showStatus', 'status'),
  'POST /pause': twin('pause', 'pause'),
  'POST /pause/end': twin('endPause', 'resume'),
  'GET /queues': twin('showQueues', 'status'),
  'GET /activity': twin('listActivities', 'activity'),
  'GET /configuration': twin('showReload', 'reload'),
  'POST /configuration/reload': twin('reload', 'reload'),
};

/** They belong to a browser alone. */
const OWN = /^\/(?:sign-in|sign-out|style\.css|pages\.js|icon\.svg)$/;

it('whatever a page shows or does, the API and the terminal can', async () => {
  const web = { users: new Map([['anna', {}]]), tokens: new Map() };
  const app = { db: {}, config: { web, sites: new Map(), feeds: new Map() } };
  const context = { app, control: {} } as unknown as Parameters<typeof pageRoutes>[0];
  const { routes } = pageRoutes(context, {} as Parameters<typeof pageRoutes>[1]);
  const pages = routes.filter(({ path }) => !OWN.test(path)).map(({ method, path }) => `${method} ${path}`);
  expect(pages.sort()).toEqual(Object.keys(SAME).sort());
  const operations = new Set(OPERATIONS.map(({ id }) => id));
  const commands = new Set(
    (await Promise.all(COMMANDS.map(({ load }) => load()))).flatMap((command) => [
      command.name(),
      ...command.commands.map((below) => `${command.name()} ${below.name()}`),
    ]),
  );
  for (const [page, { api, terminal }] of Object.entries(SAME)) {
    for (const id of api) expect(operations, page).toContain(id);
    for (const command of terminal) expect(commands, page).toContain(command);
  }
  // And the other way round: each operation that changes something has a form.
  const changing = OPERATIONS.filter(({ method }) => method === 'post').map(({ id }) => id);
  const formed = new Set(Object.values(SAME).flatMap(({ api }) => api));
  expect(changing.filter((id) => !formed.has(id)).sort()).toEqual(WITHOUT_FORM);
});

/** `addReviewRule` is a choice in the forms of actions; the days of single postings begin anew on their pages. */
const WITHOUT_FORM = ['addReviewRule', 'renewPostings'];
