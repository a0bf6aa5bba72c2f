// Found jobs in a browser: adopted by an action whose progress is shown, stopped and continued.
import { once } from 'node:events';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { openEditingProxy } from '../../support/editing-proxy.ts';
import { openFoundJobs } from '../../support/found-jobs.ts';
import type { Mirror } from '../../support/mirror.ts';
import { openedForAll } from '../../support/opened.ts';
import { type Served, serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();

describe.skipIf(!chromium.available)(`Found jobs${chromium.note}`, () => {
  let mirror: Mirror;
  let served: Served;
  let browser: Browser;
  const proxy = openedForAll(() => openEditingProxy());
  beforeAll(async () => {
    ({ mirror } = await openFoundJobs(proxy));
    served = await serve(mirror, { sends: true });
    browser = await chromium.launch();
  });
  afterAll(async () => {
    await browser?.close();
    await served?.close();
    await mirror?.close();
  });

  const mapped = async () => (await served.app.db.query('select from mapping')).length;

  it('are shown to viewers, who adopt none', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/doubts/found?feed=acme');
    await page.getByRole('region', { name: 'Certain jobs', exact: true }).waitFor();
    expect(await page.getByRole('button', { name: /^Adopt/ }).count()).toBe(0);
    await context.close();
  });

  it('without scripts: adopting is stopped after the first one', async () => {
    const { context, page, errors, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    // No other job than the first one is shown before the stop; that one is shown again for the update after its adoption.
    const stopped = new AbortController();
    let first: string | undefined;
    proxy.edit = async (path, _method, answer) => {
      if (!/^\/jobs\/\d+\.xml$/.test(path)) return answer;
      first ??= path;
      if (path !== first && !stopped.signal.aborted) await once(stopped.signal, 'abort');
      return answer;
    };
    await go('/doubts');
    await page.getByRole('link', { name: 'Adopt those that are certain' }).click();
    await page.getByRole('button', { name: 'Adopt all 3 certain jobs' }).click();
    await page.getByRole('heading', { name: 'Action 1: adopt' }).waitFor();
    await expect.poll(mapped).toBe(1);
    await page.getByRole('button', { name: 'Stop after the present batch' }).click();
    await page.getByText('stopped: 1 of 3 entries').waitFor();
    stopped.abort();
    expect(await mapped()).toBe(1);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('by keyboard: a site in trouble is waited for, and the rest is adopted', async () => {
    const { context, page, errors, go } = await signInAs(served, browser, 'anna');
    await mirror.sandbox.setFaults([{ name: '500', on: ['show'] }]);
    await go('/doubts/found?feed=acme');
    await page.getByText('2 found jobs to decide one by one').waitFor();
    await page.getByRole('link', { name: 'action 1' }).waitFor();
    expect(await accessibilityFaultsInLightAndDark(page)).toEqual([]);
    await page.setViewportSize({ width: 320, height: 600 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await tabTo(page, 'Adopt all 2 certain jobs');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Action 2: adopt' }).waitFor();
    await page.getByText('waiting: 0 of 2 entries').waitFor();
    await page.getByText('Waiting: The site did not show job').waitFor();
    await page.getByText('It continues by itself.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await tabTo(page, 'Stop after the present batch');
    await page.keyboard.press('Enter');
    await page.getByText('stopped: 0 of 2 entries').waitFor();
    await tabTo(page, 'Continue');
    await page.keyboard.press('Enter');
    // It begins to wait while the page is open, which offers to continue it by then.
    await page.getByText('waiting: 0 of 2 entries').waitFor();
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    await tabTo(page, 'Continue');
    await mirror.sandbox.setFaults([]);
    await page.keyboard.press('Enter');
    // The page follows the progress by itself.
    await page.getByText('done: 2 of 2 entries').waitFor();
    expect(await mapped()).toBe(3);
    await go('/doubts/found?feed=acme');
    await page.getByText('No found job is certain.').waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
