// Setting up a feed in a browser: with the keyboard alone, without scripts, wide and narrow, in light and dark.
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { feedName } from '../../../src/posting/identifiers.ts';
import { addUpload } from '../../../src/store/feed/feed-uploads.ts';
import { openStage } from '../../review/stage.ts';
import { accessibilityFaults, accessibilityFaultsInLightAndDark, browserForTests } from '../../support/browser.ts';
import { feedXml, posting, postings } from '../../support/indeed-feed.ts';
import { openedForAll } from '../../support/opened.ts';
import { setEnv } from '../../support/with-env.ts';
import { type Served, serve } from '../served.ts';
import { signInAs, tabTo } from './signed-in.ts';

const chromium = browserForTests();

describe.skipIf(!chromium.available)(`Setting up a feed${chromium.note}`, () => {
  let served: Served;
  let browser: Browser;
  let restoreEnv: () => void;
  const stage = openedForAll(() => openStage());
  beforeAll(async () => {
    restoreEnv = setEnv(stage.mirror.env);
    served = await serve(stage.mirror, { include: true });
    browser = await chromium.launch();
  });
  afterAll(async () => {
    restoreEnv();
    await browser.close();
    await served.close();
  });

  const xml = feedXml([...postings(4), posting('odd', { state: 'Jalisco', title: '<b>Bold</b>' })]);
  const FILE = { name: 'careers.xml', mimeType: 'text/xml', buffer: Buffer.from(xml) };

  it('a file becomes a saved feed with the keyboard alone and without scripts', async () => {
    const { context, page, errors, go } = await signInAs(served, browser, 'ada', { javaScriptEnabled: false });
    await go('/');
    await tabTo(page, 'Add a feed');
    await page.keyboard.press('Enter');
    await page.getByLabel('Or a file of it').setInputFiles(FILE);
    await tabTo(page, 'Recognise the feed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Recognised: indeed' }).waitFor();
    expect(await page.locator('.card.job h3').first().textContent()).toBe('Nurse p1');
    expect(await page.locator('main').textContent()).toContain('4 would be sent');
    await page.locator('#from-title').selectOption('value');
    await page.getByText('Text, default and look-up table of title').click();
    await page.locator('#text-title').fill('Registered nurse');
    await page.locator('#new_field').focus();
    await tabTo(page, 'Try these fields');
    await page.keyboard.press('Enter');
    await page.locator('.card.job h3', { hasText: 'Registered nurse' }).first().waitFor();
    await tabTo(page, 'Go on to the settings', 'Shift+Tab');
    await page.keyboard.press('Enter');
    await page.getByText('may go within 24 hours').waitFor();
    await page.getByLabel('Where it is read').fill('https://ats.invalid/careers.xml');
    await tabTo(page, 'When it is pulled');
    await page.keyboard.type('Monday to');
    await page.keyboard.press('Tab');
    await page.keyboard.type('0730AM');
    await tabTo(page, 'Save the feed');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The feed careers is saved' }).waitFor();
    const saved = await served.api('GET', 'feeds/careers/file', undefined, { as: 'admin' });
    expect(saved.body.text).toMatch(/^schedule: 30 7 \* \* 1-5 /m);
    expect(saved.body.text).toContain('title: { value: Registered nurse }');
    expect(errors).toEqual([]);
    await context.close();
  });

  it('each choice is tried at once while there is a sample, without leaving the page', async () => {
    const { context, page, errors, go } = await signInAs(served, browser, 'ada');
    await go('/feeds/new');
    await page.getByLabel('Or a file of it').setInputFiles(FILE);
    await page.getByRole('button', { name: 'Recognise the feed' }).click();
    await page.getByRole('heading', { name: 'Recognised: indeed' }).waitFor();
    await page.evaluate('window.isSame = true');
    await page.getByText('Text, default and look-up table of title').click();
    await page.locator('#insert-title').selectOption('city');
    await page.locator('.card.job h3', { hasText: 'Boston' }).first().waitFor();
    expect(await page.evaluate('window.isSame')).toBe(true);
    expect(await page.locator('#text-title').inputValue()).toBe('');
    // What is chosen last counts.
    await page.locator('#from-title').selectOption('format');
    await page.locator('.card.job h3', { hasText: 'Nurse p1' }).first().waitFor();
    expect(await page.locator('#insert-title').inputValue()).toBe('');
    await page.locator('#from-title').selectOption('template');
    await page.getByRole('alert').filter({ hasText: 'write the template' }).waitFor();
    await page.locator('#text-title').fill('{title} wanted');
    await page.locator('#text-title').blur();
    await page.locator('.card.job h3', { hasText: 'Nurse p1 wanted' }).first().waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    expect(errors).toEqual([]);
    await context.close();
  });

  it('each step is accessible and fits a phone', async () => {
    const viewport = { width: 390, height: 844 };
    const { context, page, errors, go } = await signInAs(served, browser, 'ada', { viewport });
    const expectFine = async (faults = accessibilityFaults) => {
      expect(await faults(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390);
    };
    await go('/feeds/new');
    await page.getByText('Sign-in, if the source asks for one').click();
    await page.getByText('SFTP server').click();
    await page.getByText('S3 storage').click();
    await expectFine();
    const content = Buffer.from(xml);
    for (const name of ['one.xml', `${'long-'.repeat(30)}name.xml`]) {
      const upload = { name, content: Buffer.concat([content, Buffer.from(`<!-- ${name} -->`)]), actor: 'ada' };
      await served.app.db.transaction((tx) => addUpload(tx, feedName('acme'), upload));
    }
    await go('/feed/uploads?feed=acme');
    await page.getByText('read by the feed').waitFor();
    await expectFine();
    await go('/feeds/new');
    await page.getByLabel('Or a file of it').setInputFiles(FILE);
    await page.getByRole('button', { name: 'Recognise the feed' }).click();
    await page.getByRole('heading', { name: 'Recognised: indeed' }).waitFor();
    // It has the colours of the others, too.
    await expectFine(accessibilityFaultsInLightAndDark);
    await page.getByRole('button', { name: 'Go on to the settings' }).click();
    await page.getByText('may go within 24 hours').waitFor();
    await expectFine();
    expect(errors).toEqual([]);
    await context.close();
  });
});
