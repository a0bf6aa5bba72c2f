// A feed that was saved over the API comes from a name that leads to this machine later: no pull, plan or trial follows it there.
import dns from 'node:dns';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { setEnv } from '../support/with-env.ts';
import { type Served, serve } from '../web/served.ts';

const NAME = 'feeds.acme.invalid';

let mirror: Mirror;
let served: Served;
let restoreEnv: () => void;
let asked = 0;
const inside = createServer((_, response) => {
  asked++;
  response.end(feedXml([posting('inner', { title: 'Internal' })]));
});
let address: string;
beforeEach(async () => {
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  address = `http://${NAME}:${(inside.address() as AddressInfo).port}/jobs.xml`;
  asked = 0;
  mirror = await openMirror();
  restoreEnv = setEnv(mirror.env);
  served = await serve(mirror, { include: true });
});
afterEach(async () => {
  vi.restoreAllMocks();
  restoreEnv();
  await served.close();
  await mirror.close();
  await new Promise((resolve) => inside.close(resolve));
});

/** From now on the name is that of this machine. */
function rebind(): void {
  const system = dns.lookup;
  const lookup = (name: string, options: dns.LookupOptions, done: (...found: unknown[]) => void) => {
    if (name !== NAME) return system(name, options, done as never);
    return options.all === true ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4);
  };
  vi.spyOn(dns, 'lookup').mockImplementation(lookup as never);
}

const settings = (more = '') => `source: ${address}\nformat: indeed\nsite: board\n${more}`;
const run = (...args: readonly string[]) =>
  runProgram({ ...mirror, configPath: join(mirror.folder, 'served.yaml') }, ...args);
const byHand = (feed: string, text: string) => writeFile(join(mirror.folder, 'feeds', `${feed}.yaml`), text);
const REFUSED = /not a public address/;

async function save(feed: string, text: string): Promise<void> {
  const { seen } = (await served.api('GET', `feeds/${feed}/file`, undefined, { as: 'admin' })).body ?? {};
  const saved = await served.api('POST', `feeds/${feed}/file`, { text, seen: seen ?? '' }, { as: 'admin' });
  expect([saved.status, saved.body.result], saved.text).toEqual([200, 'saved']);
}

it('is not pulled, planned or tried there, whatever is saved over it; what is written by hand is', async () => {
  await save('spy', settings());
  rebind();
  for (const command of ['sync', 'plan']) {
    const { status, out, errors } = await run(command, 'spy');
    expect([command, status, out + errors]).toEqual([command, 1, expect.stringMatching(REFUSED)]);
  }
  await save('spy', settings('policy: upsert_only\n'));
  const tried = await served.api('POST', 'feeds/spy/try', { text: settings() }, { as: 'admin' });
  expect(tried.text).toMatch(REFUSED);
  expect((await run('sync', 'spy')).status).toBe(1);
  // Another setting by hand vouches for no address.
  await byHand('spy', settings('policy: mirror # by hand\n'));
  expect((await run('sync', 'spy')).status).toBe(1);
  expect(asked).toBe(0);

  // The same address in a file that nobody has saved from here, and one that a person has written into this file.
  await byHand('hand', settings());
  expect(await run('sync', 'hand')).toMatchObject({ status: 0, errors: '' });
  expect(asked).toBe(1);
  await byHand('spy', settings().replace('jobs.xml', 'others.xml'));
  await run('sync', 'spy');
  expect(asked).toBe(2);
});

it('an address that is only sent to the site does not count until it is requested', async () => {
  const withUrl = (source: string, url: string) =>
    `${settings().replace(address, source)}fields:\n  url: { template: "${url}" }\n`;
  await save('spy', withUrl('https://public.invalid/jobs.xml', address));
  await save('spy', settings());
  rebind();
  expect((await run('sync', 'spy')).status).toBe(1);
  expect(asked).toBe(0);

  await byHand('hand', settings());
  const text = withUrl(address, 'https://apply.example.com/{referencenumber}');
  await save('hand', text);
  const tried = await served.api('POST', 'feeds/hand/try', { text }, { as: 'admin' });
  expect(tried.body).toMatchObject({ valid: true, message: null });
  expect(await run('sync', 'hand')).toMatchObject({ status: 0, errors: '' });
});

it('is pulled there if the configuration allows that', async () => {
  await save('spy', settings());
  rebind();
  const path = join(mirror.folder, 'served.yaml');
  await writeFile(path, (await readFile(path, 'utf8')).replace(/^web:\n/m, 'web:\n  private_sources: true\n'));
  await run('sync', 'spy');
  expect(asked).toBe(1);
});

it('that a page has added to one of this machine is not, and that one still is', async () => {
  const { port } = inside.address() as AddressInfo;
  const own = `http://127.0.0.1:${port}/own.xml`;
  const both = `sources: ["${own}", "${address}"]\nformat: indeed\nsite: board\n`;
  await save('spy', settings());
  await byHand('spy', both.replace(`, "${address}"`, ''));
  await save('spy', both);
  // Saving has read the records once, for their keys.
  const before = asked;
  rebind();
  const { status, out, errors } = await run('sync', 'spy', '--json');
  expect([status, out + errors]).toEqual([1, expect.stringMatching(/source 2 .*not a public address/)]);
  expect(out).toContain('"created":1');
  expect(asked - before).toBe(1);
  const tried = await served.api('POST', 'feeds/spy/try', { text: both }, { as: 'admin' });
  expect(tried.body.trial).toMatchObject({ complete: false, records: 1 });
  expect(tried.body.trial.shortfalls).toEqual([expect.stringMatching(REFUSED)]);
  expect(asked - before).toBe(2);
});
