// All keys of a feed change while it can only be read in part, or a few at a time: no posting gets a second job, and what an older
// version has doubled is bound again.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { feedXml, posting, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let source: WebServer | undefined;
afterEach(async () => {
  await mirror?.close();
  await source?.close();
  source = undefined;
});

const ward = (prefix: string, n: number): TestPosting =>
  posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: `<p>Ward ${n}</p>` });
const wards = (prefix: string, count: number, from = 1): TestPosting[] =>
  Array.from({ length: count }, (_, at) => ward(prefix, from + at));

const run = (...args: readonly string[]) => runProgram(mirror, ...args);
const rekey = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return run('feeds', 'rekey', 'acme', ...args);
};
const idsByTitle = async () => {
  const found = new Map<string, string[]>();
  for (const { id, fields } of await mirror.sandbox.inspect.jobs())
    found.set(fields.title ?? '', [...(found.get(fields.title ?? '') ?? []), id]);
  return found;
};
async function sync() {
  mirror.sandbox.requests.clear();
  return checkCounts(await mirror.sync());
}
/** Synchronises, and expects that no content has two live jobs. */
async function syncOnce() {
  const report = await sync();
  for (const [title, ids] of await idsByTitle()) expect([title, ids.length]).toEqual([title, 1]);
  return report;
}
/** The pairs are bound, the jobs keep their IDs, and nothing is sent after that. */
async function bindAll(before: Map<string, string[]>, count: number) {
  const shown = (await rekey('--sure', '--json')).json();
  expect(shown.filter(({ bound }) => bound)).toHaveLength(count);
  await syncOnce();
  expect(await idsByTitle()).toEqual(before);
  expect(await syncOnce()).toMatchObject({ status: 'mirrored', requests: 0 });
}

/** Two files as sources, of which one may be missing. */
async function openTwo(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await mirror.configure('source: feed.xml', 'sources: [one.xml, two.xml]');
}
const put = async (one: readonly TestPosting[] | undefined, two: readonly TestPosting[] | undefined) => {
  for (const [name, list] of [
    ['one.xml', one],
    ['two.xml', two],
  ] as const)
    await writeFile(join(mirror.folder, name), list === undefined ? '<source><job>' : feedXml(list));
};

describe('two sources of which one fails at a time', () => {
  it('nothing is created until both were read; then the keys are asked about', async () => {
    await openTwo();
    await put(wards('a', 4), wards('a', 4, 5));
    expect(await syncOnce()).toMatchObject({ created: 8 });
    const before = await idsByTitle();
    await put(undefined, wards('b', 4, 5));
    const first = await syncOnce();
    expect(first).toMatchObject({ complete: false, created: 0, pending: 4, requests: 0 });
    expect(first.message).toContain('feeds rekey acme');
    await put(wards('b', 4), undefined);
    expect(await syncOnce()).toMatchObject({ complete: false, created: 0, requests: 0 });
    await put(wards('b', 4), wards('b', 4, 5));
    expect(await syncOnce()).toMatchObject({ status: 'review', complete: true, created: 0, held: 8, requests: 0 });
    await bindAll(before, 8);
  });

  it.each([
    ['their key', (key: string, n: number) => `<p>Ward ${n}. Quote ${key} when you apply</p>`],
    ['their former key', (_key: string, n: number) => `<p>Ward ${n}. Quote a${n} when you apply</p>`],
    ['a date', (key: string, n: number) => `<p>Ward ${n}. As of ${key.startsWith('a') ? 'May' : 'June'} 3</p>`],
  ])('nothing is created, though the texts name %s', async (_, text) => {
    const telling = (prefix: string, from: number) =>
      Array.from({ length: 4 }, (_each, at) => {
        const key = `${prefix}${from + at}`;
        return posting(key, { title: `Nurse ${from + at}`, description: text(key, from + at) });
      });
    await openTwo();
    await put(telling('a', 1), telling('a', 5));
    expect(await syncOnce()).toMatchObject({ created: 8 });
    await put(undefined, telling('b', 5));
    const first = await syncOnce();
    expect(first).toMatchObject({ complete: false, created: 0, pending: 4, requests: 0 });
    expect(first.message).toContain('feeds rekey acme');
    await put(telling('b', 1), undefined);
    expect(await syncOnce()).toMatchObject({ complete: false, created: 0, requests: 0 });
    expect((await rekey('--json')).json().length).toBeGreaterThan(0);
    await put(telling('b', 1), telling('b', 5));
    expect(await syncOnce()).toMatchObject({ status: 'review', complete: true, created: 0, held: 8, requests: 0 });
  });

  it('one that comes back with its old keys: nothing was sent, and nothing is asked', async () => {
    await openTwo();
    await put(wards('a', 4), wards('a', 4, 5));
    await syncOnce();
    await put(undefined, wards('b', 4, 5));
    await syncOnce();
    // Neither of these was read together with the postings that wait.
    await put(wards('b', 2), undefined);
    expect(await syncOnce()).toMatchObject({ created: 0, requests: 0 });
    await put(wards('a', 4), wards('a', 4, 5));
    expect(await syncOnce()).toMatchObject({ status: 'mirrored', unchanged: 8, created: 0, deleted: 0 });
    expect((await rekey()).out).toContain('do not seem to have changed');
  });

  it('a genuine second posting waits only until the first one was read, and others do not wait', async () => {
    await openTwo();
    await put(wards('a', 4), wards('a', 4, 5));
    await syncOnce();
    const again = { ...ward('c', 1) };
    await put(undefined, [...wards('a', 4, 5), again, ward('d', 99)]);
    expect(await sync()).toMatchObject({ complete: false, created: 1, pending: 1 });
    // The second source fails now: whether both are in the feed is still not known.
    await put(wards('a', 4), undefined);
    expect(await sync()).toMatchObject({ complete: false, created: 0 });
    await put(wards('a', 4), [...wards('a', 4, 5), again, ward('d', 99)]);
    expect(await sync()).toMatchObject({ status: 'mirrored', created: 1, deleted: 0 });
    expect((await idsByTitle()).get('Nurse 1')).toHaveLength(2);
    // It was let through, so a source that fails later holds nothing.
    await put(undefined, [...wards('a', 4, 5), again, ward('d', 99)]);
    expect(await sync()).toMatchObject({ complete: false, created: 0, pending: 0 });
  });

  it('postings that are generically alike wait for as many as were not read, not for ever', {
    tags: 'slow',
  }, async () => {
    await openTwo();
    const cook = (key: string) => posting(key, { title: 'Cook', description: 'Cooks' });
    await put([cook('a1'), cook('a2'), ...wards('w', 6)], [cook('b1')]);
    await sync();
    // Two are not read and five are new: three of these are new for certain.
    await put(undefined, [cook('b1'), ...['c1', 'c2', 'c3', 'c4', 'c5'].map(cook)]);
    expect(await sync()).toMatchObject({ complete: false, created: 3, pending: 2 });
    await put([cook('a1'), cook('a2'), ...wards('w', 6)], [cook('b1'), ...['c1', 'c2', 'c3', 'c4', 'c5'].map(cook)]);
    expect(await sync()).toMatchObject({ status: 'mirrored', created: 2 });
    expect((await idsByTitle()).get('Cook')).toHaveLength(8);
  });

  it('a person may decide about a few that wait: they are new, or one is the other', { tags: 'slow' }, async () => {
    await openTwo();
    await put(wards('a', 10), wards('a', 10, 11));
    await syncOnce();
    const before = await idsByTitle();
    await put(undefined, [...wards('a', 8, 13), ward('b', 1), ward('b', 2)]);
    expect(await syncOnce()).toMatchObject({ created: 0, pending: 2 });
    const shown = (await rekey('--json')).json();
    expect(shown.map(({ key, old_key, verdict }) => [key, old_key, verdict])).toEqual([
      ['b1', 'a1', 'unsure'],
      ['b2', 'a2', 'unsure'],
    ]);
    expect((await rekey('--posting', 'b1', '--was', 'a1')).status).toBe(0);
    expect((await rekey('--not-rekey', '--json')).json()).toMatchObject([{ creates: 1 }]);
    expect(await sync()).toMatchObject({ created: 1 });
    const after = await idsByTitle();
    expect([after.get('Nurse 1'), after.get('Nurse 2')?.length]).toEqual([before.get('Nurse 1'), 2]);
  });
});

interface Job {
  readonly id: string;
  readonly text: string;
}
const jobs = (prefix: string, count: number): Job[] =>
  Array.from({ length: count }, (_, at) => ({ id: `${prefix}${at + 1}`, text: `Nurse ${at + 1}` }));
const FIELDS = 'fields: { number: id, title: text, description: detail, location-state: { value: Ohio } }';

describe('few postings, all of whose keys change at once', () => {
  it.each([
    ['their key', (key: string) => `<p>Work ${key} for the team</p>`],
    ['their former key', (key: string) => `<p>Work ${key.replace('b', 'a')} for the team</p>`],
  ])('are asked about if their texts name %s', async (_, text) => {
    mirror = await openMirror();
    const three = (prefix: string) =>
      [1, 2, 3].map((n) => posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: text(`${prefix}${n}`) }));
    await mirror.writeFeed(feedXml(three('a')));
    expect(await syncOnce()).toMatchObject({ created: 3 });
    await mirror.writeFeed(feedXml(three('b')));
    expect(await syncOnce()).toMatchObject({ status: 'review', created: 0, held: 3, requests: 0 });
    expect((await rekey('--sure')).status).toBe(0);
    expect(await syncOnce()).toMatchObject({ created: 0, deleted: 0 });
    expect((await mirror.sandbox.inspect.jobs()).length).toBe(3);
  });
});

describe('a page that fails', () => {
  it('nothing is created until all pages were read', async () => {
    let list = jobs('a', 20);
    let fails: number | undefined;
    source = await serveWeb(({ query }, response) => {
      const page = Number(query.get('page'));
      if (page === fails) return response.writeHead(500).end();
      sendJson(response, { jobs: list.slice((page - 1) * 5, page * 5) });
    });
    mirror = await openMirror({
      feed: {
        source: `${source.origin}/jobs`,
        format: `{ type: json, records: jobs, key: id, ${FIELDS.replace('detail', 'text')} }`,
        pages: '{ by: page, size: 5, end: short_page }',
        limits: '{ requests_per_second: 1000, attempts: 1 }',
        delete_guard: '{ percent: 20, count: 5, missing_pulls: 1 }',
      },
    });
    expect(await syncOnce()).toMatchObject({ created: 20 });
    const before = await idsByTitle();
    list = jobs('b', 20);
    for (const page of [2, 3, 2, 4]) {
      fails = page;
      expect(await syncOnce()).toMatchObject({ complete: false, created: 0, requests: 0 });
    }
    fails = undefined;
    expect(await syncOnce()).toMatchObject({ status: 'review', complete: true, created: 0, held: 20, requests: 0 });
    await bindAll(before, 20);
  });
});

describe('details that answer four at a time', () => {
  it('nothing is created until the rest is known', async () => {
    let list = jobs('a', 24);
    let answers = Number.POSITIVE_INFINITY;
    source = await serveWeb(({ path }, response) => {
      const id = /^\/jobs\/(.+)$/.exec(path)?.[1];
      if (id === undefined) return sendJson(response, { jobs: list.map((each) => ({ id: each.id })) });
      if (answers-- <= 0) return response.writeHead(500).end();
      sendJson(response, { id, text: list.find((each) => each.id === id)?.text });
    });
    mirror = await openMirror({
      feed: {
        source: `${source.origin}/list`,
        format: `{ type: json, records: jobs, key: id, fields: { number: id, title: detail/text, description: detail/text, location-state: { value: Ohio } } }`,
        details: '{ url: "jobs/{id}", match: { id: id } }',
        limits: '{ requests_per_second: 1000, attempts: 1 }',
        delete_guard: '{ percent: 20, count: 5, missing_pulls: 1 }',
      },
    });
    expect(await syncOnce()).toMatchObject({ created: 24 });
    const before = await idsByTitle();
    list = jobs('b', 24);
    for (let pull = 1; pull <= 5; pull++) {
      answers = 4;
      expect(await syncOnce()).toMatchObject({ created: 0, deleted: 0, requests: 0 });
    }
    answers = Number.POSITIVE_INFINITY;
    expect(await syncOnce()).toMatchObject({ status: 'review', created: 0, deleted: 0, requests: 0 });
    await bindAll(before, 24);
  });
});

describe('a few keys at a time', () => {
  const changed = (upTo: number, count = 24) => [...wards('b', upTo), ...wards('a', count - upTo, upTo + 1)];
  const open = async (count = 24, feed: Readonly<Record<string, string>> = {}) => {
    mirror = await openMirror({ feed });
    await mirror.writeFeed(feedXml(changed(0, count)));
    await syncOnce();
  };
  const pull = async (upTo: number, count = 24) => {
    await mirror.writeFeed(feedXml(changed(upTo, count)));
    return syncOnce();
  };
  /** As if everything had happened so many days earlier. */
  const daysPass = async (days: number) => {
    for (const [table, column] of [
      ['pull', 'started_at'],
      ['mapping', 'mapped_at'],
      ['deletion', 'deleted_at'],
    ])
      await mirror.query(`update ${table} set ${column} = ${column} - make_interval(days => ${days})`);
  };

  it.each([0, 1])('four in each pull, %i days apart: the second time it is asked', async (days) => {
    await open();
    const before = await idsByTitle();
    expect(await pull(4)).toMatchObject({ status: 'mirrored', created: 4, deleted: 4 });
    await daysPass(days);
    const second = await pull(8);
    expect(second).toMatchObject({ status: 'review', created: 0, deleted: 0, held: 4, requests: 0 });
    expect(second.message).toContain('4 more in the last 7 days');
    expect((await rekey('--sure')).out).toContain('4 jobs kept for their new keys');
    await pull(8);
    for (let n = 5; n <= 24; n++) expect((await idsByTitle()).get(`Nurse ${n}`)).toEqual(before.get(`Nurse ${n}`));
    await daysPass(days);
    expect(await pull(12)).toMatchObject({ status: 'review', created: 0, deleted: 0, held: 4, requests: 0 });
  });

  it('one or two a day: their jobs are replaced, and nobody is asked', async () => {
    await open();
    for (let day = 1; day <= 6; day++) {
      expect(await pull(day * 2)).toMatchObject({ status: 'mirrored', created: 2, deleted: 2 });
      await daysPass(1);
    }
  });

  it('a person who says that they are new postings is not asked about the same ones again', {
    tags: 'slow',
  }, async () => {
    await open(24, { delete_guard: '{ percent: 100, count: 100 }' });
    await pull(4);
    await pull(8);
    expect((await rekey('--not-rekey')).status).toBe(0);
    expect(await pull(8)).toMatchObject({ status: 'mirrored', created: 4, deleted: 4 });
    expect(await pull(12)).toMatchObject({ created: 4 });
  });

  it('beside other deletes that are held: the new ones wait until these are decided', async () => {
    await open(40);
    const list = [...wards('b', 3), ...wards('a', 29, 12)];
    await mirror.writeFeed(feedXml(list));
    const report = await syncOnce();
    expect(report).toMatchObject({ status: 'review', held: 11, created: 0, pending: 3, requests: 0 });
    expect(report.message).toContain('feeds rekey acme');
    await mirror.stopEngine();
    const refused = await run('review', 'approve', 'acme', '--count', '11');
    expect([refused.status, refused.errors]).toEqual([1, expect.stringContaining('feeds rekey acme')]);
    expect((await rekey('--sure')).out).toContain('3 jobs kept for their new keys');
    expect((await run('review', 'approve', 'acme', '--count', '8')).status).toBe(0);
    await syncOnce();
    expect((await mirror.siteJobs()).size).toBe(32);
  });

  it('within the grace of the missing one: its job ends first', async () => {
    await open(24, { delete_guard: '{ missing_pulls: 2 }' });
    expect(await pull(1)).toMatchObject({ grace: 1, created: 0, pending: 1 });
    expect(await pull(1)).toMatchObject({ status: 'mirrored', created: 1, deleted: 1 });
    expect(await pull(2)).toMatchObject({ grace: 1, created: 0 });
    // The old one is back, too: two postings with one content.
    await mirror.writeFeed(feedXml([...changed(2), ward('a', 2)]));
    expect(await sync()).toMatchObject({ status: 'mirrored', created: 1, deleted: 0 });
  });
});

describe('what was doubled before', () => {
  /** As a version did it that looked at one pull only. */
  const doubled = async (options: MirrorOptions = {}) => {
    await openTwo({ ...options, feed: { rekey_guard: '{ percent: 100 }', ...options.feed } });
    await put(wards('a', 4), wards('a', 4, 5));
    await sync();
    const before = await idsByTitle();
    await put(undefined, wards('b', 4, 5));
    await sync();
    await put(wards('b', 4), undefined);
    expect(await sync()).toMatchObject({ created: 4 });
    await put(wards('b', 4), wards('b', 4, 5));
    await mirror.stopEngine();
    await writeFile(
      mirror.configPath,
      (await readFile(mirror.configPath, 'utf8')).replace('percent: 100', 'percent: 10'),
    );
    for (const ids of (await idsByTitle()).values()) expect(ids).toHaveLength(2);
    return before;
  };

  it('is bound: each new key gets the old job, and the newer one is deleted', async () => {
    const before = await doubled();
    const found = await sync();
    expect(found).toMatchObject({ status: 'review', complete: true, held: 8, created: 0, deleted: 0, requests: 0 });
    expect(found.message).toContain('8 of them have got a second job');
    const plan = await rekey();
    expect(plan.out).toContain('which is deleted');
    expect(plan.out).toContain('delete 8 second jobs');
    const shown = (await rekey('--json')).json();
    expect(shown[0]).toMatchObject({ key: 'b1', old_key: 'a1', job_id: before.get('Nurse 1')?.[0], verdict: 'sure' });
    expect(shown[0]?.second_job_id).not.toBe(shown[0]?.job_id);
    const bound = await rekey('--sure');
    expect(bound.out).toContain('8 jobs kept for their new keys');
    expect(bound.out).toContain('deletes 8 second jobs');
    const report = await sync();
    expect(report).toMatchObject({ updated: 8, created: 0, held: 0 });
    expect(await idsByTitle()).toEqual(before);
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(wards('b', 8).map(({ key }) => key));
    expect(await syncOnce()).toMatchObject({ status: 'mirrored', unchanged: 8, requests: 0 });
    const acts = await mirror.query<{ detail: Record<string, string> }>(
      `select detail from audit where action = 'rekey' order by key`,
    );
    expect(acts[0]?.detail).toEqual({
      from: 'a1',
      siteJobId: before.get('Nurse 1')?.[0],
      deletes: shown[0]?.second_job_id,
    });
  });

  it('is not bound if a person says that they are other postings; and not asked again', async () => {
    await doubled();
    await sync();
    expect((await rekey('--not-rekey')).status).toBe(0);
    expect(await sync()).toMatchObject({ held: 8, created: 0 });
    expect((await rekey()).out).toContain('do not seem to have changed');
    expect((await run('review', 'approve', 'acme', '--count', '8')).status).toBe(0);
    expect([...(await mirror.siteJobs()).keys()].sort()).toEqual(wards('b', 8).map(({ key }) => key));
  });

  it('an edit moves along, and one pair can be named alone', { tags: 'slow' }, async () => {
    const before = await doubled();
    await sync();
    expect((await rekey('--posting', 'b3', '--was', 'a3')).status).toBe(0);
    expect(await sync()).toMatchObject({ updated: 1, deleted: 1, held: 7 });
    expect((await idsByTitle()).get('Nurse 3')).toEqual(before.get('Nurse 3'));
    expect((await rekey('--posting', 'b3', '--was', 'a4')).errors).toContain('has a job of its own');
  });

  it('postings with one content that were in the feed together are no second jobs', async () => {
    await openTwo();
    const cooks = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, at) => posting(`${prefix}${at}`, { title: 'Cook', description: 'Cooks' }));
    await put(cooks('a', 8), wards('w', 8));
    await sync();
    await put(cooks('a', 8), [...cooks('b', 8), ...wards('w', 8)]);
    expect(await sync()).toMatchObject({ created: 8 });
    await put([], [...cooks('b', 8), ...wards('w', 8)]);
    await sync();
    expect((await rekey()).out).toContain('do not seem to have changed');
  });
});
