// For each state, circumstance and operation: what is offered on the command line, in the API, on the pages, for groups and in counts is
// exactly what acting does, and all else is refused with a reason.
import { appendFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntryAction } from '../../src/plan/action.ts';
import {
  type ConfiguredHere,
  REVIEW_OPERATIONS,
  type ReviewOperation,
  whyNoRule,
  whyNotAllowed,
} from '../../src/plan/allowed.ts';
import { textOf } from '../../src/plan/message.ts';
import { membershipRule } from '../../src/posting/fingerprint.ts';
import { feedName, siteJobId, siteName } from '../../src/posting/identifiers.ts';
import { actOnEntries } from '../../src/review/act-on-entries.ts';
import { runBulk } from '../../src/review/bulk/run-bulk.ts';
import { offersFor } from '../../src/review/bulk/selection-offers.ts';
import { previewBulk, startBulk } from '../../src/review/bulk/start-bulk.ts';
import { editEntry } from '../../src/review/edit-posting.ts';
import { actionsOfEntry, factsOfEntry } from '../../src/review/entry-facts.ts';
import { readConfiguredHere } from '../../src/review/health/configured-policy.ts';
import { canApprove, readHeldOffers } from '../../src/review/held-offer.ts';
import { resolveEntry } from '../../src/review/resolve-entry.ts';
import { addRule } from '../../src/review/rules.ts';
import type { App } from '../../src/runtime/app.ts';
import { ENTRY_KINDS } from '../../src/store/backlog/open-counts.ts';
import { findEntries } from '../../src/store/change/act-in-review.ts';
import { SELECTED_ACTIONS, type SelectedAction } from '../../src/store/review/bulk-actions.ts';
import { readEntry } from '../../src/store/review/review-entries.ts';
import { RULE_ACTIONS } from '../../src/store/review/rules.ts';
import { runProgram } from '../cli/run-program.ts';
import { firstOf, spread } from '../support/extent.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForAll } from '../support/opened.ts';
import { type FormVisitor, visitorOf } from '../web/form-visitor.ts';
import { type Served, serve } from '../web/served.ts';

/** What is stored about a posting or record, and what can be done with it in a feed that is configured as it was pulled. */
const ENTRIES: readonly (readonly [state: string, circumstances: string, operations: string])[] = [
  ...['rejected', 'failed'].flatMap((state) => [
    [state, '', 'edit retry discard'] as const,
    [state, 'invalid', 'edit discard'] as const,
    [state, 'missing', 'discard'] as const,
    [state, 'missing invalid', 'discard'] as const,
    [state, 'unread', 'retry discard'] as const,
    [state, 'absent', 'retry discard'] as const,
    [state, 'absent undo', 'retry discard'] as const,
  ]),
  ['held', 'absent', 'approve discard'],
  ['held', 'absent undo', 'approve discard'],
  ['in_doubt', '', 'exists missing check'],
  ['in_doubt', 'absent', 'exists missing check'],
  ['discarded', '', 'reopen'],
  ['discarded', 'absent', 'reopen'],
  ['ready', '', ''],
  ['ready', 'absent', ''],
  ['sending', '', ''],
  ['sending', 'absent', ''],
  ['unreadable', 'record', 'discard'],
  ['duplicate', 'record', 'discard'],
  ['discarded', 'record', 'reopen'],
];

const waits = (state: string) => ['rejected', 'failed', 'held'].includes(state);
const isPlannedDelete = (state: string, is: string) => waits(state) && is === 'absent';

/** What each feed's configuration, or an open question, takes away. */
const FEEDS: Readonly<Record<string, (state: string, circumstances: string) => string>> = {
  acme: () => '',
  elsewhere: (_, is) => (is === 'record' ? '' : 'edit retry approve'),
  kept: (state, is) => (isPlannedDelete(state, is) ? 'retry approve' : ''),
  undecided: (state, is) => (isPlannedDelete(state, is) ? 'retry approve' : ''),
  questioned: (state, is) => (waits(state) && is.startsWith('absent') ? 'retry approve discard' : ''),
  unconfigured: () => 'edit',
  broken: () => 'edit',
};

interface Case {
  readonly id: number;
  readonly name: string;
  readonly feed: string;
  readonly state: string;
  readonly is: string;
  /** `undefined`: it is no review entry. */
  readonly group: string | undefined;
  readonly allowed: readonly string[];
}

/** What was said differs, so that each entry is a group of its own. */
const keyOf = (name: string): string => `key-${name.length}-${name.replaceAll(' ', '-')}`;

const wordsOf = (text: string): string[] => text.split(' ').filter((word) => word !== '');

let app: App;
let here: ConfiguredHere;
let served: Served;
let anna: FormVisitor;
const cases: Case[] = [];

const mirror = openedForAll(() => openMirror());
beforeAll(async () => {
  const feed = (name: string, policy = 'mirror') =>
    `  ${name}:\n    site: board\n    source: feed.xml\n    format: indeed\n    policy: ${policy}\n`;
  await appendFile(
    mirror.configPath,
    [feed('elsewhere'), feed('kept', 'upsert_only'), feed('undecided'), feed('questioned')].join(''),
  );
  const opened = await mirror.app();
  const broken = new Map([[feedName('broken'), { complaints: [], siteName: siteName('board') }]]);
  app = { ...opened, config: { ...opened.config, brokenFeeds: broken } };
  await fill();
  here = await readConfiguredHere(app.db, app.config);
  served = await serve(mirror);
  anna = await visitorOf(served, 'anna');
});
afterAll(async () => {
  await served?.close();
});

async function fill(): Promise<void> {
  const { db, config } = app;
  const [undo] = await db.query<{ id: number }>(
    `insert into pull (feed, site, undoable, undoes) values ('acme', 'board', true, 1) returning id`,
  );
  for (const [feed, without] of Object.entries(FEEDS)) {
    const configured = config.feeds.get(feedName(feed));
    const rule = feed === 'undecided' || configured === undefined ? 'another' : membershipRule(configured);
    const isAsked = feed === 'questioned';
    await db.query(
      `insert into feed_state (feed, site, membership_rule, rekey_since, rekey_all) values ($1, 'board', $2, case when $3 then now() end, $3)
       on conflict (feed) do update set membership_rule = excluded.membership_rule`,
      [feed, rule, isAsked],
    );
    for (const [state, is, operations] of ENTRIES) {
      const name = ['case', feed, state, ...wordsOf(is)].join(' ').replace('_', ' ');
      const id =
        is === 'record' ? await addRecord(feed, state, name) : await addChange(feed, state, is, name, undo?.id);
      const [entry] = await db.query<{ group: string }>('select group_id as "group" from review_entry where id = $1', [
        id,
      ]);
      const taken = wordsOf(without(state, is));
      const allowed = wordsOf(operations).filter((each) => !taken.includes(each));
      cases.push({ id, name, feed, state, is, group: entry?.group, allowed });
    }
  }
  await db.query('create table former_change as select * from change');
  await db.query('create table former_record as select * from record_problem');
}

async function addChange(
  feed: string,
  state: string,
  is: string,
  name: string,
  undo: number | undefined,
): Promise<number> {
  const has = (circumstance: string) => wordsOf(is).includes(circumstance);
  const isOpen = state === 'sending' || state === 'in_doubt';
  const reason = { kind: 'refused', message: name, note: 'cut', problems: [{ field: 'title', message: name }] };
  const [row] = await app.db.query<{ id: number }>(
    `insert into change (feed, key, site, desired, operation, fields, record_hash, state, discarded_from, invalid, gone, pull,
       attempt_token, attempt_operation, attempt_started, sent_fields, sent_content_hash, sent_record_hash, reason)
     values ($1, $2, $3, $4, case $4 when 'present' then 'create' else 'delete' end, case $4 when 'present' then $5::json end,
       case when $4 = 'present' then decode(md5(case when $6 then 'imported ' else 'record ' end || $2), 'hex') end, $7,
       case when $7 = 'discarded' then case $4 when 'absent' then 'held' else 'rejected' end end, $8, $9, $10,
       case when $11 then gen_random_uuid() end, case when $11 then 'create' end, case when $11 then now() - interval '1 hour' end,
       case when $11 then $5::json end, case when $11 then '\\x00'::bytea end, case when $11 then '\\x00'::bytea end, $12)
     returning id`,
    [
      feed,
      keyOf(name),
      feed === 'elsewhere' ? 'old' : 'board',
      has('absent') ? 'absent' : 'present',
      JSON.stringify({ number: keyOf(name), title: 'Nurse' }),
      has('unread'),
      state,
      has('invalid'),
      has('missing'),
      has('undo') ? (undo ?? null) : null,
      isOpen,
      JSON.stringify(reason),
    ],
  );
  return row?.id ?? 0;
}

async function addRecord(feed: string, state: string, name: string): Promise<number> {
  const [row] = await app.db.query<{ id: number }>(
    `insert into record_problem (feed, kind, record_hash, problems, excerpt, first_pull, discarded)
     values ($1, case $2 when 'discarded' then 'duplicate' else $2 end, sha256($3::bytea), $4, '', 1, $2 = 'discarded') returning id`,
    [feed, state, name, JSON.stringify([{ message: name }])],
  );
  return row?.id ?? 0;
}

/** Makes everything as it was before an action. */
async function restore({ id, feed, name }: Case): Promise<void> {
  for (const table of ['override', 'mapping', 'document']) {
    await app.db.query(`delete from ${table} where feed = $1 and key = $2`, [feed, keyOf(name)]);
  }
  await app.db.query('delete from change where id = $1 or (feed = $2 and key = $3)', [id, feed, keyOf(name)]);
  await app.db.query('insert into change select * from former_change where id = $1', [id]);
  await app.db.query('delete from record_problem where id = $1', [id]);
  await app.db.query('insert into record_problem select * from former_record where id = $1', [id]);
}

const operationOf = ({ kind, parameters }: Pick<EntryAction, 'kind'> & { readonly parameters: object }): string =>
  kind === 'settle' ? String((parameters as { verdict?: string }).verdict) : kind;

/** In the order of the table, and nothing about a doubt that is only for many. */
const inOrder = (operations: Iterable<string>): string[] => {
  const all = new Set(operations);
  return REVIEW_OPERATIONS.filter((each) => all.has(each));
};
const forOne = ({ allowed }: Case): string[] => inOrder(allowed.filter((each) => each !== 'check'));
const forMany = ({ allowed }: Case): string[] => inOrder(allowed.filter((each) => each !== 'exists'));

const acting = { actor: 'ann' };

/** Does it with the entry alone. Returns why not, or `done`. */
async function actOn({ id }: Case, operation: ReviewOperation): Promise<string> {
  const { db, config } = app;
  switch (operation) {
    case 'edit': {
      const report = await editEntry(db, config, id, { title: 'Cook' }, acting);
      return report.kind === 'edited' ? 'done' : textOf(report.message);
    }
    case 'exists':
    case 'missing': {
      const verdict = operation === 'exists' ? { siteJobId: siteJobId('7'), anyway: false } : {};
      const report = await resolveEntry(db, id, { kind: operation, ...verdict } as never, {
        ...acting,
        site: undefined,
      });
      return report.kind === 'recorded' ? 'done' : report.message;
    }
    case 'check':
      return 'only for many';
    default: {
      const report = await actOnEntries(db, config, operation, [{ ids: [id] }], acting);
      if (report.kind === 'refused') return textOf(report.message);
      const [entry] = report.entries;
      return entry?.result === 'done' ? 'done' : textOf(entry?.message ?? '');
    }
  }
}

/** Does it with all entries of the group. Returns why not, or `done`. */
async function actOnGroup({ group }: Case, action: SelectedAction): Promise<string> {
  const { db, config } = app;
  const edit = action === 'edit' ? { edit: { set: { title: 'Cook' } } } : {};
  const query = { groups: [group ?? ''] };
  const start = await startBulk(db, config, { action, ...acting, seen: { count: 1 }, detail: { query, ...edit } });
  if (start.kind === 'refused') return textOf(start.message);
  const end = await runBulk(db, config, start.bulk.id, { signal: new AbortController().signal });
  return end?.bulk.done === 1 ? 'done' : 'left alone, although it was offered';
}

it('what one can do with an entry is what acting does', async () => {
  for (const each of cases) {
    const entry = await readEntry(app.db, each.id);
    if (entry === undefined) throw new Error(each.name);
    const offered = actionsOfEntry(entry, here).map(operationOf);
    const isAsked = offered.includes('compare_keys');
    expect([each.name, isAsked ? [] : inOrder(offered)]).toEqual([each.name, forOne(each)]);
    expect([each.name, isAsked]).toEqual([
      each.name,
      each.feed === 'questioned' && waits(each.state) && each.is.startsWith('absent'),
    ]);
    const [state] = await findEntries(app.db, [each.id]);
    if (state === undefined) throw new Error(each.name);
    for (const operation of REVIEW_OPERATIONS.filter((each) => each !== 'check')) {
      const end = await actOn(each, operation);
      const why = whyNotAllowed(operation, factsOfEntry(state, here));
      expect([each.name, operation, end]).toEqual([
        each.name,
        operation,
        forOne(each).includes(operation) ? 'done' : expect.stringMatching(/.{10}/),
      ]);
      expect([each.name, operation, why === undefined]).toEqual([each.name, operation, end === 'done']);
      if (end === 'done') await restore(each);
    }
  }
});

const grouped = () => cases.filter(({ group }) => group !== undefined);

it('what one can do with a group is what acting does', async () => {
  for (const each of grouped()) {
    const query = { groups: [each.group ?? ''], discarded: each.state === 'discarded' };
    const offers = await offersFor(app, query);
    const offered = SELECTED_ACTIONS.filter((action) => offers.of[action].count > 0);
    expect([each.name, inOrder(offered)]).toEqual([each.name, forMany(each)]);
    for (const action of SELECTED_ACTIONS) {
      const preview = await previewBulk(app.db, app.config, action, { groups: query.groups });
      expect([each.name, action, preview.selected.length]).toEqual([each.name, action, offers.of[action].count]);
      // Whether doubts are decided together depends on their site as well: `bulk-doubts.test.ts`.
      if (action === 'check' || action === 'missing') continue;
      const end = await actOnGroup(each, action);
      const isOffered = forMany(each).includes(action);
      expect([each.name, action, end]).toEqual([
        each.name,
        action,
        isOffered ? 'done' : expect.stringMatching(/.{10}/),
      ]);
      if (isOffered) await restore(each);
      else
        expect([each.name, await app.db.query('select from bulk_action where state <> $1', ['done'])]).toEqual([
          each.name,
          [],
        ]);
    }
  }
});

it('approving a feed by its name is offered exactly if it deletes what is held', async () => {
  const offers = await readHeldOffers(app.db, app.config);
  for (const feed of Object.keys(FEEDS).map(feedName)) {
    const offer = offers.get(feed);
    const report = await actOnEntries(app.db, app.config, 'approve', [{ feed: feed }], acting);
    expect([feed, offer !== undefined && canApprove(offer)]).toEqual([feed, report.kind === 'acted']);
    if (report.kind === 'acted') expect([feed, report.acted.length]).toEqual([feed, offer?.approvable]);
    for (const each of cases.filter((one) => one.feed === feed && one.state === 'held')) await restore(each);
  }
});

it('a rule does what the table says, and nothing else', async () => {
  const rules = { rejected: 'edit retry discard', failed: 'edit retry discard', duplicate: 'discard' } as const;
  for (const each of grouped().filter(({ feed, state }) => feed === 'acme' && state !== 'discarded')) {
    const kind = ENTRY_KINDS.find((known) => known === each.state);
    if (kind === undefined) throw new Error(each.name);
    for (const action of RULE_ACTIONS) {
      const may = wordsOf((rules as Readonly<Record<string, string>>)[kind] ?? '').includes(action);
      expect([each.name, action, whyNoRule(action, kind) === undefined]).toEqual([each.name, action, may]);
      const made = await addRule(app.db, { group: each.group ?? '', feed: undefined, action, detail: {}, ...acting });
      expect([each.name, action, made.kind]).toEqual([each.name, action, may ? 'done' : 'refused']);
      await app.db.query('delete from rule_entry');
      await app.db.query('delete from review_rule');
    }
  }
});

/** One of each is enough to see that a surface asks the table. */
const shown = (surface: number): readonly Case[] => {
  const each = cases.filter(
    ({ state, feed, is }) =>
      !['undecided', 'broken'].includes(feed) && (state !== 'failed' || feed === 'acme') && is !== 'missing invalid',
  );
  return firstOf(spread(each, surface, 3), 12);
};

describe('the same is offered', () => {
  it('on the command line', async () => {
    for (const each of shown(0)) {
      const [entry] = (await runProgram(mirror, 'review', 'show', String(each.id), '--json')).json<{
        actions: EntryAction[];
        commands: string[];
      }>();
      const isAsked = entry?.actions.some(({ kind }) => kind === 'compare_keys') === true;
      expect([each.name, inOrder((entry?.actions ?? []).map(operationOf))]).toEqual([each.name, forOne(each)]);
      expect([each.name, entry?.commands.some((words) => words.includes(`feeds rekey ${each.feed}`))]).toEqual([
        each.name,
        isAsked,
      ]);
      if (each.group === undefined) continue;
      const [group] = (await runProgram(mirror, 'review', 'show', '--group', each.group, '--json')).json<{
        commands: string[];
      }>();
      const offered = (group?.commands ?? []).flatMap(
        (words) => /review (\w+)(?:.* --(missing|check))?/.exec(words)?.slice(1) ?? [],
      );
      expect([each.name, inOrder(offered)]).toEqual([each.name, forMany(each)]);
      for (const words of group?.commands ?? []) {
        if (/review (?!list)/.test(words))
          expect([each.name, words]).toEqual([each.name, expect.stringContaining('--count 1')]);
      }
    }
  });

  it('in the API', async () => {
    for (const each of shown(1)) {
      const { body } = await served.api('GET', `review/${each.id}`);
      expect([each.name, inOrder(body.actions.map(operationOf))]).toEqual([each.name, forOne(each)]);
      if (each.group === undefined) continue;
      for (const action of SELECTED_ACTIONS) {
        const selection = await served.api('GET', `review/selection?action=${action}&group=${each.group}`);
        expect([each.name, action, selection.body.count]).toEqual([
          each.name,
          action,
          forMany(each).includes(action) ? 1 : 0,
        ]);
      }
    }
  });

  it('on the pages', async () => {
    const BUTTONS = {
      retry: 'Send again',
      approve: 'Approve: delete',
      discard: 'Discard',
      reopen: 'Reopen',
      edit: 'Save and send',
    } as const;
    const MANY = {
      edit: 'Set for 1',
      retry: 'Send again 1',
      approve: 'Approve deletes: 1…',
      discard: 'Discard 1…',
      reopen: 'Reopen 1',
      missing: 'The site made none: send again 1…',
      check: 'Check again 1',
    } as const;
    const buttonsIn = (html: string) =>
      new Set([...html.matchAll(/<button[^>]*>([^<]*)<\/button>/g)].map(([, words]) => words?.trim()));
    for (const each of shown(2)) {
      const address =
        each.is === 'record'
          ? `/review/entry?id=${each.id}`
          : `/posting?feed=${each.feed}&key=${encodeURIComponent(keyOf(each.name))}`;
      const page = (await anna.get(address)).text;
      const buttons = buttonsIn(page);
      const offered = Object.entries(BUTTONS).flatMap(([operation, words]) => (buttons.has(words) ? operation : []));
      // A posting that waits to be sent is edited on its page, too.
      const own = each.state === 'ready' ? offered.filter((operation) => operation !== 'edit') : offered;
      const isDoubt = page.includes('Resolve the doubt') || page.includes('Decide about this create');
      expect([each.name, inOrder(own)]).toEqual([each.name, forOne(each).filter((one) => one in BUTTONS)]);
      if (each.state !== 'in_doubt') expect([each.name, isDoubt]).toEqual([each.name, false]);
      if (each.group === undefined) continue;
      const discarded = each.state === 'discarded' ? '&discarded=true' : '';
      const group = buttonsIn((await anna.get(`/review/entries?group=${each.group}${discarded}`)).text);
      const many = Object.entries(MANY).flatMap(([operation, words]) => (group.has(words) ? operation : []));
      expect([each.name, inOrder(many)]).toEqual([each.name, forMany(each)]);
    }
  });
});
