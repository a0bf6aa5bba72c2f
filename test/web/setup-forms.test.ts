// Feeds of different systems set up entirely in the forms of the pages, without scripts; a feed that is changed; and what forms refuse.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { openStage } from '../review/stage.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { openedForAll } from '../support/opened.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';
import { setEnv } from '../support/with-env.ts';
import { type Fields, type FormVisitor, visitorOf } from './form-visitor.ts';
import { type Served, serve } from './served.ts';

let served: Served;
let ada: FormVisitor;
let restoreEnv: () => void;
const stage = openedForAll(() => openStage());
beforeAll(async () => {
  restoreEnv = setEnv(stage.mirror.env);
  served = await serve(stage.mirror, { include: true, privateSources: true, requestsPerMinute: 100_000 });
  ada = await visitorOf(served, 'ada');
});
afterAll(async () => {
  restoreEnv();
  await served.close();
});

const saved = (feed: string) => readFile(join(stage.mirror.folder, 'feeds', `${feed}.yaml`), 'utf8');
const counted = (text: string, words: string): number =>
  Number(new RegExp(`<b>(\\d+)</b> ${words}`).exec(text)?.[1] ?? Number.NaN);
const SOURCE = 'https://feeds.invalid/jobs';

describe.skipIf(!hasSharedFeeds)(`a feed of a real system${sharedFeedsNote}`, { tags: 'slow' }, () => {
  it.each<[file: string, feed: string, sent: number, fields?: Record<string, string>, save?: Record<string, string>]>([
    ['indeed/staffing-2026-03-20.xml', 'staffing', 336],
    ['json/greenhouse-2.json', 'greenhouse', 4, { 'from.location-state': 'value', 'text.location-state': 'Texas' }],
    // Nothing identifies its records.
    [
      'csv/cornell.tsv',
      'cornell',
      1,
      { 'from.location-state': 'value', 'text.location-state': 'New York' },
      { anyway: 'true' },
    ],
    ['rss/neogov.rss', 'neogov', 5],
    ['jobvite/jobs.xml', 'jobvite', 2, { 'from.location-state': 'value', 'text.location-state': 'California' }],
  ])('%s is uploaded, mapped and saved', async (file, feed, sent, fields, save = {}) => {
    const bytes = await readFile(sharedFeed(file));
    const upload = { field: 'file', name: basename(file), bytes };
    let page = await ada.upload('/feeds/new', { site: 'board', feed }, upload);
    expect([page.status, /role="alert"[^>]*>([^<]*)/.exec(page.text)?.[1]]).toEqual([200, undefined]);
    if (fields !== undefined) page = await ada.press(page, 'Try these fields', fields);
    expect(page.text).toContain('class="card job"');
    expect(counted(page.text, 'would be sent')).toBeGreaterThanOrEqual(sent);
    const settings = await ada.press(page, 'Go on to the settings');
    expect(settings.text).toContain('may go within 24 hours');
    const end = await ada.press(settings, 'Save the feed', { 'set.source': SOURCE, 'guard.count': '7', ...save });
    expect(end.status, end.text).toBe(200);
    expect(end.text).toContain(`Change the feed ${feed}`);
    const text = await saved(feed);
    expect(parse(text)).toMatchObject({ source: SOURCE, site: 'board', delete_guard: { count: 7 } });
    if (fields !== undefined) {
      expect(text).toContain(`location-state: { value: ${fields['text.location-state']} }`);
    }
  });
});

describe('an uploaded file', () => {
  it('is the feed itself if no address is written, with a key of two paths and rows that lack cells', async () => {
    const table = 'ref,part,name,town,state,note\n1,a,Nurse,Austin,TX,x\n1,b,Cook,Austin,TX,x\n2,a,Clerk,Austin,TX\n';
    const upload = { field: 'file', name: 'paper.csv', bytes: Buffer.from(table) };
    let page = await ada.upload('/feeds/new', { site: 'board' }, upload);
    expect(counted(page.text, 'unreadable')).toBe(1);
    page = await ada.press(page, 'Try these fields', {
      short_rows: 'true',
      key: 'ref',
      second_key: 'part',
      'from.title': 'path:name',
    });
    expect(counted(page.text, 'would be sent')).toBe(3);
    // It can be taken back.
    const strict = await ada.press(page, 'Try these fields', { short_rows: [] });
    expect(counted(strict.text, 'unreadable')).toBe(1);
    expect(strict.text).not.toContain('allow_missing_cells: true');
    const settings = await ada.press(page, 'Go on to the settings');
    const end = await ada.press(settings, 'Save the feed');
    expect(end.text).toContain('The feed paper is saved');
    expect(parse(await saved('paper'))).toMatchObject({
      source: 'upload://',
      format: { key: ['ref', 'part'], csv: { allow_missing_cells: true } },
    });
    const [kept] = (await served.app.db.query<{ name: string }>('select name from feed_upload')).map(
      ({ name }) => name,
    );
    expect(kept).toBe('paper.csv');
  });

  it('says what a form would leave unused, instead of leaving it out', async () => {
    const upload = { field: 'file', name: 'jobs.xml', bytes: Buffer.from(feedXml(postings(2))) };
    const first = await ada.upload('/feeds/new', { site: 'board', feed: 'unused', format: 'indeed' }, upload);
    const title: Fields = { 'step.title': 'table', 'table.title': 'Nurse,Nursing' };
    const refused = await ada.press(first, 'Try these fields', title);
    expect(refused.text).toMatch(/role="alert"[^>]*>title: choose a path under From as well/);
    expect((await ada.press(first, 'Try these fields', { 'text.title': 'Nurse' })).text).toMatch(
      /role="alert"[^>]*>title: to use the text, choose/,
    );
    const mapped = await ada.press(first, 'Try these fields', { ...title, 'from.title': 'path:title' });
    expect(mapped.text).not.toContain('role="alert"');
    // What the preset says is chosen again, with the table still there.
    expect((await ada.press(mapped, 'Try these fields', { 'from.title': 'format' })).text).not.toContain(
      'role="alert"',
    );
  });

  it('is saved with a choice for postings in several places', async () => {
    const bytes = Buffer.from('ref,title,where\n1,Nurse,"Austin, TX | Reno, NV"\n2,Cook,"Salem, OR"\n');
    const upload = { field: 'file', name: 'several.csv', bytes };
    const first = await ada.upload('/feeds/new', { site: 'board', feed: 'several' }, upload);
    const state = { 'from.location-state': 'path:where', 'step.location-state': 'state' };
    const rejected = await ada.press(first, 'Try these fields', state);
    expect([counted(rejected.text, 'would be sent'), counted(rejected.text, 'rejected')]).toEqual([1, 1]);
    expect(rejected.text).toContain('1 posting can&#39;t be sent: several places in one text');
    expect((await ada.press(rejected, 'Try these fields', { 'places.use': 'first' })).text).toMatch(
      /role="alert"[^>]*>choose where the places/,
    );
    const places = { 'places.use': 'first', 'places.path': 'where', 'places.split': '|' };
    const chosen = await ada.press(rejected, 'Try these fields', places);
    expect(counted(chosen.text, 'would be sent')).toBe(2);
    // What is chosen stays, also what a browser can't show of it, and can be taken back.
    const settings = await ada.press(chosen, 'Go on to the settings');
    await ada.press(settings, 'Save the feed', { 'set.source': SOURCE });
    expect(await saved('several')).toContain('places: { path: where, split: "|", use: first }');
    const text = (await saved('several')).replace('split: "|"', 'split: "\\n"');
    const lines = await ada.press(chosen, 'Try this text', { edited: text });
    expect((await ada.press(lines, 'Go on to the settings')).text).toContain('split: &quot;\\n&quot;');
    const back = await ada.press(chosen, 'Try these fields', { 'places.use': 'format' });
    expect(counted(back.text, 'would be sent')).toBe(1);
  });

  it('is saved with a key that does not identify its records only if somebody says so', async () => {
    const bytes = Buffer.from('title,state,ref\nNurse,TX,1\nNurse,TX,2\nCook,TX,3\n');
    const upload = { field: 'file', name: 'same.csv', bytes };
    const first = await ada.upload('/feeds/new', { site: 'board', feed: 'same' }, upload);
    const fields = await ada.press(first, 'Try these fields', { key: 'title' });
    expect(fields.text).toMatch(
      /class="notice bad">&quot;title&quot; does not identify the records: 1 of 3 would never be sent/,
    );
    const settings = await ada.press(fields, 'Go on to the settings');
    expect(settings.text).toContain('name="anyway"');
    for (const source of ['', SOURCE]) {
      const asked = await ada.press(settings, 'Save the feed', { 'set.source': source });
      expect(asked.text).toContain('nothing was saved: &quot;title&quot; does not identify the records');
    }
    await expect(saved('same')).rejects.toThrow('ENOENT');
    await ada.press(settings, 'Save the feed', { anyway: 'true' });
    expect(await saved('same')).toContain('key: title');
  });
});

describe('a source that asks for a sign-in', () => {
  it('is asked for the names of variables, and shows no secret that was typed instead', async () => {
    const form = await ada.get('/feeds/new');
    const asked = await ada.press(form, 'Recognise the feed', { source: 'sftp://sftp.invalid/jobs.xml', feed: 'sftp' });
    expect(asked.text).toContain('a source over sftp needs user, password or key_file, and host_key');
    expect(asked.text).toMatch(/<details class="part" open[^>]*><summary>SFTP server/);
    const typed = { 'credentials.sftp.user': 'acme', 'credentials.sftp.password': 'c4nary secret' };
    const refused = await ada.press(asked, 'Recognise the feed', typed);
    expect(refused.text).toContain('must be the name of an environment variable');
    expect(refused.text).toContain('value="acme"');
    expect(refused.text).not.toContain('c4nary');
    const named = { 'credentials.sftp.password': 'NOT_SET', 'credentials.sftp.host_key': `SHA256:${'A'.repeat(43)}` };
    const unset = await ada.press(refused, 'Recognise the feed', named);
    expect(unset.text).toContain('the environment variable NOT_SET is not set');
    expect(unset.text).toContain('value="NOT_SET"');
  });

  it('shows no user name that is a key, as it has no password', async () => {
    const form = await ada.get('/feeds/new');
    const key = { source: 'https://feeds.invalid/jobs.xml', feed: 'keyed', 'credentials.basic.user': 'c4naryKey' };
    const refused = await ada.press(form, 'Recognise the feed', key);
    expect(refused.text).toContain('credentials.basic.user is a secret');
    expect(refused.text).not.toContain('c4nary');
    const named = { 'credentials.basic.user': 'acme', 'credentials.basic.password': 'NOT_SET' };
    expect((await ada.press(refused, 'Recognise the feed', named)).text).toContain('value="acme"');
  });
});

describe('a feed at an address', () => {
  // The tests of this group continue each other.
  const TITLES = feedXml(postings(3)).replaceAll(/<category>[^<]*<\/category>/g, '<category>RN</category>');
  const server = createServer((_, response) => response.end(TITLES));
  let address = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ats/jobs.xml`;
  });
  afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

  it('is set up with a look-up table, a template and a default; what is saved is written as a person would', async () => {
    const page = await ada.press(await ada.get('/feeds/new'), 'Recognise the feed', { source: address, feed: 'ats' });
    expect(page.text).toContain('Recognised: indeed');
    expect(page.text).toMatch(/title · 100 % · Nurse p1 \| Nurse p2 \| Nurse p3/);
    const tried = await ada.press(page, 'Try these fields', {
      'from.category-name': 'path:category',
      'step.category-name': 'table',
      'table.category-name': 'RN,Registered Nurses\nLPN,"Nurses, licensed"',
      'default.category-name': 'Other',
      'from.title': 'template',
      'text.title': '{title} in {city}',
    });
    expect(tried.text).toContain('Nurse p1 in ');
    // A path is added by a choice, also where something else was chosen before.
    const added = await ada.press(tried, 'Try these fields', {
      'from.title': 'format',
      'text.title': '{title} in',
      'insert.title': 'city',
    });
    expect(added.text).toMatch(/name="text.title" value="\{title\} in \{city\}"/);
    const again = await ada.press(tried, 'Try these fields');
    expect(again.text).toContain('Nurse p1 in ');
    const settings = await ada.press(again, 'Go on to the settings');
    expect(settings.text).toContain('it is proven complete');
    const end = await ada.press(settings, 'Save the feed', {
      'schedule.every': 'weekdays',
      'schedule.at': '06:00',
      'set.policy': 'upsert_only',
    });
    expect(end.text).toContain('The feed ats is saved');
    expect(end.text).toContain('href="/configuration"');
    expect(end.text).toContain('Change the feed ats');
    const text = await saved('ats');
    expect(text).toContain('format: indeed # ');
    expect(text).toContain('title: { template: "{title} in {city}" }');
    expect(parse(text)).toMatchObject({
      source: address,
      policy: 'upsert_only',
      schedule: '0 6 * * 1-5',
      fields: {
        'category-name': {
          from: 'category',
          map: { RN: 'Registered Nurses', LPN: 'Nurses, licensed' },
          default: 'Other',
        },
      },
    });
    expect(await saved('ats')).toContain('# Paths in the records');
  });

  it('has a schedule of choices; a line that means the same stays as it is, and an expression must be chosen', async () => {
    const page = await ada.get('/feeds/change?feed=ats');
    const shown = await ada.press(page, 'Go on to the settings');
    expect(shown.text).toMatch(/value="weekdays" selected/);
    expect(shown.text).toContain('Monday to Friday at 06:00');
    const written = (text: string) => /^schedule: ([^#]*[^# ])/m.exec(/<pre>(.*)<\/pre>/s.exec(text)?.[1] ?? '')?.[1];
    const change = async (from: typeof shown, fields: Fields) => ada.press(from, 'Show what this means', fields);
    const typed = await change(shown, { 'set.schedule': '0 6 * * MON-FRI', 'schedule.every': 'cron' });
    expect(written(typed.text)).toBe('0 6 * * MON-FRI');
    expect(typed.text).toMatch(/value="weekdays" selected/);
    expect(written((await change(typed, {})).text)).toBe('0 6 * * MON-FRI');
    const later = await change(typed, { 'schedule.at': '18:30' });
    expect(written(later.text)).toBe('30 18 * * 1-5');
    expect(written((await change(later, { 'schedule.every': 'month:L' })).text)).toBe('30 18 L * *');
    const twice = await change(later, { 'set.schedule': '0 6,18 * * *', 'schedule.every': 'cron' });
    expect(twice.text).toMatch(/value="cron" selected/);
    const byHand = await change(twice, { 'schedule.every': 'by_hand' });
    expect(written(byHand.text)).toBeUndefined();
    expect(byHand.text).toContain('Only when somebody asks');
    for (const [fields, fault] of [
      [{ 'set.schedule': '0 7 * * *' }, 'to use the cron expression, choose'],
      [{ 'schedule.at': '' }, 'write the time as hour and minute'],
      [{ 'schedule.every': 'cron', 'set.schedule': '' }, 'write the cron expression'],
    ] as const) {
      const refused = await change(later, fields);
      expect(refused.text).toMatch(new RegExp(`role="alert"[^>]*>${fault}`));
      expect(written(refused.text)).toBe('30 18 * * 1-5');
    }
  });

  it('is changed once it exists, with the plan of the change, which says each field; a file that has changed meanwhile is not replaced', async () => {
    const page = await ada.get('/feeds/change?feed=ats');
    const settings = await ada.press(page, 'Go on to the settings', { 'from.title': 'path:title' });
    expect(settings.text).toContain('What the next pull would change');
    const { body } = await served.api('GET', 'feeds/ats/file', undefined, { as: 'admin' });
    const other = await served.api(
      'POST',
      'feeds/ats/file',
      { text: `# By hand.\n${body.text}`, seen: body.seen },
      { as: 'admin' },
    );
    expect(other.status).toBe(200);
    const end = await ada.press(settings, 'Save the change');
    expect(end.text).toContain('look at it again');
    expect(await saved('ats')).toMatch(/^# By hand\./);
    // The present text is shown, so that the person can go on.
    expect(end.text).toMatch(/What the file has now.*<code># By hand\./s);
    expect((await ada.press(end, 'Save the change')).text).toContain('The feed ats is saved');
    expect(await saved('ats')).not.toContain('# By hand.');
  });
});

describe('a feed of the main configuration', () => {
  it('is shown, and what to write there', async () => {
    await stage.mirror.writeFeed(feedXml(postings(2)));
    const page = await ada.get('/feeds/change?feed=acme');
    expect(page.text).toContain('role="alert"');
    const settings = await ada.press(page, 'Go on to the settings', { 'from.title': 'value', 'text.title': 'Nurse' });
    expect(counted(settings.text, 'to create')).toBe(2);
    const end = await ada.press(settings, 'Save the change', { 'set.policy': 'create_only' });
    expect(end.text).toContain('is not saved yet');
    expect(end.text).toContain('policy: create_only');
  });
});

describe('refuses', () => {
  it('those who may not configure, also their uploads', async () => {
    for (const name of ['anna', 'ben'] as const) {
      const visitor = await visitorOf(served, name);
      for (const path of ['/feeds/new', '/feeds/change?feed=acme']) expect((await visitor.get(path)).status).toBe(403);
      expect((await visitor.get('/')).text).not.toContain('Add a feed');
      for (const path of ['/feeds/setup/fields', '/feeds/setup/settings']) {
        expect((await visitor.post(path, { feed: 'x', text: 'site: board' })).status).toBe(403);
      }
      const file = { field: 'file', name: 'x.xml', bytes: Buffer.from(feedXml(postings(1))) };
      expect((await visitor.upload('/feeds/new', { site: 'board' }, file)).status).toBe(403);
    }
    expect((await ada.get('/')).text).toContain('Add a feed');
  });

  it('forms of other pages, forms without a draft, and what is too large', async () => {
    expect((await ada.post('/feeds/setup/fields', { csrf: 'x', feed: 'a', text: 'b' })).status).toBe(403);
    expect((await ada.post('/feeds/setup/fields', { feed: 'a' })).status).toBe(400);
    const file = { field: 'file', name: 'x.xml', bytes: Buffer.alloc(34 * 1024 * 1024) };
    expect((await ada.upload('/feeds/new', { site: 'board' }, file)).status).toBe(413);
  });

  it('what is no feed, and says why in the form with what was filled in', async () => {
    const file = { field: 'file', name: 'x.txt', bytes: Buffer.from('Dear Sir or Madam') };
    const page = await ada.upload('/feeds/new', { site: 'board', feed: 'letter', records: 'a/b' }, file);
    expect(page.text).toMatch(/role="alert"[^>]*>the feed is not recognised/i);
    expect(page.text).toContain('value="letter"');
    const wrong: readonly Fields[] = [
      { feed: 'Not A Name', source: 'https://a.invalid' },
      { source: '' },
      { source: '/etc/passwd' },
    ];
    for (const fields of wrong) {
      expect((await ada.press(page, 'Recognise the feed', fields)).text).toContain('role="alert"');
    }
  });

  it('shows text of the feed as text', async () => {
    const hostile = `<img src=x onerror=alert(1)>`;
    const xml = feedXml(postings(2)).replaceAll('Nurse', hostile.replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
    const page = await ada.upload(
      '/feeds/new',
      { site: 'board', feed: 'odd' },
      { field: 'file', name: 'x.xml', bytes: Buffer.from(xml) },
    );
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<img');
    expect(page.text).toContain('&lt;img');
  });
});
