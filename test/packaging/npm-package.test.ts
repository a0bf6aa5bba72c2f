// The package that npm makes: only what is needed to run, and all of it.
// @module-tag slow
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.ts';

const run = promisify(execFile);

let folder: string;
let packed: readonly string[];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jobmirror-package-'));
  await run('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder], { cwd: packageRoot });
  const [archive] = await readdir(folder);
  const { stdout } = await run('tar', ['-xzvf', archive ?? ''], { cwd: folder });
  packed = stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
  // As an installation has them: the libraries beside the program, and the command as a link to it.
  await symlink(join(packageRoot, 'node_modules'), join(folder, 'package', 'node_modules'));
  await mkdir(join(folder, 'bin'));
  await symlink(join(folder, 'package/dist/src/cli/main.js'), join(folder, 'bin', 'jobmirror'));
  await mkdir(join(folder, 'elsewhere'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs the installed command in another folder. */
const installed = async (args: readonly string[], env: Record<string, string> = {}) => {
  const own = { npm_lifecycle_event: undefined, npm_command: undefined, ...env };
  return run(process.execPath, [join(folder, 'bin', 'jobmirror'), ...args], {
    cwd: join(folder, 'elsewhere'),
    env: { ...process.env, ...own },
  });
};

it('holds neither sources, tests nor source maps', () => {
  const needless = packed.filter((path) => /\.(?:tsx?|map)$|^(?:test|bench|\.ci)\/|^dist\/(?:test|bench)\//.test(path));
  expect(needless).toEqual([]);
  expect(packed).toEqual(expect.arrayContaining(['README.md', 'LICENSE', 'CHANGELOG.md', 'docs/feeds.md']));
});

it('holds what its documents link to', async () => {
  const pages = packed.filter((path) => path.endsWith('.md'));
  expect(pages).toEqual(expect.arrayContaining(['README.md', 'docs/reference.md', 'examples/README.md']));
  const lacking: string[] = [];
  for (const page of pages) {
    const text = (await readFile(join(folder, 'package', page), 'utf8')).replace(/```[\s\S]*?```|`[^`\n]*`/g, '');
    const targets = [...text.matchAll(/\]\((?!\w+:)([^)#\s]+)/g)].map(([, to = '']) =>
      normalize(join(dirname(page), to)),
    );
    lacking.push(...targets.filter((to) => !packed.includes(to)).map((to) => `${page}: ${to}`));
  }
  expect(lacking).toEqual([]);
});

it('publishes its steps, but nothing in it listens to them or dies at one', async () => {
  const files = packed.filter((path) => /\.c?js$/.test(path));
  const texts = await Promise.all(files.map((path) => readFile(join(folder, 'package', path), 'utf8')));
  expect(files.filter((_, at) => /channel\)?\("jobmirror:step"\)/.test(texts[at] ?? ''))).toEqual([
    expect.stringMatching(/^dist\/bundled\/commands-/),
  ]);
  expect(files.filter((_, at) => /\bsubscribe\(|FAULT_AT|SIGSTOP/.test(texts[at] ?? ''))).toEqual([]);
});

it('runs the demo from any folder: it proves its result in plain lines, and removes everything', async () => {
  const { stdout, stderr } = await installed(['demo', '--once']);
  const lines = stdout.split('\n');
  const proven = lines.filter((line) => line.includes('proven:')).map((line) => line.trim());
  expect(proven).toEqual([
    "proven: 60 valid postings are live, each as one job with exactly the posting's fields",
    'proven: SL-0881 appears twice in the feed, and the first of the two is live',
    'proven: 5 invalid postings are in review; CH-20553 was live before and stays as it was',
    'proven: 5 postings left the feed, and the site answers 404 for their jobs',
    'proven: the site has 61 jobs: these 61 and no other',
    'proven: the pull of the unchanged feed sent the site no request',
    'proven: SL-0904, SL-0906, SL-0907 are live, each as one job with that state',
  ]);
  expect(lines.filter((line) => line.startsWith('    corrandale: '))).toEqual([
    expect.stringContaining(': 60 seen, 60 created; 60 requests in'),
    expect.stringContaining(
      ': 66 seen, 6 created, 8 updated, 5 deleted, 46 unchanged, 5 rejected, 1 duplicate; 19 requests in',
    ),
    expect.stringContaining(': 66 seen, 60 unchanged, 5 rejected, 1 duplicate; 0 requests in'),
  ]);
  // No escape sequences and no logs; on standard error at most progress lines, on a slow machine.
  expect(stdout).not.toContain('\u001b');
  expect(stderr.replace(/^corrandale: (?:reading|sending), .*\n/gm, '')).toBe('');
  expect(await readdir(join(folder, 'elsewhere'))).toEqual([]);
}, 240_000);

it.each([
  ['jobmirror', {}],
  ['npx jobmirror', { npm_command: 'exec' }],
])('gives hints that call it as %s', async (command, env) => {
  await writeFile(
    join(folder, 'elsewhere', 'jobmirror.yaml'),
    `sites: { board: { base_url: 'http://127.0.0.1:9/', token: '\${TOKEN}' } }
feeds: { acme: { site: board, format: indeed, source: feed.xml } }`,
  );
  await writeFile(join(folder, 'elsewhere', 'feed.xml'), '<source></source>');
  const { stdout, stderr } = await installed(['check'], { TOKEN: 'k7Qp2xV9sLm4', ...env });
  expect(stdout + stderr).toContain(`: ${command} `);
});
