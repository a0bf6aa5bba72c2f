// Existing jobs in a browser: postings beside the jobs that may be theirs, and decisions for exactly what was shown.
import { describe, expect, it } from 'vitest';
import { accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { jobOf, makeJob, without } from '../../support/hand-made-jobs.ts';
import { feedXml, posting, postings, type TestPosting } from '../../support/indeed-feed.ts';
import { openMirror } from '../../support/mirror.ts';
import { openedForAll } from '../../support/opened.ts';
import { serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();
const HOSTILE = `"><img src=x onerror="document.title='run'"><script>document.title='run'</script>`;

describe.skipIf(!chromium.available)(`Existing jobs${chromium.note}`, () => {
  const mirror = openedForAll(() => openMirror({ searched: true }));
  const served = openedForAll(() => serve(mirror, { sends: true, requestsPerMinute: 100_000 }));
  const browser = openedForAll(() => chromium.launch());

  const mapped = async () => {
    const rows = await served.app.db.query<{ key: string; id: string }>(
      'select key, site_job_id as id from mapping order by key',
    );
    return Object.fromEntries(rows.map(({ key, id }) => [key, id]));
  };
  const ended = async () => {
    const state = async () => (await served.api('GET', 'feeds/acme/adopt')).body.state;
    await expect.poll(state, { interval: 20 }).not.toBe('running');
  };
  const feed = [posting('new', { city: 'Salem' })];
  /** Adds postings to the feed: those of the keys have certain jobs, the odd one two that may be its own. `new` has none. */
  async function addPostings(keys: readonly string[], odd: TestPosting) {
    const sure = keys.map((key) => posting(key));
    feed.push(...sure, odd);
    await mirror.writeFeed(feedXml(feed));
    for (const each of sure) await makeJob(mirror, jobOf(each));
    const hidden = without(jobOf(odd), 'number', 'description');
    return [await makeJob(mirror, hidden), await makeJob(mirror, hidden)] as const;
  }
  async function match() {
    expect((await served.api('POST', 'feeds/acme/adopt', { decision: 'match' })).status).toBe(202);
    await ended();
  }

  it('matches, adopts all sure ones and one of two, without scripts', async () => {
    const odd = posting('odd', { title: HOSTILE, description: HOSTILE });
    const [one] = await addPostings(
      postings(52).map(({ key }) => key),
      odd,
    );
    const { context, page, errors, go } = await signInAs(served, browser, 'anna', { javaScriptEnabled: false });
    await go('/jobs');
    await page.getByRole('link', { name: 'Match jobs that a site already has' }).click();
    await page.getByText('acme: not matched here').waitFor();
    await page.getByRole('link', { name: 'acme' }).click();
    await page.getByRole('button', { name: 'Match the jobs' }).click();
    await ended();
    await go('/adopt?feed=acme');
    await page.getByRole('link', { name: '52 sure matches' }).waitFor();
    expect(await page.getByRole('row').count()).toBe(51);
    await page
      .getByRole('row', { name: /p1\b.*Job \d+.*sure.*score 1\.00.*same reference.*nothing differs/s })
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Next page' }).click();
    await page.getByText('2 on this page').waitFor();
    await page.getByRole('button', { name: 'Adopt all 52 sure matches' }).click();
    await ended();
    await go('/adopt?feed=acme');
    await page.getByText('52 jobs adopted. The next pull sends what differs').waitFor();
    expect(Object.keys(await mapped())).toHaveLength(52);
    // With no sure match, what there is comes first.
    await page.getByRole('row', { name: new RegExp(`Job ${one}`) }).waitFor();
    await page.getByRole('button', { name: `It is its job: odd has job ${one}` }).click();
    await ended();
    await go('/adopt?feed=acme');
    await page.getByText('1 job adopted.').waitFor();
    expect(await mapped()).toMatchObject({ odd: one });
    await page.getByRole('row', { name: /new.*no job resembles it/ }).waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });

  /** The jobs of the next odd posting. */
  let odds: readonly string[] = [];
  it('refuses what was not shown, and says why', async () => {
    const before = await mapped();
    odds = await addPostings(
      ['s1', 's2'],
      posting('strange', { title: `Chef ${HOSTILE}`, description: HOSTILE, city: 'Reno' }),
    );
    await match();
    const { context, page, go } = await signInAs(served, browser, 'anna');
    await go('/adopt?feed=acme');
    await served.app.db.query(`update adopt_run set mark = 'another'`);
    await page.getByRole('button', { name: 'Adopt all 2 sure matches' }).click();
    await page.getByText('The matches have changed since they were shown').waitFor();
    expect(await mapped()).toEqual(before);
    await context.close();
  });

  it('shows both sides as text, and a viewer no forms; one is adopted by the keyboard', async () => {
    const [, two] = odds;
    await match();
    const ben = await signInAs(served, browser, 'ben');
    await ben.go('/adopt?feed=acme');
    await ben.page.getByRole('link', { name: '1 unsure match', exact: true }).click();
    await ben.page
      .getByRole('row', { name: /strange.*description.*<img/s })
      .first()
      .waitFor();
    expect(await ben.page.locator('main img, main script, main form').count()).toBe(0);
    expect(await ben.page.title()).not.toBe('run');
    await ben.page.setViewportSize({ width: 320, height: 600 });
    expect(await ben.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    const csrf = await ben.page.locator('input[name=csrf]').first().inputValue();
    const forged = await ben.context.request.post(`${served.url}/adopt`, {
      form: { csrf, feed: 'acme', decision: 'match' },
      headers: { origin: served.url },
    });
    expect(forged.status()).toBe(403);
    await ben.context.close();

    const before = await mapped();
    const anna = await signInAs(served, browser, 'anna');
    await anna.go('/adopt?feed=acme&show=unsure');
    // What a viewer sees, and forms.
    expect(await accessibilityFaultsInLightAndDark(anna.page)).toEqual([]);
    await tabTo(anna.page, `It is its job: strange has job ${two}`);
    await anna.page.keyboard.press('Enter');
    // With scripts, the page follows the run.
    await anna.page.getByText('1 job adopted.').waitFor();
    expect(await mapped()).toEqual({ ...before, strange: two });
    await anna.page.getByLabel('Key of the posting').fill('new');
    await anna.page.getByLabel('ID of its job on the site').fill('999');
    await anna.page.getByRole('button', { name: 'Adopt that job' }).click();
    await anna.page.getByText('new, job 999: site board has no job 999').waitFor();
    expect(anna.errors).toEqual([]);
    await anna.context.close();
  });
});
