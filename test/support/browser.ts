// Opens pages in Chromium, and checks them for accessibility with axe.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

export interface BrowserForTests {
  readonly available: boolean;
  /** Title suffix for a suite that needs it, giving the reason for a skip. */
  readonly note: string;
  /** The caller closes it. */
  launch(): Promise<Browser>;
}

/** For each step in a browser: on a loaded machine, its start alone may take half a minute. */
const STEP_WAIT_MS = 120_000;

/** The first one has no windows and the same engine, for less than half the processor time. */
const PROGRAMS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];

/**
 * Chromium on this machine.
 * @throws Error if there is none and `JOBMIRROR_REQUIRE_ALL=1` forbids skipping (as in CI).
 */
export function browserForTests(): BrowserForTests {
  const program = PROGRAMS.find((name) => spawnSync(name, ['--version']).status === 0);
  if (program === undefined && process.env.JOBMIRROR_REQUIRE_ALL === '1') {
    throw new Error(
      'JOBMIRROR_REQUIRE_ALL=1, but no chromium on PATH: install it (Debian: apt-get install chromium-headless-shell)',
    );
  }
  return {
    available: program !== undefined,
    note: program === undefined ? ' (skipped: no chromium on PATH)' : '',
    launch: () =>
      chromium.launch({ executablePath: pathOf(program ?? 'chromium'), args: ARGUMENTS, timeout: STEP_WAIT_MS }),
  };
}

/** Without a sandbox it also runs as root; it asks for nothing beyond this machine. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
];

const pathOf = (program: string): string => spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();

/** A page whose every error is collected: of its scripts, and of what its content security policy refused. */
export async function openPage(
  context: BrowserContext,
): Promise<{ readonly page: Page; readonly errors: readonly string[] }> {
  context.setDefaultTimeout(STEP_WAIT_MS);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) errors.push(message.text());
  });
  return { page, errors };
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What the page returns: the nodes of all rules that hold as well would be megabytes. */
interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** No selectors of nodes, which take long to find. */
const BRIEF = { resultTypes: ['violations'], selectors: false };

/** The rules of axe that depend on colours. */
const COLOUR_RULES = { runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } };

/** What axe finds wrong on a page, a line each; empty if nothing. Works with scripts of the page switched off by its policy too. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated by the debugger, which the content security policy does not concern.
  await page.evaluate(AXE);
  return faultsOf(page, {});
}

/** The same in light, and what is wrong in dark, where the page has other colours and nothing else. */
export async function accessibilityFaultsInLightAndDark(page: Page): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const inLight = await accessibilityFaults(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  return [...inLight, ...(await faultsOf(page, COLOUR_RULES)).map((fault) => `in dark, ${fault}`)];
}

async function faultsOf(page: Page, options: object): Promise<string[]> {
  const run = `axe.run(document, ${JSON.stringify({ ...BRIEF, ...options })})`;
  const violations = (await page.evaluate(`${run}.then(({ violations }) => violations)`)) as Violation[];
  return violations.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(' | ')}`);
}
