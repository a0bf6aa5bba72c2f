// The page of a posting in a browser: what it shows, and each thing that can be decided on it.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { pageAddress } from '../../../src/web/pages/parts/addresses.ts';
import { acme, openStage } from '../../review/stage.ts';
import {
  accessibilityFaults,
  accessibilityFaultsInLightAndDark,
  browserForTests,
  openPage,
} from '../../support/browser.ts';
import { posting, type TestPosting } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { PASSWORD, serve } from '../served.ts';
import { signInAs } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
const cdata = (text: string): string => `<![CDATA[${text}]]>`;
const KEYS = ['..', HOSTILE, 'a b/c d?e#f%2F', 'ü😀'];
const FEED: TestPosting[] = [
  ...KEYS.map((key) => posting(key, { state: cdata(HOSTILE), title: HOSTILE })),
  ...['k1', 'k2', 'k3', 'k4'].map((key) => posting(key, { state: 'Jalisco' })),
  posting('big', { state: 'Sonora', description: 'x'.repeat(1 << 20) }),
  ...['r1', 'f1', 'd1', 'l1'].map((key) => posting(key)),
];

describe.skipIf(!chromium.available)(`The page of a posting${chromium.note}`, () => {
  let anna: BrowserContext;
  let ben: BrowserContext;
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror));
  const browser = openedForAll(() => chromium.launch());
  beforeAll(async () => {
    anna = await signIn('anna');
    ben = await signIn('ben');
    await stage.pull(FEED);
    await stage.fail('r1', 'rejected', `the title is bad ${HOSTILE}`);
    await stage.fail('f1', 'failed');
    await stage.fail('d1', 'in_doubt');
    await stage.acceptAll();
  });

  async function signIn(
    name: 'anna' | 'ben',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<BrowserContext> {
    const { context, page } = await signInAs(served, browser, name, options);
    await page.close();
    return context;
  }

  async function show(context: BrowserContext, key: string): Promise<Page> {
    const { page } = await openPage(context);
    const response = await page.goto(served.url + pageAddress.posting(acme, key));
    expect(response?.status()).toBe(200);
    return page;
  }
  /** An action ends on the page of the posting. */
  const done = (page: Page) => page.locator('dl.facts').waitFor();

  it('keeps what was typed after the end of the session, until it is sent again after a sign-in', async () => {
    const { context, page, errors } = await signInAs(served, browser, 'anna');
    await page.goto(served.url + pageAddress.posting(acme, 'k1'));
    await page.getByLabel('location-state').fill('Texsas');
    await page.getByText('Other fields').click();
    await page.getByLabel('description').fill('one line & more');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Save and send' }).click();
    await page.getByText('Your session has ended and nothing was changed').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const password of ['wrong', PASSWORD]) {
      await page.getByLabel('Name').fill('anna');
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForLoadState();
    }
    expect(await accessibilityFaults(page)).toEqual([]);
    const rest = page.getByRole('link', { name: 'Go on without sending it' });
    expect(await rest.getAttribute('href')).toBe(pageAddress.posting(acme, 'k1'));
    await page.getByRole('button', { name: 'Send it' }).click();
    // As typed, and checked like any form.
    await page.getByText('Nothing was saved').waitFor();
    expect(await page.getByLabel('location-state').inputValue()).toBe('Texsas');
    expect(await page.getByLabel('description').inputValue()).toBe('one line & more');
    expect(errors).toEqual([]);
    await context.close();
  });

  it('nothing of a feed or site is run, whatever the key is, and axe finds nothing, in light, dark and narrow', async () => {
    const viewport = { width: 320, height: 800 };
    const { context, page, errors } = await signInAs(served, browser, 'anna', { viewport });
    for (const key of [...KEYS, 'r1', 'd1', 'l1', 'big']) {
      const response = await page.goto(served.url + pageAddress.posting(acme, key));
      expect(response?.status(), key).toBe(200);
      expect((await response?.body())?.length, key).toBeLessThan(200_000);
      expect(await page.title(), key).not.toBe('run');
      expect(await page.locator('img, main script').count(), key).toBe(0);
      expect(await page.locator('dl.facts dd').first().textContent()).toBe(key);
      expect(await page.evaluate('document.documentElement.scrollWidth'), key).toBeLessThanOrEqual(320);
      // The same parts again and again; this one has what was sent and received, too.
      if (key === 'r1') expect(await accessibilityFaultsInLightAndDark(page), key).toEqual([]);
      expect(errors).toEqual([]);
    }
    await context.close();
  });

  it('shows what was sent and received, the reason, and what differs', async () => {
    const page = await show(ben, 'r1');
    await page.getByText('<errors><error>the title is bad').waitFor();
    await page.getByText('POST https://jobs.example.com/jobs.xml').waitFor();
    await page.getByText('The site refused its present content').waitFor();
    expect(await page.locator('main form').count()).toBe(0);
    await page.close();
  });

  it('leads from entry to entry of the group by key, with links and with keys', async () => {
    const page = await show(anna, 'k1');
    expect(await page.getByRole('link', { name: 'Next' }).getAttribute('rel')).toBe('next');
    await page.getByRole('link', { name: 'Next' }).click();
    // Until its script has run, the page ignores keys.
    await page.waitForURL(/key=k2(&|$)/);
    await expect.poll(() => page.locator('dl.facts dd').first().textContent()).toBe('k2');
    await page.keyboard.press('n');
    await page.waitForURL(/key=k3(&|$)/);
    await expect.poll(() => page.locator('dl.facts dd').first().textContent()).toBe('k3');
    await page.keyboard.press('p');
    await expect.poll(() => page.locator('dl.facts dd').first().textContent()).toBe('k2');
    await page.close();
  });

  it('an edit that the site would refuse comes back with what was typed, and nothing is saved', async () => {
    const page = await show(anna, 'k1');
    await page.getByLabel('location-state').fill('Chihuahua');
    await page.getByRole('button', { name: 'Save and send' }).click();
    await page.getByRole('alert').getByText('Nothing was saved').waitFor();
    expect(await page.getByLabel('location-state').inputValue()).toBe('Chihuahua');
    expect(await page.getByLabel('location-state').getAttribute('aria-invalid')).toBe('true');
    expect(await accessibilityFaults(page)).toEqual([]);
    expect((await stage.change('k1'))?.fields?.['location-state']).toBe('Jalisco');
    await page.getByLabel('location-state').fill('Texas');
    await page.getByLabel('location-state').press('Enter');
    await done(page);
    await page.getByText('ready', { exact: true }).waitFor();
    expect((await stage.change('k1'))?.fields?.['location-state']).toBe('Texas');
    await page.close();
  });

  it('an edit is undone, on the page and by the API', async () => {
    await served.api('POST', `review/${await stage.entry('k4')}/edit`, { fields: { 'location-state': 'Ohio' } });
    const page = await show(anna, 'k4');
    await page.getByRole('button', { name: 'Undo the edit of location-state' }).click();
    await page.getByText('undo edit by anna: location-state').waitFor();
    expect(await page.getByRole('button', { name: 'Undo the edit of location-state' }).count()).toBe(0);
    await page.close();
    const path = 'feeds/acme/postings/k4';
    expect((await served.api('POST', `${path}/undo-edit`, {})).status).toBe(409);
    await stage.app.db.query(
      `insert into override (feed, key, field, source_value, value) values ('acme', 'k4', 'title', 'a', 'b')`,
    );
    const stale = await served.api('POST', `${path}/undo-edit`, { version: 'other' });
    expect(stale).toMatchObject({ status: 409, body: { yours: { version: 'other' } } });
    const { edits_version: version } = (await served.api('GET', path)).body;
    expect(stale.body.edits_version).toBe(version);
    expect(await served.api('POST', `${path}/undo-edit`, { version }, { as: 'reader' })).toMatchObject({ status: 403 });
    const undone = await served.api('POST', `${path}/undo-edit`, { version });
    expect(undone).toMatchObject({ status: 200, body: { undone: ['title'] } });
    expect((await served.api('POST', 'feeds/acme/postings/none/undo-edit')).status).toBe(404);
  });

  it('a stale edit gets 409 with both versions and what was typed', async () => {
    const page = await show(anna, 'k2');
    const seen = await served.api('GET', `review/${await stage.entry('k2')}`);
    await stage.app.db.query(`update change set revision = nextval('revision_number') where key = 'k2'`);
    await page.getByLabel('location-state').fill('Texas');
    const answer = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Save and send' }).click();
    expect((await answer).status()).toBe(409);
    const now = await served.api('GET', `review/${await stage.entry('k2')}`);
    await page
      .getByRole('alert')
      .getByText(`You saw version ${seen.body.version}; now it is ${now.body.version}.`)
      .waitFor();
    expect(await page.getByLabel('location-state').inputValue()).toBe('Texas');
    expect((await stage.change('k2'))?.fields?.['location-state']).toBe('Jalisco');
    await page.close();
  });

  it('sends again, discards with a reason, and reopens, by keyboard and without scripts', async () => {
    const context = await signIn('anna', { javaScriptEnabled: false });
    const page = await show(context, 'f1');
    await page.getByLabel('Reason, for the record').fill('not ours');
    await page.getByRole('button', { name: 'Discard' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Reopen' }).waitFor();
    await page.getByText('discard by anna: not ours').waitFor();
    await page.getByRole('button', { name: 'Reopen' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Send again' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('ready', { exact: true }).waitFor();
    expect((await stage.change('f1'))?.state).toBe('ready');
    await context.close();
  });

  it('a doubt leads to its page, and entries lead to their postings or records', async () => {
    const page = await show(anna, 'd1');
    const doubt = page.getByRole('link', { name: 'Resolve the doubt' });
    expect(await doubt.getAttribute('href')).toBe(pageAddress.doubt(await stage.entry('d1')));
    await page.goto(`${served.url}${pageAddress.entry(await stage.entry('d1'))}`);
    expect(new URL(page.url()).pathname).toBe('/posting');
    for (const [path, status] of [
      ['/posting', 400],
      ['/posting?feed=acme', 400],
      ['/posting?feed=acme&key=none', 404],
      ['/posting?feed=nothing&key=k1', 404],
      ['/posting?feed=acme&key=k1&group=x', 400],
      ['/posting?feed=acme&key=k1&key=k2', 400],
      ['/review/entry?id=x', 400],
      ['/review/entry?id=999999', 404],
    ] as const) {
      expect((await page.goto(served.url + path))?.status(), path).toBe(status);
    }
    await page.close();
  });

  it('a viewer may decide nothing, also with a forged form', async () => {
    const entry = await stage.entry('k3');
    for (const path of [pageAddress.decideEntry(entry), pageAddress.editPosting()]) {
      const form = { feed: 'acme', key: 'k3', version: '1', action: 'discard' };
      const forged = await ben.request.post(served.url + path, { form });
      expect(forged.status(), path).toBe(403);
    }
    expect((await stage.change('k3'))?.state).toBe('rejected');
  });

  it('a record that can not be read has a page of its own, where it is discarded and reopened', async () => {
    await stage.pull(`<source><job><referencenumber></referencenumber><title>${cdata(HOSTILE)}</title></job></source>`);
    const record = (await stage.entries()).find(({ kind }) => kind === 'unreadable');
    const { page, errors } = await openPage(anna);
    await page.goto(served.url + pageAddress.entry(record?.id ?? 0));
    await page.getByText('The record has no key', { exact: false }).or(page.getByText('has no key')).first().waitFor();
    expect(await page.title()).not.toBe('run');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('button', { name: 'Reopen' }).click();
    await page.getByRole('button', { name: 'Discard' }).waitFor();
    expect(errors).toEqual([]);
    await page.close();
  });
});
