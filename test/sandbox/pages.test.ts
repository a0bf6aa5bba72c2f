// The site in a browser: accounts and tokens, manual posting, lists, and what a page must never do.
// @module-tag slow
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { plainText } from '../../src/sandbox/job-routes.tsx';
import { openBrowser } from './browser.ts';
import { jobOf, nurse, openTestSandbox, type TestSandbox } from './test-sandbox.ts';

let site: TestSandbox;

beforeAll(async () => {
  site = await openTestSandbox();
});
afterAll(() => site.end());

const ann = { email: 'ann@example.com', password: 'correct horse' };

/** A browser logged in to a new account. */
async function register(email: string) {
  const browser = openBrowser(site.sandbox.url);
  const shown = await browser.submit('/register', { email, password: 'long enough' });
  expect([shown.status, shown.location]).toEqual([303, '/account']);
  return browser;
}

const tokenIn = (html: string): string | undefined => /<code>([0-9a-f]{40})<\/code>/.exec(html)?.[1];

describe('an account (site-interface.md, section 5)', () => {
  it('rule 4: shows the token under My Account, API, once Show Key is followed', async () => {
    const browser = await register('show@example.com');
    const account = await browser.open('/account');
    expect(account.html).toContain('My Account');
    expect(tokenIn(account.html)).toBeUndefined();
    const link = /<h2 id="api">API<\/h2>.*?<a class="button" href="([^"]+)">\s*Show Key/s.exec(account.html)?.[1];
    const shown = await browser.open(link ?? '');
    expect(shown.headers['cache-control']).toBe('no-store');
    const token = tokenIn(shown.html);
    expect((await site.send('POST', '/jobs.xml', { token, body: jobOf(nurse) })).status).toBe(201);
  });

  it('rule 5: a new password brings a new token; the old one and other sessions end', async () => {
    const browser = await register('change@example.com');
    const other = openBrowser(site.sandbox.url);
    await other.submit('/login', { email: 'change@example.com', password: 'long enough' });
    const old = tokenIn((await browser.open('/account?show=key')).html);
    expect((await site.send('GET', '/account/jobs.xml', { token: old })).status).toBe(200);

    const wrong = await browser.submit('/account/password', { current: 'not this', password: 'another one' });
    expect([wrong.status, wrong.html.includes('This is not your password.')]).toEqual([422, true]);
    const changed = await browser.submit('/account/password', { current: 'long enough', password: 'another one' });
    expect(changed.status).toBe(303);

    const next = tokenIn((await browser.open('/account?show=key')).html);
    expect(next).not.toBe(old);
    expect((await site.send('GET', '/account/jobs.xml', { token: old })).status).toBe(401);
    expect((await site.send('GET', '/account/jobs.xml', { token: next })).status).toBe(200);
    expect((await other.open('/account')).location).toBe('/login?next=%2Faccount');
  });

  it('blocks after ten wrong passwords, even the right one, and says for how long', async () => {
    await register('guessed@example.com');
    const browser = openBrowser(site.sandbox.url);
    for (let attempt = 0; attempt < 10; attempt++) {
      const shown = await browser.submit('/login', { email: 'guessed@example.com', password: `guess ${attempt}` });
      expect(shown.status).toBe(422);
    }
    const refused = await browser.submit('/login', { email: 'Guessed@example.com', password: 'long enough' });
    expect([refused.status, refused.html.includes('Too many wrong attempts')]).toEqual([429, true]);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await browser.submit('/login', ann)).status).toBe(303);
  });

  it('counts concurrent attempts, on the log-in page and the password page', async () => {
    const pages = await register('raced@example.com');
    const guesses = Array.from({ length: 25 }, (_, at) => `guess ${at}`);
    const logins = await Promise.all(
      guesses.map((password) => pages.submit('/login', { email: 'raced@example.com', password })),
    );
    expect(logins.filter(({ status }) => status === 422)).toHaveLength(10);
    const other = await register('raced-too@example.com');
    const changes = await Promise.all(
      guesses.map((current) => other.submit('/account/password', { current, password: 'another one' })),
    );
    expect(changes.filter(({ html }) => html.includes('This is not your password.'))).toHaveLength(10);
  });

  it.each(['/login', '/register', '/account/password', '/jobs'])(
    'refuses a body that does not match its content type: POST %s is a bad request',
    async (path) => {
      const browser = await register(`form${path.replaceAll('/', '-')}@example.com`);
      for (const type of ['multipart/form-data', 'multipart/form-data; boundary=x']) {
        expect((await browser.submit(path, { email: 'a' }, { 'content-type': type })).status).toBe(400);
      }
    },
  );

  it.each([
    '/\t/evil.example',
    '/\n/evil.example',
    '//evil.example',
    '/\\evil.example',
    '/..//evil.example',
    'https://evil.example/',
  ])('redirects to no other site after logging in: %j', async (next) => {
    const shown = await openBrowser(site.sandbox.url).submit('/login', { ...ann, next });
    expect([shown.status, new URL(shown.location ?? '', 'http://here.example').host]).toEqual([303, 'here.example']);
  });

  it('returns to the requested page after the log-in', async () => {
    const shown = await openBrowser(site.sandbox.url).submit('/login', { ...ann, next: '/jobs?q=a%20b#top' });
    expect(shown.location).toBe('/jobs?q=a%20b#top');
  });

  it.each(['/jobs?q=%00', '/jobs.xml?q=a%00b', '/jobs/%00', '/jobs/%00.xml', '/states/%00'])(
    'refuses NUL: %s is a bad request',
    async (path) => {
      expect((await site.send('GET', path, { token: site.token })).status).toBe(400);
    },
  );

  it('refuses NUL in a token', async () => {
    expect((await site.send('GET', '/account/jobs.xml', { token: 'a\0b' })).status).toBe(401);
  });

  it('hides its cookie from scripts and other sites', async () => {
    const browser = openBrowser(site.sandbox.url);
    const [cookie = ''] = (await browser.submit('/login', ann)).cookies;
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Lax/);
  });

  it.each([
    ['an invalid address', { email: 'ann', password: 'long enough' }, 'email', 'Enter an e-mail address'],
    ['a short password', { email: 'x@example.com', password: 'short' }, 'password', '8 to 200 characters'],
    [
      'an address that is taken',
      { email: ' ANN@example.com', password: 'long enough' },
      'email',
      'There is an account',
    ],
  ])('is not created with %s; the error appears at its field', async (_, form, field, message) => {
    const shown = await openBrowser(site.sandbox.url).submit('/register', form);
    expect(shown.status).toBe(422);
    expect(shown.html).toMatch(
      new RegExp(`id="${field}"[^>]*aria-invalid="true"[^>]*aria-describedby="[^"]*${field}-error`),
    );
    expect(shown.html).toMatch(new RegExp(`id="${field}-error">[^<]*${message}`));
    expect(shown.html).not.toContain(form.password);
  });

  it.each([
    ['a wrong password', { ...ann, password: 'wrong horse' }],
    ['an unknown address', { ...ann, email: 'nobody@example.com' }],
  ])('refuses a log-in with %s', async (_, form) => {
    const shown = await openBrowser(site.sandbox.url).submit('/login', form);
    expect(shown.status).toBe(422);
    expect(shown.html).toContain('There is no account with this address and password.');
    expect(shown.cookies).toEqual([]);
  });

  it('ends its session at log-out', async () => {
    const browser = openBrowser(site.sandbox.url);
    const [cookie = ''] = (await browser.submit('/login', ann)).cookies;
    await browser.submit('/logout', {});
    const stolen = await site.send('GET', '/account/jobs.xml', { headers: { cookie } });
    expect(stolen.status).toBe(401);
  });

  it.each([
    ['/jobs/new', '/jobs/new'],
    ['https://elsewhere.example', '/account'],
    ['//elsewhere.example', '/account'],
    ['/\\elsewhere.example', '/account'],
  ])('after logging in, next=%s leads to %s', async (next, location) => {
    expect((await openBrowser(site.sandbox.url).submit('/login', { ...ann, next })).location).toBe(location);
  });
});

describe('a job by hand', () => {
  const form = { title: 'Cook', 'location-city': 'Provo', 'location-state': 'Utah', description: 'a\r\nb\u0001' };

  it('is posted, read, edited and deleted; it is the same job in XML', async () => {
    const browser = await register('cook@example.com');
    expect((await openBrowser(site.sandbox.url).open('/jobs/new')).location).toBe('/login?next=%2Fjobs%2Fnew');
    expect((await browser.open('/jobs/new')).html).toContain('<option value="Utah">');
    const { location = '' } = await browser.submit('/jobs', form);
    const job = () => site.send('GET', `${location}.xml`);
    expect((await browser.open(location)).html).toContain('<h1>Cook</h1>');
    expect((await job()).text).toContain('<description>a\nb</description>');

    expect((await browser.open(`${location}/edit`)).html).toContain('value="Provo"');
    await browser.submit(location, { ...form, title: 'Chef', 'location-city': '' });
    expect((await job()).text).toMatch(/<title>Chef<\/title>[\s\S]*<location-city\/>/);

    expect((await browser.submit(`${location}/delete`, {})).location).toBe('/account/jobs');
    expect((await job()).status).toBe(404);
    expect((await browser.open(location)).status).toBe(404);
  });

  it('with errors is shown again with the input, each error at its field', async () => {
    const browser = await register('errors@example.com');
    const shown = await browser.submit('/jobs', { ...form, title: '', 'location-state': 'Jalisco' });
    expect(shown.status).toBe(422);
    expect(shown.html).toMatch(/id="title-error">Title can&#39;t be blank\./);
    expect(shown.html).toMatch(/id="location-state-error">Location state is not a valid U\.S\. state\./);
    expect(shown.html).toContain('value="Provo"');
  });

  it('of another account can be read but not changed', async () => {
    const id = await site.create(nurse);
    const browser = await register('stranger@example.com');
    expect((await browser.open(`/jobs/${id}`)).html).not.toContain('Delete this job');
    const answers = [
      await browser.open(`/jobs/${id}/edit`),
      await browser.submit(`/jobs/${id}`, { title: 'Mine' }),
      await browser.submit(`/jobs/${id}/delete`, {}),
    ];
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect((await site.send('GET', `/jobs/${id}.xml`)).text).toContain('Nurse');
  });
});

describe('lists', () => {
  it('are paged, searched, and say when they are empty', async () => {
    site.sandbox.setSettings({ pageSize: 2, paging: 'none' });
    for (const title of ['First', 'Second', 'Third']) await site.create({ title, 'location-state': 'Kansas' });
    const browser = openBrowser(site.sandbox.url);
    const list = await browser.open('/states/kansas');
    expect(list.html).toMatch(/3 jobs/);
    expect(list.html).toMatch(/Third[\s\S]*Second[\s\S]*Page 1 of 2/);
    expect((await browser.open('/states/kansas?page=2')).html).toMatch(/First[\s\S]*Page 2 of 2/);
    expect((await browser.open('/jobs?q=seco')).html).toContain('Second');
    expect((await browser.open('/jobs?q=zzz')).html).toContain('No job has “zzz”');
    expect((await browser.open('/states/guam')).html).toContain('There are no jobs in Guam.');
    expect((await browser.open('/states')).html).toMatch(/href="\/states\/kansas">Kansas<\/a> <span>3</);
  });

  it('link to their XML form with the same query', async () => {
    const { html } = await openBrowser(site.sandbox.url).open('/jobs?q=a%26b&page=2');
    expect(html).toContain('href="/jobs.xml?q=a%26b&amp;page=2">This page as XML');
  });

  it('my jobs are also available as XML in the browser', async () => {
    const browser = await register('mine@example.com');
    await browser.submit('/jobs', { title: 'Own', 'location-state': 'Utah' });
    expect((await browser.open('/account/jobs')).html).toContain('Own');
    expect((await browser.open('/account/jobs.xml')).html).toContain('<title>Own</title>');
  });
});

describe('requests', () => {
  it('are listed with their answers, without the token', async () => {
    await site.send('POST', '/jobs.xml', { token: site.token, body: '<job/>' });
    const { html } = await openBrowser(site.sandbox.url).open('/requests');
    expect(html).toMatch(/POST \/jobs\.xml[\s\S]*ann@example\.com[\s\S]*>422</);
    expect(html).not.toContain(site.token);
  });
});

it('a page begins with the document type, without which browsers lay it out in their quirks mode', async () => {
  expect((await openBrowser(site.sandbox.url).open('/')).html).toMatch(/^<!DOCTYPE html><html lang="en">/);
});

describe('a page never', () => {
  it('shows the HTML of a feed as HTML', async () => {
    const evil = '&lt;script&gt;alert(1)&lt;/script&gt;';
    const id = await site.create({
      title: `A${evil}`,
      'location-state': 'Ohio',
      'location-city': evil,
      'category-name': evil,
      number: evil,
      description: `${evil}&lt;img src=x onerror=alert(1)&gt;&amp;lt;script&amp;gt;`,
      'contact-web-address': 'javascript:alert(1)',
      'contact-email-address': `"${evil}"@x`,
      other: evil,
    });
    const browser = openBrowser(site.sandbox.url);
    for (const path of ['/', '/jobs', '/states/ohio', `/jobs/${id}`]) {
      const { html } = await browser.open(path);
      expect(html).not.toMatch(/<script|<img|href="javascript/i);
    }
  });

  it('runs scripts, or is framed', async () => {
    const { headers } = await openBrowser(site.sandbox.url).open('/');
    expect(headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it.each([
    ['from another site', { origin: 'https://elsewhere.example' }],
    ['without an origin', { origin: '' }],
    ['as plain text', { origin: 'https://elsewhere.example', 'content-type': 'text/plain' }],
  ])('acts on a form %s', async (_, headers) => {
    const browser = await register(`csrf-${headers.origin.length}-${Object.keys(headers).length}@example.com`);
    const before = await site.sandbox.inspect.count();
    expect((await browser.submit('/jobs', { title: 'Forged', 'location-state': 'Utah' }, headers)).status).toBe(403);
    expect(await site.sandbox.inspect.count()).toBe(before);
  });

  it('lets a cookie open the XML interface for writing', async () => {
    const browser = openBrowser(site.sandbox.url);
    const [cookie = ''] = (await browser.submit('/login', ann)).cookies;
    const answer = await site.send('POST', '/jobs.xml', { body: jobOf(nurse), headers: { cookie } });
    expect(answer.status).toBe(401);
  });

  it('is shown for a wrong token', async () => {
    const answer = await site.send('GET', '/jobs', { token: 'wrong' });
    expect([answer.status, String(answer.headers['content-type'])]).toEqual([
      401,
      expect.stringMatching(/^text\/html/),
    ]);
  });
});

it.each(['/nothing', '/jobs/999999', '/states/jalisco'])('%s says that it does not exist', async (path) => {
  const shown = await openBrowser(site.sandbox.url).open(path);
  expect(shown.status).toBe(404);
  expect(shown.html).toMatch(/<h1>There is no such (page|job|state)<\/h1>/);
});

describe('a description becomes text', () => {
  it.each([
    ['paragraphs', '<p>One</p><p>Two<br/>Three</p>', 'One\n\nTwo\nThree'],
    ['lists', 'Needs:<ul><li>a</li> <li>b</li></ul>', 'Needs:\n\n• a\n• b'],
    ['entities', 'A &amp; B &#8211; &nbsp; C &unknown;', 'A & B – C &unknown;'],
    ['text that is not markup', 'a < b > c', 'a < b > c'],
    ['plain text', 'One\n\nTwo', 'One\n\nTwo'],
    ['escaped markup', '&lt;script&gt;', '<script>'],
    ['any entity of HTML', 'Caf&eacute; &euro;5 &rarr;', 'Café €5 →'],
    ['comments and scripts left out', 'a<!-- x > y --><script>z()</script><style>p{}</style>b', 'ab'],
    ['a tag with a bracket in an attribute', '<p title="a > b">c', 'c'],
  ])('%s', (_, description, text) => {
    expect(plainText(description)).toBe(text);
  });
});
