// The page that finds jobs, in a browser.
import { describe, expect, it } from 'vitest';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { posting, postings } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Jobs${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror));
  const browser = openedForAll(() => chromium.launch());

  it('says that there is none yet', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/jobs');
    await page.getByText('None.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    await context.close();
  });

  it('finds a posting by key and by job ID, with the keyboard and without scripts', async () => {
    await stage.pull([...postings(60), posting(HOSTILE, { title: HOSTILE })]);
    await stage.acceptAll();
    await stage.pull([...postings(61), posting(HOSTILE, { title: HOSTILE })]);
    const { context, page, errors, go } = await signInAs(served, browser, 'ben', { javaScriptEnabled: false });
    await go('/');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.getByRole('link', { name: 'Next page' }).click();
    await expect.poll(() => page.getByRole('row').count()).toBe(12);
    await page.getByLabel('Key of a posting').fill('job-p7');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('row', { name: /p7 Nurse p7 acme board job-p7 as in the feed/ }).waitFor();
    await page.getByLabel('Key of a posting').fill('p61');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByRole('row', { name: /p61 .* none to be sent/ }).waitFor();
    await page.getByLabel('Key of a posting').fill('nothing');
    await page.getByRole('button', { name: 'Find' }).click();
    await page.getByText('No posting has exactly this key').waitFor();
    await context.close();

    const other = await signInAs(served, browser, 'anna');
    await other.go('/jobs?feed=acme&q=p5');
    // The key itself, and those that begin with it.
    const keys = await other.page.getByRole('rowheader').allTextContents();
    expect(keys.slice(0, 4)).toEqual(['p5', 'p5', 'p50', 'p51']);
    await tabTo(other.page, 'Find');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { name: 'Keys from there on' }).waitFor();
    await other.go(`/jobs?q=${encodeURIComponent(HOSTILE)}`);
    await other.page.getByRole('row', { name: HOSTILE }).first().waitFor();
    expect(await other.page.locator('main img, main script').count()).toBe(0);
    expect(await accessibilityFaultsInLightAndDark(other.page)).toEqual([]);
    await other.page.setViewportSize({ width: 320, height: 600 });
    expect(await other.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect([...errors, ...other.errors]).toEqual([]);
    await other.context.close();
  });

  it('refuses malformed queries', async () => {
    const { context, go } = await signInAs(served, browser, 'ben');
    expect(await go('/jobs?feed=nowhere')).toBe(404);
    expect(await go('/jobs?cursor=x')).toBe(400);
    expect(await go(`/jobs?q=${'x'.repeat(5_000)}`)).toBe(400);
    await context.close();
  });
});
