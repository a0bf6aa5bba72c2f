import { afterEach, expect, it } from 'vitest';
import { readStatus } from '../../src/operations/status.ts';
import { runProgram } from '../cli/run-program.ts';
import { type ForgetfulSite, openForgetfulSite } from '../support/forgetful-site.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ForgetfulSite;
afterEach(async () => {
  await mirror?.close();
  await site?.proxy.close();
});

async function open(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  site = await openForgetfulSite();
  site.rewrites = false;
  mirror = await openMirror({ searched: true, site: { base_url: site.proxy.url, ...settings } });
  site.proxy.target = mirror.sandbox.url;
  await mirror.writeFeed(feedXml(postings(3)));
}

const SAYS = 'the site does not keep reference_field number';
const state = async () => (await readStatus(await mirror.app())).sites[0]?.references;
const run = async (...args: readonly string[]) => {
  await mirror.stopEngine();
  return runProgram(mirror, ...args);
};
/** The list, and a job after its create, are each edited by this. */
const editBodies = (edit: (method: string, path: string, body: string) => string) => {
  site.proxy.edit = (path, method, answer) => ({ ...answer, body: edit(method, path, answer.body) });
};
const withoutNumber = (body: string) => body.replace(/\s*<number[^>]*>[\s\S]*?<\/number>/g, '');

it('is said at the first create, in status and by check', async () => {
  await open();
  const report = await mirror.sync();
  expect(report).toMatchObject({ created: 3 });
  expect(report.message).toContain(SAYS);
  expect(await state()).toBe('missing');
  await mirror.writeFeed(feedXml(postings(4)));
  expect((await mirror.sync()).message ?? '').not.toContain(SAYS);
  expect((await run('status')).out).toContain(SAYS);
  expect((await run('check')).out).toContain(SAYS);
  expect(JSON.parse((await run('status', '--json')).out.split('\n')[0] ?? '')).toMatchObject({ references: 'missing' });
});

it('is not concluded from an answer to the create that shows less than the job', async () => {
  await open();
  editBodies((method, _path, body) => (method === 'POST' ? withoutNumber(body) : body));
  await mirror.sync();
  expect(await state()).toBe('shown');
});

it('is not concluded from jobs that show nothing of what was sent', async () => {
  await open();
  editBodies((_method, path, body) =>
    path.startsWith('/jobs.xml')
      ? body.replace(/<(title|description|number|location|category|contact)[\s\S]*<\/job>/g, '</job>')
      : body.replace(/<job>[\s\S]*<\/job>/, '<job><id type="integer">1</id></job>'),
  );
  await mirror.sync();
  expect(await state()).toBe('unknown');
});

it('is found by check --online in jobs that were made before', async () => {
  await open();
  site.drops = () => false;
  await mirror.sync();
  expect(await state()).toBe('shown');
  await mirror.query('update site_state set reference_field = null');
  site.drops = () => true;
  expect((await run('check')).out).not.toContain(SAYS);
  expect((await run('check', '--online')).out).toContain(SAYS);
});

it('ends when a job shows a reference, and begins anew with another field', async () => {
  await open();
  await mirror.sync();
  site.drops = () => false;
  await mirror.syncOf(postings(4));
  expect(await state()).toBe('some');
  expect((await run('status')).out).toContain('for some of its jobs only');
  await mirror.configure('reference_field: number', 'reference_field: category-name');
  expect(await state()).toBe('unknown');
});

it('a list that shows references ends it as well', async () => {
  await open();
  editBodies((_method, path, body) =>
    path.startsWith('/jobs.xml?') || /^\/jobs\.xml$/.test(path) ? body : withoutNumber(body),
  );
  await mirror.sync();
  await mirror.query(`update feed_state set site_checked_at = null`);
  await mirror.syncOf(postings(5));
  expect(['shown', 'some']).toContain(await state());
});
