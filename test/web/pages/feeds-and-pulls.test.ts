// The overview, the page of a feed and the pages of pulls in a browser.
import { describe, expect, it } from 'vitest';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { feedXml, posting, postings } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Feeds and pulls${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror, { sends: true }));
  const browser = openedForAll(() => chromium.launch());

  it('a feed is pulled with the keyboard alone and without scripts, and its page says what became of it', async () => {
    await stage.mirror.writeFeed(feedXml([...postings(4), posting('bad', { state: 'Jalisco' })]));
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/');
    await page.getByText('All is well.').waitFor();
    for (let presses = 0; presses < 30; presses += 1) {
      await page.keyboard.press('Tab');
      if ((await page.locator('button:focus').count()) === 0) continue;
      if ((await page.locator('button:focus').textContent()) === 'Pull acme now') break;
    }
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/pulls\/\d+$/);
    const address = new URL(page.url()).pathname;
    const text = async (path: string) => {
      await go(path);
      return (await page.locator('main').textContent()) ?? '';
    };
    const status = async () => (await served.api('GET', `/api/v1${address}`)).body.status;
    await expect.poll(status).toBe('review');
    expect(await text(address)).toContain('mirrored, with review');
    const cells = await page.locator('table.sum').first().locator('td.number').allInnerTexts();
    const numbers = cells.map(Number);
    expect(numbers.at(-1)).toBe(5);
    expect(numbers.slice(0, -1).reduce((sum, n) => sum + n, 0)).toBe(5);
    expect(await text(address)).toContain('jobmirror undo');
    expect(await text('/')).toContain('1 entry waits for review');
    await page.getByRole('link', { name: 'Review 1 entry of acme' }).click();
    expect(new URL(page.url()).pathname).toBe('/review');
    await context.close();
  });

  it('a pull that updates shows the fields that differ; text of the feed stays text; no accessibility fault', async () => {
    const title = `Nurse ${HOSTILE}`;
    const next = [posting('p1', { title }), posting('p2', { city: 'Salem' }), posting('p3'), posting('p4')];
    await stage.mirror.writeFeed(feedXml(next));
    const { pull } = (await served.api('POST', 'feeds/acme/pulls')).body;
    const statusOf = async () => (await served.api('GET', `pulls/${pull}`)).body.status;
    await expect.poll(statusOf).toBe('mirrored');
    const viewport = { width: 320, height: 800 };
    const { context, page, errors, go } = await signInAs(served, browser, 'anna', { viewport });
    for (const [path, faults] of [
      // Checked with more on it, in the test of sites.
      ['/', undefined],
      ['/feed?feed=acme', accessibilityFaults],
      ['/pulls', accessibilityFaults],
      // It has the colours of the others, too.
      [`/pulls/${pull}`, accessibilityFaultsInLightAndDark],
      [`/pulls/${pull}/undo`, accessibilityFaultsInLightAndDark],
      ['/changes', accessibilityFaultsInLightAndDark],
    ] as const) {
      expect(await go(path), path).toBe(200);
      expect(await page.title(), path).not.toBe('run');
      expect(await page.locator('img, main script').count(), path).toBe(0);
      if (faults !== undefined) expect(await faults(page), path).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(320);
    }
    await go(`/pulls/${pull}?show=updated`);
    const changes = page.getByRole('region', { name: 'Postings that were updated' });
    expect(await changes.getByRole('row').count()).toBe(3);
    expect(await changes.locator('del').first().textContent()).toBe('Nurse p1');
    expect(await changes.locator('ins').first().textContent()).toBe(title);
    // Long notes end with a sign of that, and a wide screen has all columns.
    await served.app.db.query(`update pull set shortfalls = jsonb_build_array($1::text) where id = $2`, [
      'the source is cut, '.repeat(12),
      pull,
    ]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await go('/pulls');
    const table = page.getByRole('region', { name: 'Pulls, newest first' });
    expect(await table.locator('.notes-of-pull').first().textContent()).toMatch(/^the source is cut, .* …$/);
    const beyond = `(() => { const part = document.querySelector('.scroll'); return part.scrollWidth - part.clientWidth; })()`;
    expect(await page.evaluate(beyond)).toBeLessThanOrEqual(0);
    // Filters are folded on a phone, and open on a wide screen.
    for (const path of ['/changes', '/activity', '/review', '/review/entries']) {
      await page.setViewportSize({ width: 1280, height: 800 });
      await go(path);
      const show = page.getByRole('button', { name: 'Show' });
      expect([path, await show.isVisible()]).toEqual([path, true]);
      await page.setViewportSize(viewport);
      expect([path, await show.isVisible()]).toEqual([path, false]);
      await page.getByText('Filter', { exact: true }).click();
      expect([path, await show.isVisible()]).toEqual([path, true]);
    }
    expect(errors).toEqual([]);
    await context.close();
  });

  it('what was done is narrowed, and a pull undone, with the keyboard alone and without scripts', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/changes');
    await tabTo(page, 'Since');
    await page.keyboard.type('yesterday');
    await tabTo(page, 'Operation');
    await page.keyboard.press('u');
    await page.keyboard.press('Enter');
    if (!page.url().includes('since=yesterday')) {
      await tabTo(page, 'Show');
      await page.keyboard.press('Enter');
    }
    await page.waitForURL(/since=yesterday&until=&operation=update/);
    const changes = page.getByRole('region', { name: 'Changes, newest first' });
    expect(await changes.getByRole('row').count()).toBe(3);
    const [undone = ''] =
      /\d+$/.exec(
        (await changes
          .getByRole('link', { name: /^changed in pull/ })
          .first()
          .textContent()) ?? '',
      ) ?? [];
    await changes
      .getByRole('link', { name: /^changed in pull/ })
      .first()
      .click();
    await tabTo(page, 'Undo this pull …');
    await page.keyboard.press('Enter');
    await page.getByText('2 jobs to set back').waitFor();
    await tabTo(page, `Undo pull ${undone}`);
    await page.keyboard.press('Enter');
    await page.getByText('This is the undo of').waitFor();
    await expect.poll(async () => (await stage.mirror.siteJobs()).get('p1')?.title).toBe('Nurse p1');
    await served.app.db.query(`update feed_state set stopped_at = null, stopped_by = null where feed = 'acme'`);
    await context.close();
  });

  it('shows the most urgent first, with when it began, and leads to it', async () => {
    await stage.pull(postings(2), { percent: 0, count: 0 });
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/');
    await page.getByText('2 deletes held').waitFor();
    expect(await page.locator('.next time').count()).toBeGreaterThan(0);
    const link = page.getByRole('link', { name: 'Decide about 2 held deletes' });
    expect(await link.getAttribute('href')).toBe('/held?feed=acme');
    await served.app.db.query(
      `insert into site_state (site, paused_since, pause_cause) values ('board', now(), '"the token was refused"')
       on conflict (site) do update set paused_since = now(), pause_cause = excluded.pause_cause`,
    );
    await go('/');
    expect(await page.locator('.next .button').textContent()).toBe('See why nothing is sent to board');
    await page.getByText('the token was refused').waitFor();
    await served.app.db.query(`update site_state set paused_since = null, pause_cause = null where site = 'board'`);
    await context.close();
  });

  it('a feed that an undo stopped is resumed once, with who did it', async () => {
    await served.app.db.query(`update feed_state set stopped_at = now(), stopped_by = 1 where feed = 'acme'`);
    const { context, page, go } = await signInAs(served, browser, 'anna');
    // The pull of the test before, which nothing reports on.
    await served.app.db.query(`update pull set status = 'review', finished_at = now() where status = 'running'`);
    await go('/feed?feed=acme');
    expect(await page.getByRole('button', { name: 'Pull acme now' }).count()).toBe(0);
    const second = await context.newPage();
    await second.goto(page.url());
    await page.getByRole('button', { name: 'Resume acme' }).click();
    await page.getByRole('button', { name: 'Pull acme now' }).waitFor();
    expect(await page.locator('main').textContent()).not.toMatch(/failing/i);
    await second.getByRole('button', { name: 'Resume acme' }).click();
    await second.getByText('feed acme is not stopped by undo').waitFor();
    const audit = await served.app.db.query(`select actor from audit where action = 'resume feed'`);
    expect(audit).toEqual([{ actor: 'anna' }]);
    await context.close();
  });

  it('a viewer is offered nothing and can do nothing', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    for (const path of ['/', '/feed?feed=acme']) {
      await go(path);
      expect(await page.locator('main form').count(), path).toBe(0);
    }
    const csrf = await page.locator('input[name=csrf]').first().inputValue();
    for (const path of ['/feed/pull', '/feed/resume']) {
      const answer = await page.request.post(served.url + path, {
        form: { csrf, feed: 'acme' },
        headers: { Origin: served.url },
      });
      expect(answer.status(), path).toBe(403);
    }
    await context.close();
  });

  it.each([
    ['/feed', 400],
    ['/feed?feed=nope', 404],
    ['/feed?feed=acme&feed=acme', 400],
    ['/pulls?feed=nope', 404],
    ['/pulls?before=x', 400],
    ['/pulls/0', 400],
    ['/pulls/x', 400],
    ['/pulls/999999', 404],
    ['/pulls/1?show=x', 400],
    [`/pulls/1?after=${'k'.repeat(5000)}`, 400],
    ['/pulls/1?after=%27%20or%201=1--', 200],
  ])('%s answers %i', async (path, status) => {
    const answer = await served.api('GET', path, undefined, { as: 'reader' });
    expect(answer.status).toBe(status);
  });
});
