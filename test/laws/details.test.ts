// A list whose postings need details: whatever fails or dies, no posting is doubled, lost or wrongly deleted, nothing half
// known is sent, and once things are quiet a pull requests the list and nothing else.
// @module-tag slow
import type { ServerResponse } from 'node:http';
import { describe, expect } from 'vitest';
import type { Step } from '../../src/telemetry/times.ts';
import { sendJson, serveWeb, type WebServer } from '../feed/web-server.ts';
import { spread } from '../support/extent.ts';
import { heal } from './heal.ts';
import type { Installation } from './installation.ts';
import { lawTest, type Open } from './law-test.ts';
import { checkCounts } from './laws.ts';
import { type Random, randomOf } from './random.ts';
import { untilStopped } from './until-stopped.ts';

interface Job {
  readonly id: string;
  readonly title: string;
  /** In the detail. */
  readonly text: string;
}

/** The source: its list, and the details that it refuses. */
class Source {
  jobs = new Map<string, Job>();
  failing = new Map<string, (response: ServerResponse) => void>();
  isDown = false;
  readonly asked: string[] = [];
  pages = 0;
  server: WebServer | undefined;

  async start(): Promise<void> {
    this.server = await serveWeb(({ path, query }, response) => {
      const id = /^\/jobs\/([^?]+)/.exec(path)?.[1];
      if (id === undefined) {
        this.pages++;
        const at = Number(query.get('offset'));
        const list = [...this.jobs.values()].map(({ id: key, title }) => ({ id: key, title, state: 'MA' }));
        return sendJson(response, { jobs: list.slice(at, at + 10), total: list.length });
      }
      this.asked.push(id);
      const fail = this.failing.get(id);
      if (this.isDown) return void response.destroy();
      if (fail !== undefined) return fail(response);
      const job = this.jobs.get(id);
      sendJson(response, { id, text: job?.text }, job === undefined ? 404 : 200);
    });
  }

  /** A posting's record in the list changes with its detail. */
  set(id: string, version: number): void {
    this.jobs.set(id, { id, title: `Nurse ${id} v${version}`, text: `About ${id} v${version}` });
  }

  feed(details = ''): Readonly<Record<string, string>> {
    return {
      source: `${this.server?.origin}/jobs`,
      format: `{ type: json, records: jobs, total: total, key: id, fields: {
        number: id, title: title, description: detail/text, location-state: { from: state, as: us_state } } }`,
      pages: '{ by: offset }',
      details: `{ url: "jobs/{id}", match: { id: id }${details} }`,
      limits: '{ requests_per_second: 5000, attempts: 2, max_wait_seconds: 0.01 }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
    };
  }
}

const it = lawTest.extend<{ source: Source }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  source: async ({}, use) => {
    const source = new Source();
    await source.start();
    await use(source);
    await source.server?.close();
  },
});

const versionsOf = async (installation: Installation): Promise<Map<string, string>> => {
  const jobs = (await installation.sandbox.inspect.jobs()).filter(({ owner }) => owner === installation.owner);
  const versions = new Map<string, string>();
  for (const { fields } of jobs) {
    const { number = '', title = '', description = '' } = fields;
    expect([number, versions.has(number)]).toEqual([number, false]);
    // Never the record of one version with the detail of another.
    expect(description).toBe(title.replace('Nurse', 'About'));
    versions.set(number, title);
  }
  return versions;
};

const listed = ({ jobs }: Source) => new Map([...jobs].map(([id, { title }]) => [id, title]));

const openMirrored = async (open: Open, source: Source, count: number): Promise<Installation> => {
  for (let at = 0; at < count; at++) source.set(`j${at}`, 1);
  return open({ feed: source.feed() });
};

/** Where a process dies, and how many details it may request until then: 16 are requested and stored together. */
const DEATHS: readonly { readonly step: Step; readonly nth: number; readonly most: number }[] = [
  { step: 'records-read', nth: 1, most: 0 },
  { step: 'details-stored', nth: 2, most: 40 },
  { step: 'details-read', nth: 1, most: 8 },
  { step: 'changes-merged', nth: 1, most: 0 },
];

it('killed at one step after another, no stored detail is requested again', { timeout: 900_000 }, async ({
  open,
  source,
}) => {
  const installation = await openMirrored(open, source, 40);
  for (const { step, nth, most } of DEATHS) {
    const before = source.asked.length;
    const { signal, output } = await installation.spawn(['sync'], { FAULT_AT: step, FAULT_NTH: `${nth}` }).ended;
    expect({ signal, output }, step).toMatchObject({ signal: 'SIGKILL' });
    const asked = source.asked.length - before;
    expect(asked, step).toBeLessThanOrEqual(most);
    if (step === 'details-stored') expect(asked).toBeGreaterThanOrEqual(32);
    expect(await versionsOf(installation)).toEqual(new Map());
  }
  const stored = source.asked.length;
  await heal(installation);
  expect(await versionsOf(installation)).toEqual(listed(source));
  expect(await installation.sync()).toMatchObject({ complete: true, unchanged: 40, requests: 0 });
  expect(source.asked.length).toBe(stored);
});

describe('stopped before it plans', { concurrent: true }, () => {
  it.for(['details-stored', 'details-read'])(
    'at %s: a pull gives way to the next one, and changes nothing when it continues',
    { timeout: 900_000 },
    async (step, { open, source }) => {
      const installation = await openMirrored(open, source, 20);
      await installation.sync();
      for (const id of source.jobs.keys()) source.set(id, 2);
      source.set('older', 2);
      const stopped = installation.spawn(['sync'], { FAULT_AT: `${step}:stop` });
      await untilStopped(stopped);

      source.jobs.delete('older');
      for (const id of ['j0', 'j1', 'newer']) source.set(id, 3);
      await heal(installation);
      expect(await versionsOf(installation)).toEqual(listed(source));

      stopped.child.kill('SIGCONT');
      const { status, output } = await stopped.ended;
      expect({ status, output }).toMatchObject({ status: 0, output: expect.stringContaining('21 seen, 21 unchanged') });
      expect(await versionsOf(installation)).toEqual(listed(source));
      const asked = source.asked.length;
      expect(await installation.sync()).toMatchObject({ complete: true, unchanged: 21, requests: 0 });
      expect(source.asked.length).toBe(asked);
    },
  );
});

const FAILURES: readonly ((response: ServerResponse) => void)[] = [
  (response) => sendJson(response, {}, 404),
  (response) => sendJson(response, {}, 500),
  (response) => sendJson(response, { id: 'other', text: 'About another' }),
  (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
  (response) => void response.writeHead(200, { 'content-length': 50 }).end('{ "id": '),
  (response) => void response.destroy(),
];

/** Changes the list, and which details fail. */
function disturb(source: Source, random: Random, version: number): void {
  for (const id of random.some([...source.jobs.keys()], 6)) {
    if (random.chance(30)) source.jobs.delete(id);
    else source.set(id, version);
  }
  for (let at = 0; at < random.number(4); at++) source.set(`n${version}-${at}`, version);
  source.failing = new Map(random.some([...source.jobs.keys()], 8).map((id) => [id, random.pick(FAILURES)]));
  source.isDown = random.chance(15);
}

describe('pull after pull', { concurrent: true }, () => {
  it.for(spread([1, 2, 3, 4, 5, 6], 0, 6))(
    'with details that fail, at random (seed %i)',
    { timeout: 900_000 },
    async (seed, { open, source }) => {
      const random = randomOf(seed);
      const installation = await openMirrored(open, source, 20);
      await installation.sync();
      let before = await versionsOf(installation);
      expect(before).toEqual(listed(source));
      for (let pull = 2; pull < 12; pull++) {
        disturb(source, random, pull);
        const report = checkCounts(await installation.sync());
        const after = await versionsOf(installation);
        const desired = listed(source);
        for (const [id, version] of after)
          expect([id, [before.get(id), desired.get(id)]]).toEqual([id, expect.arrayContaining([version])]);
        const wrong = [...desired].filter(([id, version]) => after.get(id) !== version).map(([id]) => id);
        const gone = [...before.keys()].filter((id) => !after.has(id));
        // Only what failed, or was not requested because of others, is not as in the list.
        if (report.complete)
          expect({ wrong, stale: [...after.keys()].filter((id) => !desired.has(id)) }).toEqual({
            wrong: [],
            stale: [],
          });
        else expect(gone).toEqual([]);
        if (!source.isDown && report.shortfalls.every((text) => !text.includes('not requested'))) {
          expect(wrong.filter((id) => !source.failing.has(id))).toEqual([]);
        }
        before = after;
      }
      source.failing.clear();
      source.isDown = false;
      await heal(installation);
      expect(await versionsOf(installation)).toEqual(listed(source));
      const [asked, pages] = [source.asked.length, source.pages];
      expect(await installation.sync()).toMatchObject({
        complete: true,
        unchanged: source.jobs.size,
        requests: 0,
        unreadable: 0,
      });
      expect([source.asked.length - asked, source.pages - pages]).toEqual([0, Math.ceil(source.jobs.size / 10)]);
    },
  );
});
