// The pages of sites, queues and activity in a browser.
import { beforeAll, describe, expect, it } from 'vitest';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { posting } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Sites, queues and activity${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror));
  const browser = openedForAll(() => chromium.launch());
  beforeAll(async () => {
    await stage.pull([posting(`k${HOSTILE}`), posting('b'), posting('c', { state: 'Jalisco' })]);
    await stage.fail('b', 'rejected', HOSTILE);
    const actor = `anna ${HOSTILE}`;
    await served.app.db.query(
      `insert into audit (actor, action, feed, key, detail) values ($1, $1, 'acme', $1, $2),
         ('ben', 'edit', 'acme', 'b', '{"entry": 1, "edits": {"title": {"before": "old", "after": "new"}}}')`,
      [actor, { text: HOSTILE, edits: { title: HOSTILE } }],
    );
    await pause();
  });

  const pause = () =>
    served.app.db.query(
      `insert into site_state (site, paused_since, pause_cause) values ('board', now(), to_jsonb($1::text))
       on conflict (site) do update set paused_since = now(), pause_cause = excluded.pause_cause`,
      [HOSTILE],
    );

  it('text of sites and people stays text; no accessibility fault, in light and dark, at 320 px', async () => {
    const viewport = { width: 320, height: 800 };
    const { context, page, errors, go } = await signInAs(served, browser, 'anna', { viewport });
    for (const [path, faults] of [
      ['/sites', accessibilityFaults],
      ['/sites/board', accessibilityFaultsInLightAndDark],
      ['/queues', accessibilityFaults],
      ['/activity', accessibilityFaultsInLightAndDark],
      ['/', accessibilityFaults],
    ] as const) {
      expect(await go(path), path).toBe(200);
      expect(await page.title(), path).not.toBe('run');
      expect(await page.locator('img, main script').count(), path).toBe(0);
      expect(await faults(page), path).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth'), path).toBeLessThanOrEqual(320);
    }
    expect(errors).toEqual([]);
    await context.close();
  });

  it('shows the backlog beside the queues', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben', { javaScriptEnabled: false });
    await go('/queues');
    const backlog = page.getByRole('region', { name: 'Backlog' });
    expect(await backlog.getByRole('row').nth(1).textContent()).toContain('to be sent1');
    await page.getByText('which is in the same Postgres').waitFor();
    await context.close();
  });

  it('a paused site is resumed by who saw why, once, and viewers can only read', async () => {
    const viewer = await signInAs(served, browser, 'ben');
    await viewer.go('/sites/board');
    expect(await viewer.page.locator('main form').count()).toBe(0);
    const csrf = await viewer.page.locator('input[name=csrf]').first().inputValue();
    const forged = await viewer.page.request.post(`${served.url}/sites/board/resume`, {
      form: { csrf },
      headers: { Origin: served.url },
    });
    expect(forged.status()).toBe(403);
    await viewer.context.close();
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go('/sites/board');
    await pause();
    await page.getByRole('button', { name: 'Resume board' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('was paused again at').waitFor();
    await go('/sites/board');
    await page.getByLabel('The site was really emptied').check();
    await page.getByRole('button', { name: 'Resume board' }).click();
    await page.getByText('open for sending').waitFor();
    const audit = await served.app.db.query(
      `select actor, detail->'emptied' as emptied from audit where action = 'resume'`,
    );
    expect(audit).toEqual([{ actor: 'anna', emptied: true }]);
    await go('/activity?actor=anna');
    expect(await page.getByRole('region', { name: 'Actions, newest first' }).getByRole('row').count()).toBe(2);
    await context.close();
  });

  it('activity comes in pages, each action once', async () => {
    await served.app.db.query(
      `insert into audit (actor, action, feed) select 'many', 'act ' || n, 'acme' from generate_series(1, 60) n`,
    );
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/activity?actor=many');
    const actions = async () => page.locator('tbody tr td:nth-child(3)').allTextContents();
    const first = await actions();
    await page.getByRole('link', { name: 'Older' }).click();
    await page.getByRole('link', { name: 'Newest' }).waitFor();
    expect(new Set([...first, ...(await actions())]).size).toBe(60);
    expect(first).toHaveLength(50);
    await context.close();
  });

  it.each([
    ['/sites/nope', 404],
    ['/activity?feed=nope', 404],
    ['/activity?before=-1', 400],
    [`/activity?actor=${'a'.repeat(300)}`, 400],
    ['/activity?actor=%00', 400],
  ])('%s answers %i', async (path, status) => {
    expect((await served.api('GET', path, undefined, { as: 'reader' })).status).toBe(status);
  });
});
