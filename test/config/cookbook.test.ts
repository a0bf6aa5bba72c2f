// Every recipe of docs/cookbook.md does what the page says, from the configuration to the postings.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { parse } from 'yaml';
import { loadConfig } from '../../src/config/load-config.ts';
import { packageRoot } from '../../src/config/package-root.ts';
import { type Trial, tryFeed } from '../../src/pull/preview/try-feed.ts';
import { chooseFeeds } from '../../src/runtime/feed-setups.ts';
import { serveWeb, type WebServer } from '../feed/web-server.ts';

const SECRET = 'zq-cookbook';
const ORIGIN = 'https://api.acme.example';

interface Recipe {
  readonly title: string;
  /** Name, or request, → content. */
  readonly documents: readonly (readonly [string, string])[];
  readonly settings: string;
  readonly result: Readonly<Record<string, unknown>>;
}

const page = readFileSync(join(packageRoot, 'docs', 'cookbook.md'), 'utf8');
const recipes = page
  .split(/^## /m)
  .slice(1)
  // Its commands are run by `test/cli/tasks.test.ts`.
  .filter((section) => !section.includes('\n```sh tasks\n'))
  .map((section): Recipe => {
    const blocks = [...section.matchAll(/^```(\w+) (.+)\n([\s\S]*?)^```/gm)].map(
      ([, , name = '', content = '']) => [name, content] as const,
    );
    const contentOf = (block: string) => blocks.find(([name]) => name === block)?.[1] ?? '';
    return {
      title: section.slice(0, section.indexOf('\n')),
      documents: blocks.filter(([name]) => name !== 'settings' && name !== 'result'),
      settings: contentOf('settings'),
      result: parse(contentOf('result')) as Recipe['result'],
    };
  });

let folder: string;
let server: WebServer | undefined;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 1, 18) });
  folder = mkdtempSync(join(tmpdir(), 'jobmirror-cookbook-'));
});
afterEach(async () => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
  await server?.close();
  server = undefined;
});

/** The order of a query's parameters says nothing. */
function ordered(path: string): string {
  const url = new URL(path, ORIGIN);
  url.searchParams.sort();
  return url.href;
}

/** Answers only the requests of the page, with their headers. */
async function serve(documents: Recipe['documents']): Promise<WebServer> {
  const answers = documents.flatMap(([name, content]) => {
    const [, path, authorization] = /^GET (\S+)(?: Authorization: (.*))?$/.exec(name) ?? [];
    return path === undefined ? [] : [{ path: ordered(path.replace('SECRET', SECRET)), authorization, content }];
  });
  return serveWeb(({ path, headers }, response) => {
    const sent = headers.authorization?.replace(SECRET, 'SECRET');
    const found = answers.find((answer) => answer.path === ordered(path) && answer.authorization === sent);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(found?.content ?? '{}');
  });
}

async function run({ documents, settings }: Recipe): Promise<Extract<Trial, { kind: 'read' }>> {
  for (const [name, content] of documents) if (!name.startsWith('GET ')) writeFileSync(join(folder, name), content);
  server = await serve(documents);
  const feed = settings.replaceAll(ORIGIN, server.origin).replace(/^/gm, '    ');
  writeFileSync(
    join(folder, 'jobmirror.yaml'),
    `sites: { board: { base_url: "https://jobs.example.com", token: "\${TOKEN}" } }\nfeeds:\n  acme:\n    site: board\n${feed}`,
  );
  const config = await loadConfig({ env: { TOKEN: 'zq-12345678', ACME_KEY: SECRET }, cwd: folder, thorough: true });
  const [setup] = chooseFeeds(config, []).setups;
  if (setup === undefined) throw new Error('the recipe has no feed');
  const trial = await tryFeed(setup, { signal: new AbortController().signal, samples: 100 });
  if (trial.kind === 'failed') throw new Error(trial.message);
  return trial;
}

it('has recipes', () => {
  expect(recipes.length).toBeGreaterThanOrEqual(13);
  for (const { settings, result } of recipes) expect([settings, Object.keys(result)]).not.toContainEqual([]);
});

it.each(recipes)('$title', async (recipe) => {
  const { samples, skipped, shortfalls, mistakes, unreadable } = await run(recipe);
  const found = Object.fromEntries(
    samples.map(({ key, fields, problems }) => [key, problems.length > 0 ? 'rejected' : { ...fields }]),
  );
  expect({ ...found, ...(skipped === 0 ? {} : { skipped }) }).toEqual(recipe.result);
  expect({ shortfalls, unreadable, mistakes }).toEqual({ shortfalls: [], unreadable: 0, mistakes: [] });
});
