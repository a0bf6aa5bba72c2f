// Creates in doubt in a browser: compared with jobs of the site, and resolved.
import { describe, expect, it } from 'vitest';
import type { SiteConfig } from '../../../src/config/config.ts';
import { type SiteName, siteName } from '../../../src/posting/identifiers.ts';
import { openStage } from '../../review/stage.ts';
import { ageDoubts } from '../../support/age-doubts.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { makeJob } from '../../support/hand-made-jobs.ts';
import { posting } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Doubts${chromium.note}`, () => {
  const stage = openedForAll(() => openStage());
  const served = openedForAll(() => serve(stage.mirror));
  const browser = openedForAll(() => chromium.launch());

  const state = async (key: string) => (await stage.change(key))?.state;

  it('is calm when nothing is in doubt', async () => {
    const { context, page, go } = await signInAs(served, browser, 'ben');
    await go('/doubts');
    await page.getByText('No create is in doubt.').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await go('/doubts/999999')).toBe(404);
    expect(await go('/doubts/x')).toBe(400);
    expect(await go('/doubts?feed=nowhere')).toBe(404);
    await context.close();
  });

  it('shows a candidate beside what was sent, as text, and adopts it by keyboard', async () => {
    await stage.pull([posting('p1', { title: HOSTILE }), posting('p2'), posting('p3'), posting('p4')]);
    // As a create would whose answer is lost.
    const id = await makeJob(stage.mirror, (await stage.change('p1'))?.fields ?? {});
    for (const key of ['p1', 'p2', 'p3', 'p4']) await stage.fail(key, 'in_doubt', HOSTILE);
    const entry = await stage.entry('p1');
    await stage.app.db.query(`update change set reason = reason || $2 where id = $1`, [
      entry,
      JSON.stringify({ note: `jobs on the site that it may have made: ${id}, 4711`, candidates: [id, '4711'] }),
    ]);
    const { context, page, errors, go } = await signInAs(served, browser, 'anna');
    await go('/doubts');
    await page.getByRole('link', { name: 'p1', exact: true }).click();
    await page.getByRole('link', { name: 'Read them from the site' }).click();
    await page.getByText('The site says that it has no job 4711.').waitFor();
    await page.getByText('It is what was sent').waitFor();
    expect(await accessibilityFaultsInLightAndDark(page)).toEqual([]);
    expect(await page.getByText(HOSTILE).count()).toBeGreaterThanOrEqual(2);
    expect(await page.locator('main img, main script').count()).toBe(0);
    expect(await page.title()).not.toBe('run');
    await page.setViewportSize({ width: 320, height: 600 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await tabTo(page, `It is job ${id}`);
    await page.keyboard.press('Enter');
    await page.getByText(`Entry ${entry} is resolved.`).waitFor();
    expect(await stage.app.db.query(`select site_job_id from mapping where key = 'p1'`)).toEqual([{ site_job_id: id }]);
    expect((await stage.mirror.siteJobs()).size).toBe(1);
    expect(errors).toEqual([]);
    await context.close();
  });

  it('sends again what the site has not made, without scripts', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    const entry = await stage.entry('p2');
    await ageDoubts(stage.app.db, entry);
    await go(`/doubts/${entry}`);
    await page.getByLabel('I have looked on the site').check();
    await page.getByRole('button', { name: 'None: send it again' }).click();
    await page.getByText('is resolved.').waitFor();
    expect(await state('p2')).toBe('ready');
    await context.close();
  });

  it('refuses a job that is not there, that is another one, or that another posting has', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna');
    const [{ id: owned }] = (await stage.app.db.query(`select site_job_id as id from mapping`)) as [{ id: string }];
    const entry = await stage.entry('p3');
    const decide = async (job: string) => {
      await go(`/doubts/${entry}`);
      await page.getByLabel('Its ID on the site', { exact: true }).fill(job);
      await page.getByRole('button', { name: 'The site made this job' }).click();
      return page.getByRole('alert').textContent();
    };
    expect(await decide('4711')).toContain('has no job 4711');
    expect(await decide(owned)).toMatch(/belongs to|reference of/);
    expect(await state('p3')).toBe('in_doubt');
    await context.close();
  });

  it('what could not be checked is not called absent', async () => {
    // Nothing listens there.
    const sites = served.app.config.sites as Map<SiteName, SiteConfig>;
    const board = sites.get(siteName('board')) as SiteConfig;
    sites.set(board.name, { ...board, options: { ...board.options, baseUrl: new URL('http://127.0.0.1:9') } });
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go(`/doubts/${await stage.entry('p3')}?ask=site&job=12`);
    await page.getByText('Job 12 could not be checked, so it may exist or not').waitFor();
    expect(await page.getByText('says that it has no job').count()).toBe(0);
    sites.set(board.name, board);
    await context.close();
  });

  it('decides only on the version that was shown, and nothing for viewers', async () => {
    const entry = await stage.entry('p4');
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go(`/doubts/${entry}`);
    // Somebody else has sent it again meanwhile, and that is in doubt, too.
    await ageDoubts(stage.app.db);
    const { body } = await served.api('GET', `review/${entry}`);
    await served.api('POST', `review/${entry}/settle`, { verdict: 'missing', version: body.version });
    await stage.fail('p4', 'in_doubt');
    await page.getByLabel('I have looked on the site').check();
    await page.getByRole('button', { name: 'None: send it again' }).click();
    await page.getByText(/it has changed since you saw it/).waitFor();
    expect(await state('p4')).toBe('in_doubt');
    const ben = await signInAs(served, browser, 'ben');
    await ben.go(`/doubts/${entry}`);
    await ben.page.getByRole('heading', { name: 'Did the site make the job of p4?' }).waitFor();
    expect(await ben.page.locator('main form').count()).toBe(0);
    expect(await ben.go(`/doubts/${entry}?ask=site&job=1`)).toBe(403);
    await ben.go('/');
    const csrf = await ben.page.locator('input[name=csrf]').first().inputValue();
    const post = async (who: typeof context, form: Record<string, string>) =>
      (await who.request.post(`${served.url}/doubts/${entry}`, { form, headers: { origin: served.url } })).status();
    expect(await post(ben.context, { csrf, verdict: 'missing', confirmed: 'true', version: 'x' })).toBe(403);
    const mine = await page.locator('input[name=csrf]').first().inputValue();
    expect(await post(context, { csrf: mine, verdict: 'missing', confirmed: 'true' })).toBe(400);
    expect(await post(context, { csrf: mine, verdict: 'missing', version: 'x' })).toBe(400);
    expect(await post(context, { csrf: mine, verdict: 'exists', site_job_id: '', version: 'x' })).toBe(400);
    await ben.context.close();
    await context.close();
  });

  it('many are sent again after a question that names what happens, without scripts', async () => {
    const { context, page, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/review/entries?kind=in_doubt');
    await page.getByRole('button', { name: /^The site made none: send again/ }).click();
    await page.getByRole('heading', { name: /^Send again \d+ creates?\?$/ }).waitFor();
    await page.getByText('gets a second job').waitFor();
    await page.getByLabel('I have looked on the site').check();
    await page.getByRole('button', { name: /^Send again/ }).click();
    await page.getByRole('heading', { name: /^Action \d+: missing$/ }).waitFor();
    await context.close();
    const scripted = await signInAs(served, browser, 'anna');
    for (const path of ['/review/entries?kind=in_doubt', '/review/confirm?action=missing&kind=in_doubt']) {
      await scripted.go(path);
      expect(await accessibilityFaults(scripted.page)).toEqual([]);
    }
    await scripted.context.close();
  });
});
