import { afterEach, beforeEach, expect, it } from 'vitest';
import { serveWeb, type WebServer } from '../feed/web-server.ts';
import { checkCounts } from '../laws/laws.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let source: WebServer;
let head: (id: string) => string;
/** Where pages are redirected to. */
let moved: Record<string, string>;

beforeEach(async () => {
  head = () => '';
  moved = {};
  source = await serveWeb(({ path, query }, response) => {
    const id = query.get('id') ?? '';
    const location = path.startsWith('/job?') ? moved[id] : undefined;
    if (location !== undefined) return response.writeHead(302, { location }).end();
    const place = { address: { addressRegion: 'TX', addressCountry: 'US' } };
    const posting = { '@type': 'JobPosting', title: `Nurse ${id}`, description: 'Work', jobLocation: place };
    const script = `<script type="application/ld+json">${JSON.stringify(posting)}</script>`;
    response.end(`<html><head>${head(id)}</head><body>${script}</body></html>`);
  });
  const addresses = [1, 2, 3].map((id) => `"${source.origin}/job?id=${id}&token=\${STATED_TOKEN}&k=\${STATED_TOKEN}"`);
  mirror = await openMirror({
    feed: {
      source: 'none',
      format: 'schema-org',
      fields: '{ contact-web-address: { from: page/address, as: url } }',
      delete_guard: '{ percent: 100, count: 100, missing_pulls: 1 }',
    },
  });
  Object.assign(mirror.env, { STATED_TOKEN: 'zq-secret' });
  await mirror.configure('source: none', `sources: [${addresses.join(', ')}]`);
});
afterEach(async () => {
  await mirror.close();
  await source.close();
});

const sync = async () => checkCounts(await mirror.sync());

it('the jobs stay the same while pages state an address, state another one, and none again', async () => {
  expect(await sync()).toMatchObject({ complete: true, created: 3 });
  const addresses = async () => [...(await mirror.siteJobs()).values()].map((job) => job['contact-web-address']).sort();
  expect(await addresses()).toEqual([1, 2, 3].map((id) => `${source.origin}/job?id=${id}`));
  const stated = [
    (id: string) => `<link rel="canonical" href="https://www.acme.example/jobs/${id}">`,
    (id: string) => `<meta property="og:url" content="https://careers.acme.example/${id}">`,
    () => '',
  ];
  for (const next of stated) {
    head = next;
    expect(await sync()).toMatchObject({ complete: true, unchanged: 3, requests: 0, held: 0 });
  }
});

it('a page that is redirected to that of another posting does not change the job', async () => {
  expect(await sync()).toMatchObject({ complete: true, created: 3 });
  moved = { 1: '/job?id=2' };
  expect(await sync()).toMatchObject({ complete: false, unreadable: 1, unchanged: 2, requests: 0 });
  expect([...(await mirror.siteJobs()).values()].map(({ title }) => title).sort()).toEqual(
    [1, 2, 3].map((id) => `Nurse ${id}`),
  );
  // It may have moved itself.
  moved = { 1: '/jobs/nurse?id=1' };
  head = (id) => `<link rel="canonical" href="${source.origin}/job?id=${id}">`;
  expect(await sync()).toMatchObject({ complete: true, unchanged: 3, requests: 0 });
  moved = { 1: '/en/job?id=1' };
  head = () => '';
  expect(await sync()).toMatchObject({ complete: true, unchanged: 3, requests: 0 });
});
