// The overview in a browser.
import { describe, expect, it } from 'vitest';
import { accessibilityFaults, browserForTests, openPage } from '../../support/browser.ts';
import { openMirror } from '../../support/mirror.ts';
import { openedForAll } from '../../support/opened.ts';
import { PASSWORD, serve } from '../served.ts';

const chromium = browserForTests();

describe.skipIf(!chromium.available)(`The overview${chromium.note}`, () => {
  const mirror = openedForAll(() => openMirror());
  const served = openedForAll(() => serve(mirror));
  const browser = openedForAll(() => chromium.launch());

  it('is what a sign-in leads to, and can be left again', async () => {
    const context = await browser.newContext();
    const { page, errors } = await openPage(context);
    await page.goto(served.url);
    await page.getByLabel('Name').fill('anna');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.compatMode'), 'rendered by the standard').toBe('CSS1Compat');
    expect(await accessibilityFaults(page)).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('a page that was asked for is shown after the sign-in', { tags: 'slow' }, async () => {
    const context = await browser.newContext();
    const { page } = await openPage(context);
    await page.goto(`${served.url}/?feed=acme`);
    await page.getByLabel('Name').fill('ben');
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.waitForURL(`${served.url}/?feed=acme`);
    await context.close();
  });

  it('an address without a page says so, with the way back', { tags: 'slow' }, async () => {
    const context = await browser.newContext();
    const { page } = await openPage(context);
    const response = await page.goto(`${served.url}/nothing`);
    expect(response?.status()).toBe(404);
    await page.getByRole('link', { name: 'Back to the overview' }).waitFor();
    expect(await page.evaluate('document.compatMode')).toBe('CSS1Compat');
    expect(await accessibilityFaults(page)).toEqual([]);
    await context.close();
  });
});
