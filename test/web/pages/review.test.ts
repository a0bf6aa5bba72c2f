// The pages of review in a browser: from a group of rejected postings to all of them sent, and everything else that they offer.
import { describe, expect, it } from 'vitest';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { posting, postings, type TestPosting } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;
const odd = (state: string, count: number, from = 0): TestPosting[] =>
  Array.from({ length: count }, (_, at) => posting(`${state.toLowerCase()}${from + at}`, { state }));

describe.skipIf(!chromium.available)(`The pages of review${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror, { sends: true }));
  const browser = openedForAll(() => chromium.launch());

  const sent = async () => (await stage.mirror.siteJobs()).size;
  const groupOf = async (feature: string): Promise<string> => {
    const { body } = await served.api('GET', `review/groups?q=${encodeURIComponent(feature)}`);
    return body.items[0].group;
  };

  it('is calm when nothing needs a person', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/review');
    await page.getByText('Nothing needs a person.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    for (const path of ['/review/entries', '/review/actions', '/review/rules']) {
      await go(path);
      expect(await accessibilityFaults(page), path).toEqual([]);
    }
    await context.close();
  });

  it('a rejected group of 62 is sent after at most 4 clicks and one typed value', async () => {
    await stage.pull([...odd('Jalisco', 61), ...odd('Sonora', 1), ...postings(1)]);
    const { context, page, errors, go } = await signInAs(served, browser, 'anna');
    await go('/');
    let clicks = 0;
    const click = async (role: 'link' | 'button', name: RegExp | string) => {
      clicks += 1;
      await page.getByRole(role, { name }).first().click();
    };
    await click('link', 'Review');
    await click('link', /not a valid U\.S\. state: Jalisco, Sonora/);
    await page.getByLabel('New value', { exact: true }).fill('Texas');
    await click('button', 'Set for all 62');
    await page.getByText('done: 62 of 62 entries').waitFor({ timeout: 60_000 });
    expect(clicks).toBeLessThanOrEqual(4);
    await expect.poll(sent).toBe(63);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('nothing of a feed or a person is run, and no page has an accessibility fault, in light and dark', async () => {
    await stage.pull([
      ...odd('Jalisco', 61),
      ...odd('Sonora', 1),
      ...postings(1),
      posting(`h${HOSTILE}`, { state: `<![CDATA[${HOSTILE}]]>`, title: HOSTILE }),
    ]);
    const group = await groupOf('onerror');
    const note = await served.api('POST', `review/groups/${group}/notes`, { text: HOSTILE });
    expect(note.status).toBe(200);
    const edit = { set: { 'location-state': HOSTILE } };
    const rule = await served.api('POST', 'review/rules', { action: 'edit', group, edit, anyway: true });
    expect(rule.status, rule.text).toBe(200);
    const body = { action: 'edit', filter: { group }, expected: 1, edit, anyway: true };
    const { bulk } = (await served.api('POST', 'review/actions', body)).body;
    await expect.poll(async () => (await served.api('GET', `review/actions/${bulk}`)).body.state).toBe('done');
    const later = await groupOf('onerror');
    const viewport = { width: 320, height: 800 };
    const { context, page, errors, go } = await signInAs(served, browser, 'anna', { viewport });
    const selection = `group=${later}&q=${encodeURIComponent(HOSTILE)}`;
    for (const path of [
      '/review',
      `/review?q=${encodeURIComponent(HOSTILE)}`,
      `/review/entries?${selection}`,
      `/review/entries?group=${group}`,
      `/review/confirm?action=discard&${selection}`,
      '/review/actions',
      `/review/actions/${bulk}`,
      '/review/rules',
    ]) {
      await go(path);
      expect(await page.title(), path).not.toBe('run');
      expect(await page.locator('img, main script').count(), path).toBe(0);
      // Each page once: the others are searches on one of these. The same colours are on all pages.
      const isSearch = path.includes('q=') && !path.includes('confirm');
      const faults = path.startsWith('/review/entries') ? accessibilityFaultsInLightAndDark : accessibilityFaults;
      if (!isSearch) expect(await faults(page), path).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(320);
    }
    expect(errors).toEqual([]);
    await context.close();
    await served.api('POST', `review/rules/${rule.body.rule}/end`);
  });

  it('works without scripts, and by the keyboard alone', async () => {
    await stage.pull([...odd('Ontario', 3), ...postings(1)]);
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/review?q=ontario');
    await tabTo(page, /not a valid U\.S\. state: Ontario/);
    await page.keyboard.press('Enter');
    await page.getByText('This is about all 3 entries').waitFor();
    await tabTo(page, 'New value');
    await page.keyboard.type('Ohio');
    await tabTo(page, 'Choose ontario0');
    await page.keyboard.press('Space');
    await tabTo(page, 'Choose ontario1');
    await page.keyboard.press('Space');
    await page.locator('#value').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /edit: sets location-state to "Ohio"/ }).waitFor();
    const action = new URL(page.url()).pathname;
    await expect.poll(async () => (await served.api('GET', `/api/v1${action}`)).body.state).toBe('done');
    await page.reload();
    await page.getByText('done: 2 of 2 entries').waitFor();
    await context.close();
  });

  it('with scripts, the buttons say how many entries are chosen', async () => {
    await stage.pull([...odd('Berlin', 3), ...postings(1)]);
    const { context, page, errors, go } = await signInAs(served, browser, 'anna');
    await go(`/review/entries?group=${await groupOf('berlin')}&q=berlin`);
    await page.getByLabel('Choose berlin1').check();
    await page.getByRole('button', { name: 'Set for 1 chosen' }).waitFor();
    await page.getByRole('button', { name: 'Discard 1 chosen' }).click();
    await page.getByRole('heading', { name: 'Discard 1 entry?' }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
