// Held deletes in a browser: approved and kept exactly as they were shown.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { posting, postings } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Held deletes${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror, { sends: true }));
  const browser = openedForAll(() => chromium.launch());

  const kept = postings(2);
  const states = async () => {
    const rows = await stage.app.db.query<{ key: string; state: string }>('select key, state from change order by id');
    return Object.fromEntries(rows.map(({ key, state }) => [key, state]));
  };

  /** Of the postings with ordinary keys. */
  const shownKeys = async (page: Page): Promise<string[]> => {
    const labels = await page
      .getByRole('checkbox', { name: /^Choose p/ })
      .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label') ?? ''));
    return labels.map((label) => label.replace('Choose ', ''));
  };

  it('is calm when nothing is held, and knows its feeds', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/held');
    await page.getByText('No delete is held.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await go('/held?feed=nowhere')).toBe(404);
    expect(await go('/held?feed=acme&cursor=x')).toBe(400);
    await context.close();
  });

  it('shows what would go and why, as text, in light and dark', async () => {
    await stage.pull([...postings(60), posting('odd', { title: HOSTILE }), posting(HOSTILE)]);
    await stage.acceptAll();
    // The worker may have sent some of them.
    await expect
      .poll(() => stage.app.db.query('select count(*)::int as n from mapping'), { interval: 100 })
      .toEqual([{ n: 62 }]);
    await stage.pull(kept);
    const { context, page, errors, go } = await signInAs(served, browser, 'anna');
    await go('/held');
    await page.getByRole('link', { name: 'acme' }).click();
    await page.getByText('60 jobs would be deleted').waitFor();
    await page.getByText('60 of 62 live jobs would be deleted: 96.8 %').waitFor();
    await page.getByText(/The limit of this feed: more than \d+ deletes/).waitFor();
    await page.getByText('50 on this page').waitFor();
    expect(await page.getByRole('checkbox', { name: /^Choose/ }).count()).toBe(50);
    expect(await accessibilityFaultsInLightAndDark(page)).toEqual([]);
    let hostile = await page.getByText(HOSTILE).count();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('10 on this page').waitFor();
    hostile += await page.getByText(HOSTILE).count();
    // A title and a key.
    expect(hostile).toBeGreaterThanOrEqual(2);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
    await page.setViewportSize({ width: 320, height: 600 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('a viewer sees no form, and a forged one is refused', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/held?feed=acme');
    await page.getByText('60 jobs would be deleted').waitFor();
    expect(await page.locator('main form').count()).toBe(0);
    const csrf = await page.locator('input[name=csrf]').first().inputValue();
    const forged = await context.request.post(`${served.url}/held`, {
      form: { csrf, feed: 'acme', decision: 'approve-all', confirmed: 'true', expected: '60', mark: 'x' },
      headers: { origin: served.url },
    });
    expect(forged.status()).toBe(403);
    await context.close();
  });

  it('keeps and deletes what was chosen, with the keyboard and without scripts', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/held?feed=acme');
    const [one = '', two = '', three = ''] = await shownKeys(page);
    for (const key of [one, two]) await page.getByRole('checkbox', { name: `Choose ${key}`, exact: true }).check();
    await page.getByLabel('Reason for keeping').fill('seasonal');
    await page.getByRole('button', { name: 'Keep the chosen' }).first().click();
    await expect.poll(async () => (await states())[two]).toBe('discarded');
    expect(await states()).toMatchObject({ [one]: 'discarded', [three]: 'held' });
    await context.close();

    const other = await signInAs(served, browser, 'anna');
    await other.go('/held?feed=acme');
    await tabTo(other.page, `Choose ${three}`);
    await other.page.keyboard.press('Space');
    await tabTo(other.page, 'Delete the chosen', 'Shift+Tab');
    await other.page.keyboard.press('Enter');
    await other.page.getByRole('heading', { name: /^Action/ }).waitFor();
    await expect.poll(async () => (await states())[three] ?? 'none').toMatch(/ready|sending|none/);
    expect(await stage.app.db.query(`select detail->>'reason' as reason from audit where action = 'discard'`)).toEqual([
      { reason: 'seasonal' },
      { reason: 'seasonal' },
    ]);
    await other.context.close();
  });

  it('approves nothing if others are held than were shown', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go('/held?feed=acme');
    const [one = ''] = await shownKeys(page);
    await page.getByRole('checkbox', { name: `Choose ${one}`, exact: true }).check();
    const second = await context.newPage();
    await second.goto(`${served.url}/held?feed=acme`);
    // That one comes back, and p2 goes instead: as many deletes are held, but others.
    await stage.pull([posting('p1'), posting(one)]);
    await page.getByRole('button', { name: 'Delete the chosen' }).last().click();
    await page.getByText(/changed since you saw it/).waitFor();
    await second.getByLabel('Yes, delete 57 jobs').check();
    await second.getByRole('button', { name: 'Delete all 57' }).click();
    await second.getByText(/changed since you saw it/).waitFor();
    // Only the one that was chosen before; it may still be on its way.
    expect(await stage.app.db.query(`select from audit where action = 'approve'`)).toHaveLength(1);
    // What is shown now can be approved.
    await second.goto(`${served.url}/held?feed=acme`);
    await second.getByLabel('Yes, delete 57 jobs').check();
    await second.getByRole('button', { name: 'Delete all 57' }).click();
    await expect.poll(async () => Object.values(await states()).includes('held')).toBe(false);
    expect(Object.values(await states()).filter((state) => state === 'discarded')).toHaveLength(2);
    await context.close();
  });

  it('chooses all that are shown, and keeps all, without scripts', async () => {
    const other = await openStage();
    await other.pull(postings(62));
    await other.acceptAll();
    await other.pull(kept);
    const pages = await serve(other.mirror, { sends: true });
    const { context, page, go } = await signInAs(pages, browser, 'anna', { javaScriptEnabled: false });
    await go('/held?feed=acme');
    for (const name of ['Keep the chosen', 'Delete the chosen'])
      expect(await page.getByRole('button', { name }).count()).toBe(2);
    const chosen = page.getByRole('checkbox', { name: /^Choose/, checked: true });
    await page.getByRole('link', { name: 'Choose all 50 shown' }).click();
    await page.getByRole('link', { name: 'Choose none' }).waitFor();
    expect(await chosen.count()).toBe(50);
    // Its checks need scripts.
    const scripted = await signInAs(pages, browser, 'anna');
    await scripted.go('/held?feed=acme&chosen=all');
    expect(await accessibilityFaults(scripted.page)).toEqual([]);
    await scripted.context.close();
    await page.getByRole('link', { name: 'Choose none' }).click();
    await page.getByRole('link', { name: 'Choose all 50 shown' }).waitFor();
    expect(await chosen.count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Delete all 60 …' }).getAttribute('href')).toContain('action=approve');
    await page.getByRole('link', { name: 'Keep all 60 …' }).click();
    await page.getByLabel('Reason, for the record').fill('the feed was cut');
    await page.getByRole('button', { name: /60/ }).click();
    await page.getByRole('heading', { name: /^Action/ }).waitFor();
    const states = () => other.app.db.query('select state, count(*)::int as n from change group by 1');
    await expect.poll(states).toEqual([{ state: 'discarded', n: 60 }]);
    await context.close();
    await pages.close();
    await other.close();
  });

  it('refuses malformed forms', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go('/held');
    const csrf = await page.locator('input[name=csrf]').first().inputValue();
    const post = async (form: Record<string, string>) => {
      const answer = await context.request.post(`${served.url}/held`, {
        form: { csrf, feed: 'acme', ...form },
        headers: { origin: served.url },
      });
      return answer.status();
    };
    expect(await post({})).toBe(400);
    expect(await post({ decision: 'approve' })).toBe(400);
    expect(await post({ decision: 'keep', entry: 'x' })).toBe(400);
    expect(await post({ decision: 'approve-all', expected: '5', seen: 'x' })).toBe(400);
    expect(await post({ decision: 'approve-all', confirmed: 'true', seen: 'x' })).toBe(400);
    expect(await post({ decision: 'approve-all', confirmed: 'true', expected: '5', seen: 'x' })).toBe(409);
    expect(await post({ feed: 'nowhere', decision: 'keep' })).toBe(404);
    await context.close();
  });
});
