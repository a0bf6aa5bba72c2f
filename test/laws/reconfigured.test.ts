// A feed is read in another way from one pull to the next: each posting accounts for its own key only, in every state that
// it can be in, and with an incomplete pull in between.
import { describe, expect } from 'vitest';
import { byExtent, chosen, spread } from '../support/extent.ts';
import type { TestPosting } from '../support/indeed-feed.ts';
import type { Installation } from './installation.ts';
import { lawTest as it } from './law-test.ts';
import { checkCounts } from './laws.ts';
import {
  allowList,
  approve,
  BEFORE,
  CHANGES,
  type Change,
  cutDocumentOf,
  discardUnreadable,
  documentOf,
  everyone,
  reconfigure,
  retry,
  STATES,
  type State,
  TARGET,
} from './reconfigured.ts';

/** The fields that the site shows for one job. */
type Shown = readonly [number: string, title: string, state: string];

async function jobsOf({ sandbox, owner }: Installation): Promise<(readonly [id: string, ...Shown])[]> {
  const jobs = (await sandbox.inspect.jobs()).filter((siteJob) => siteJob.owner === owner);
  return jobs.map(({ id, fields }) => [id, fields.number ?? '', fields.title ?? '', fields['location-state'] ?? '']);
}

/** The recorded fields of each key's job. */
async function liveByKey(installation: Installation): Promise<Map<string, Shown>> {
  const rows = await installation.query<{ key: string; fields: Record<string, string> }>(
    'select key, fields from mapping join document using (feed, key)',
  );
  const shown = ({ number = '', title = '', 'location-state': state = '' }: Record<string, string>): Shown => [
    number,
    title,
    state,
  ];
  return new Map(rows.map(({ key, fields }) => [key, shown(fields)]));
}

/** The final fields of each key's job: those of the feed, or the former ones if the posting is invalid. */
function expectedJobs(list: readonly TestPosting[], before: Map<string, Shown>, change: Change, state: State) {
  const { edited, unreadable } = state;
  return list
    .filter(({ key }) => change.reads(key) && !isSkipped(key, change, state))
    .flatMap((one): Shown[] => {
      const key = change.keyOf(one.key);
      const valid: Shown = [one.key, change.titleOf(one.key), 'Massachusetts'];
      if (one.state === undefined && !(unreadable && one.key === TARGET)) return [valid];
      if (edited !== undefined && key === TARGET) return [[one.key, change.titleOf(one.key), edited]];
      const asBefore = before.get(key);
      return asBefore === undefined ? [] : [asBefore];
    });
}

/** A record that cannot be read is never skipped: what the rule would say of it is not known. */
const isSkipped = (key: string, { skips }: Change, { unreadable }: State): boolean =>
  skips?.(key) === true && !(unreadable && key === TARGET);

/** A record belongs to one posting: two keys never share a record hash. */
async function checkRecords(installation: Installation): Promise<void> {
  const shared = await installation.query(
    `select record_hash, array_agg(distinct key) as keys
     from (select feed, key, record_hash from mapping
           union all select feed, key, record_hash from change where record_hash is not null
           union all select feed, key, sent_record_hash from change where sent_record_hash is not null) r
     group by feed, record_hash having count(distinct key) > 1`,
  );
  expect(shared).toEqual([]);
}

/** What `npm test` runs of them; `changed-key.test.ts` has live postings whose key changes. */
const IN_QUICK: Readonly<Record<string, string>> = {
  'keys that belonged to other postings': 'gone, with its delete held',
  'another key for every second posting': 'edited',
};

describe.each(chosen(CHANGES, ({ name }) => name in IN_QUICK))('$name', { concurrent: true }, (change) => {
  const inAll = spread(STATES, CHANGES.indexOf(change), STATES.length);
  const inQuick = STATES.filter(({ name }) => IN_QUICK[change.name] === name);
  it.for(byExtent(inAll, inQuick))('while a posting is $name', async (state, { open }) => {
    const installation = await open({ feed: BEFORE, ...state.options });
    const list = await state.begin(installation);
    await installation.sandbox.setFaults([]);
    const before = await liveByKey(installation);
    await reconfigure(installation, BEFORE, change.feed);

    const jobs = await jobsOf(installation);
    await installation.writeFeed(cutDocumentOf(list));
    expect(await installation.sync()).toMatchObject({ status: 'incomplete', deleted: 0, gone: 0 });
    expect((await jobsOf(installation)).map(([id]) => id)).toEqual(expect.arrayContaining(jobs.map(([id]) => id)));
    await checkRecords(installation);

    await installation.writeFeed(documentOf(list));
    if (state.unreadable) {
      await installation.sync();
      await discardUnreadable(installation);
    }
    const report = await installation.sync();
    const found = list.filter(({ key }) => change.reads(key));
    const skipped = found.filter(({ key }) => isSkipped(key, change, state));
    expect(report).toMatchObject({ complete: true, seen: found.length, skipped: skipped.length });
    checkCounts(report);
    await checkRecords(installation);

    // The site gets a list, so doubts resolve themselves; postings within their grace period wait for another pull.
    await allowList(installation);
    checkCounts(await installation.sync());
    await approve(installation);
    await retry(installation);
    const quiet = await installation.sync();
    checkCounts(quiet);
    expect(quiet).toMatchObject({ held: 0, pending: 0, pending_deletes: 0, in_doubt: 0, failed: 0 });

    const shown = (await jobsOf(installation)).map(([, ...rest]) => rest);
    expect(shown.toSorted()).toEqual(expectedJobs(list, before, change, state).toSorted());
    const { keyOf, reads } = change;
    const keys = [...(await liveByKey(installation)).keys()];
    const readKeys = list
      .filter(({ key }) => reads(key) && !isSkipped(key, change, state))
      .map(({ key }) => keyOf(key));
    expect(readKeys).toEqual(expect.arrayContaining(keys));
    await checkRecords(installation);
    expect(await installation.sync()).toMatchObject({ requests: 0, gone: 0 });
  });
});

describe('a record that cannot be read when the key changes', () => {
  const unreadable = STATES.find((state) => state.unreadable) as State;
  const change = CHANGES.find(({ name }) => name === 'another key') as Change;

  it('may be the posting of any job with a former key: no such job is deleted until a person says so', async ({
    open,
  }) => {
    const installation = await open({ feed: { ...BEFORE, delete_guard: '{ percent: 100, count: 100 }' } });
    const list = await unreadable.begin(installation);
    const before = (await jobsOf(installation)).map(([id]) => id);
    await reconfigure(installation, BEFORE, change.feed);
    expect(await installation.sync()).toMatchObject({ status: 'incomplete', deleted: 0 });
    await discardUnreadable(installation);

    for (const pull of [1, 2]) {
      const report = checkCounts(await installation.sync());
      expect(report, `pull ${pull}`).toMatchObject({ complete: true, unreadable: 1, deleted: 0, held: before.length });
    }
    expect((await jobsOf(installation)).map(([id]) => id)).toEqual(expect.arrayContaining(before));

    await installation.writeFeed(documentOf(everyone));
    const mended = await installation.sync();
    checkCounts(mended);
    expect(mended).toMatchObject({ complete: true, unreadable: 0, created: 1, deleted: before.length, held: 0 });
    expect(list).toHaveLength(everyone.length);

    // From now on every job has a key of the new kind, so a record with a known key can be no other posting.
    await installation.writeFeed(documentOf(list.slice(0, -1)));
    await installation.sync();
    await discardUnreadable(installation);
    const later = await installation.sync();
    expect(later).toMatchObject({ complete: true, unreadable: 1, held: 0 });
  });
});
