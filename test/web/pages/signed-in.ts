// Signs a user of a served installation in, in a browser of a test.
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { openPage } from '../../support/browser.ts';
import { PASSWORD, type Served } from '../served.ts';

export interface SignedInPage {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly errors: readonly string[];
  /** Opens a page of ours. Returns the status of the answer. */
  go(path: string): Promise<number | undefined>;
}

/** @param name `anna` may review, `ben` only reads */
export async function signInAs(
  served: Served,
  browser: Browser,
  name: 'anna' | 'ben',
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<SignedInPage> {
  const context = await browser.newContext(options);
  const { page, errors } = await openPage(context);
  await page.goto(served.url);
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  return { context, page, errors, go: async (path) => (await page.goto(served.url + path))?.status() };
}

const FOCUSED = `(() => {
  const element = document.activeElement;
  const labels = [...(element.labels ?? [])].map((label) => label.textContent);
  return [element.getAttribute('aria-label'), element.textContent, ...labels];
})()`;

/** Presses Tab, or Tab with Shift, until the element with this text or label has the focus. */
export async function tabTo(page: Page, words: string, press: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press(press);
    const focused = (await page.evaluate(FOCUSED)) as (string | null)[];
    if (focused.some((text) => text?.trim() === words)) return;
  }
  throw new Error(`the keyboard does not reach "${words}"`);
}
