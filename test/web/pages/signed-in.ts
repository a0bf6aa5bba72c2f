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

/**
 * A page of a context that is signed in; nothing is open in it. `overview.test.ts` signs in with the form.
 * @param name `anna` may review, `ben` only reads, `ada` may also change feeds
 */
export async function signInAs(
  served: Served,
  browser: Browser,
  name: 'anna' | 'ben' | 'ada',
  options: Parameters<Browser['newContext']>[0] = {},
): Promise<SignedInPage> {
  const context = await browser.newContext(options);
  const { page, errors } = await openPage(context);
  const answer = await context.request.post(`${served.url}/sign-in`, {
    form: { name, password: PASSWORD },
    headers: { Origin: served.url },
    maxRedirects: 0,
  });
  if (answer.status() !== 303) throw new Error(`signing in as ${name} was answered ${answer.status()}`);
  return { context, page, errors, go: async (path) => (await page.goto(served.url + path))?.status() };
}

const FOCUSED = `(() => {
  const element = document.activeElement;
  const labels = [...(element.labels ?? [])].map((label) => label.textContent);
  return [element.getAttribute('aria-label'), element.textContent, ...labels];
})()`;

/** Presses Tab, or Tab with Shift, until the element with this text or label has the focus. */
export async function tabTo(page: Page, words: string | RegExp, press: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  const isIt = (text: string): boolean => (typeof words === 'string' ? text.trim() === words : words.test(text));
  for (let presses = 0; presses < 100; presses++) {
    await page.keyboard.press(press);
    const focused = (await page.evaluate(FOCUSED)) as (string | null)[];
    if (focused.some((text) => text !== null && isIt(text))) return;
  }
  throw new Error(`the keyboard does not reach ${words}`);
}
