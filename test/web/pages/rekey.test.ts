// Changed keys in a browser: pairs side by side, and decisions for exactly what was shown.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { approveChanges } from '../../../src/store/change/act-in-review.ts';
import { selectedIds } from '../../../src/store/review/review-totals.ts';
import { acme, openStage, type Stage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { posting, type TestPosting } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { type Served, serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

/** The posting of a number; its content does not depend on the key. */
const ward = (prefix: string, n: number, fields: Omit<TestPosting, 'key'> = {}): TestPosting =>
  posting(`${prefix}${n}`, { title: `Nurse ${n}`, description: `<p>Ward ${n}</p>`, ...fields });
const wards = (prefix: string, count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) => ward(prefix, at + 1));

describe.skipIf(!chromium.available)(`Changed keys${chromium.note}`, () => {
  let stage: Stage;
  let served: Served;
  const browser = openedForAll(() => chromium.launch());
  /** Opens an installation for the tests of a suite. */
  const opened = () => {
    beforeAll(async () => {
      stage = await openStage();
      served = await serve(stage.mirror);
    });
    afterAll(async () => {
      await served?.close();
      await stage?.close();
    });
  };

  const jobs = async () => {
    const rows = await stage.app.db.query<{ key: string; job: string }>(
      'select key, site_job_id as job from mapping order by length(key), key',
    );
    return rows.map(({ key, job }) => `${key}=${job}`);
  };
  const suspectAll = async (count: number, other: readonly TestPosting[] = [], now: readonly TestPosting[] = []) => {
    await stage.pull([...wards('a', count), ...other]);
    await stage.acceptAll();
    await stage.pull([...wards('b', count), ...now]);
  };

  describe('of all postings', () => {
    opened();

    it('leads from the overview to the pairs, which keep their jobs at one press', async () => {
      const { context, page, errors, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
      await go('/rekey');
      await page.getByText('The keys of no feed seem to have changed.').waitFor();
      await go('/rekey?feed=acme');
      await page.getByText('Nothing waits for a decision').waitFor();
      expect(await go('/rekey?feed=nowhere')).toBe(404);
      await suspectAll(60);
      const before = await jobs();
      await go('/');
      await page.getByRole('link', { name: 'Decide about the keys of acme' }).click();
      await page.getByRole('heading', { name: 'Changed keys of feed acme' }).waitFor();
      await page.getByText('60 new postings of feed acme have the content').waitFor();
      await page.getByRole('link', { name: '60 sure pairs' }).waitFor();
      await page.getByText('50 on this page').waitFor();
      expect(await page.getByRole('row').count()).toBe(51);
      await page
        .getByRole('row', { name: /a1\b.*job job-a1.*b1\b.*same content/s })
        .first()
        .waitFor();
      await page.getByRole('link', { name: 'Next page' }).click();
      await page.getByText('10 on this page').waitFor();
      await page.getByRole('button', { name: 'Keep the jobs of all 60 sure pairs' }).click();
      await page.getByText('Nothing waits for a decision').waitFor();
      expect(await jobs()).toEqual(before.map((job) => job.replace(/^a/, 'b')));
      const audited = `select actor, count(*)::int as n from audit where action = 'rekey' group by 1`;
      expect(await stage.app.db.query(audited)).toEqual([{ actor: 'anna', n: 60 }]);
      expect(errors).toEqual([]);
      await context.close();
    });
  });

  describe('of most postings', () => {
    opened();
    beforeAll(async () => {
      const hostile = { title: HOSTILE, description: HOSTILE };
      const before = [ward('a', 90, hostile), ward('a', 91)];
      await suspectAll(12, before, [ward('b', 90, { ...hostile, description: 'other' }), ward('c', 92)]);
    });

    it('is reached from the feed, from held deletes and from the hint of the pull', async () => {
      // What the end of a pull notes.
      await stage.app.db.query(
        "update pull set status = 'review', finished_at = now(), notes = jsonb_build_array((select rekey_note from feed_state)) where id = (select max(id) from pull)",
      );
      const { context, page, go } = await signInAs(served, browser, 'ben');
      for (const path of ['/feed?feed=acme', '/held?feed=acme', '/pulls/2']) {
        await go(path);
        await page.locator('a[href="/rekey?feed=acme"]').first().click();
        await page.getByRole('heading', { name: 'Changed keys of feed acme' }).waitFor();
      }
      await go('/rekey');
      await page.getByRole('link', { name: 'acme' }).waitFor();
      expect(await accessibilityFaults(page)).toEqual([]);
      await context.close();
    });

    it('shows both sides as text, also narrow, to a viewer without forms', async () => {
      const { context, page, errors, go } = await signInAs(served, browser, 'ben');
      await go('/rekey?feed=acme&show=unsure');
      await page.getByRole('link', { name: '1 unsure pair', exact: true }).waitFor();
      await page.getByRole('row', { name: /a90.*b90.*same title and place.*description.* differ/s }).waitFor();
      expect(
        await page
          .getByRole('cell', { name: /description/ })
          .last()
          .textContent(),
      ).toContain('<img');
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.title()).not.toBe('run');
      await page.setViewportSize({ width: 320, height: 600 });
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      await page.getByRole('link', { name: '1 other missing posting' }).click();
      await page.getByRole('row', { name: /a91/ }).waitFor();
      expect(await page.locator('main form').count()).toBe(0);
      const csrf = await page.locator('input[name=csrf]').first().inputValue();
      const forged = await context.request.post(`${served.url}/rekey`, {
        form: { csrf, feed: 'acme', decision: 'pair', key: 'b90', old_key: 'a90' },
        headers: { origin: served.url },
      });
      expect(forged.status()).toBe(403);
      expect(errors).toEqual([]);
      await context.close();
    });

    it('keeps the job of one pair by the keyboard, and of another one by its keys', async () => {
      const { context, page, go } = await signInAs(served, browser, 'anna');
      await go('/rekey?feed=acme&show=unsure');
      // What a viewer sees, and forms.
      expect(await accessibilityFaultsInLightAndDark(page)).toEqual([]);
      await tabTo(page, 'Keep this job: a90 is b90 now');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: '0 unsure pairs' }).waitFor();
      expect(await jobs()).toContain('b90=job-a90');
      await page.getByLabel('Key of the new posting').fill('c92');
      await page.getByLabel('Key of the missing posting').fill('nowhere');
      await page.getByRole('button', { name: 'It keeps that job' }).click();
      await page.getByText('Posting nowhere has no job any more. Nothing was changed.').waitFor();
      await page.getByLabel('Key of the new posting').fill('c92');
      await page.getByLabel('Key of the missing posting').fill('a91');
      await page.getByRole('button', { name: 'It keeps that job' }).click();
      await expect.poll(jobs).toContain('c92=job-a91');
      await context.close();
    });

    it('states that they are new postings, once that is confirmed', async () => {
      const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
      await go('/rekey?feed=acme');
      await page.getByLabel('Yes, 12 new postings are no missing ones').check();
      await page.getByRole('button', { name: 'They are new postings' }).click();
      await page.getByText('Nothing waits for a decision').waitFor();
      expect(await stage.app.db.query(`select actor from audit where action = 'keys are new'`)).toEqual([
        { actor: 'anna' },
      ]);
      await go('/');
      expect(await page.getByText('Decide about the keys of acme').count()).toBe(0);
      await context.close();
    });
  });

  describe('while somebody decides', () => {
    opened();

    it('decides nothing about others than were shown', async () => {
      await suspectAll(12, [ward('a', 90)], [ward('b', 90, { description: 'other' })]);
      const { context, page, go } = await signInAs(served, browser, 'anna');
      await go('/rekey?feed=acme&show=unsure');
      const before = await jobs();
      const second = await context.newPage();
      await second.goto(`${served.url}/rekey?feed=acme`);
      const third = await context.newPage();
      await third.goto(`${served.url}/rekey?feed=acme`);
      // Another description of b90, and b12 is gone.
      await stage.pull([...wards('b', 11), ward('b', 90, { description: 'quite another' })]);
      await page.getByRole('button', { name: 'Keep this job: a90 is b90 now' }).click();
      await page.getByText('have changed since they were shown').waitFor();
      await second.getByRole('button', { name: 'Keep the jobs of all 12 sure pairs' }).click();
      await second.getByText('have changed since they were shown').waitFor();
      await third.getByLabel('Yes, 13 new postings').check();
      await third.getByRole('button', { name: 'They are new postings' }).click();
      await third.getByText('have changed since they were shown').waitFor();
      expect(await jobs()).toEqual(before);
      // Nobody can approve a delete whose posting may be a new one, so its job can still be kept.
      const held = `select count(*)::int as n from change where state = 'held'`;
      const heldBefore = await stage.app.db.query(held);
      await stage.app.db.transaction(async (tx) =>
        approveChanges(tx, await selectedIds(tx, { feed: acme }), 'a person'),
      );
      expect(await stage.app.db.query(held)).toEqual(heldBefore);
      expect(await jobs()).toEqual(before);
      await context.close();
    });
  });
});
