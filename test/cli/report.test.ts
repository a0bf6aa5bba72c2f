// The report for whoever produces a feed: every posting with what became of it, counts that add up, and nothing that harms its readers.
import { execFileSync } from 'node:child_process';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { LINE_STATES } from '../../src/store/status/report-lines.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';
import { type ProgramResult, runProgram } from './run-program.ts';

let mirror: Mirror;
const run = (...args: readonly string[]): Promise<ProgramResult> => runProgram(mirror, ...args);

type Line = Record<string, unknown> & { readonly kind: string; readonly state: string; readonly key: string | null };
type Counts = Readonly<Record<string, number>>;
interface Head {
  readonly last_pull: Counts;
  readonly postings: Counts;
  readonly records: Counts;
  readonly on_site: number;
  readonly fields: readonly { readonly field: string; readonly filled: number; readonly missing: number }[];
  readonly reasons: readonly Record<string, unknown>[];
  readonly trend: readonly Record<string, number>[];
}

async function reportOf(...args: readonly string[]) {
  const result = await run('report', 'acme', '--json', ...args);
  expect(result.errors).toBe('');
  const [head, ...lines] = result.json();
  return { head: head as unknown as Head, lines: lines as Line[] };
}

const HOSTILE = '<script>alert(1)</script>"\'&\u202egnp';

/** A feed in which something went wrong in every way, mirrored twice. */
async function openTroubled(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror({
    site: { list_path: undefined },
    feed: { skip: '{ city: Draft }', delete_guard: '{ count: 0, percent: 0 }' },
    ...options,
  });
  const live = postings(6);
  await mirror.syncOf([...live, posting('gone')]);
  await mirror.sandbox.setFaults([{ name: '500', made: true, on: ['create'], count: 1 }]);
  const broken = feedXml([
    ...live,
    posting('=cmd|1', { title: HOSTILE, state: 'Jalisco \u202egnp' }),
    posting('draft', { city: 'Draft' }),
    posting('p1', { title: 'Another title' }),
    posting('doubtful'),
  ]).replace('<title><![CDATA[Nurse p2]]></title>', `<title>R & D ${mirror.env.BOARD_TOKEN}</title>`);
  await mirror.writeFeed(broken);
  await mirror.sync();
  const [entry] = (await run('review', 'list', '--kind', 'unreadable', '--json')).json<{ id: number }>();
  expect((await run('review', 'discard', String(entry?.id))).status).toBe(0);
  await mirror.sync();
  await mirror.stopEngine();
}

describe('a feed with every kind of trouble', () => {
  // The last two tests change it.
  beforeAll(() => openTroubled());
  afterAll(() => mirror.close());

  it('lists every posting and every entry of records, with counts that add up', async () => {
    const { head, lines } = await reportOf();
    const sum = (counts: Counts, names: readonly string[]) =>
      names.reduce((total, name) => total + (counts[name] ?? 0), 0);
    const { last_pull: last } = head;
    expect(last).toMatchObject({
      complete: true,
      seen: 10,
      rejected: 1,
      in_doubt: 1,
      skipped: 1,
      duplicates: 1,
      unreadable: 1,
      discarded: 1,
    });
    expect(
      sum(last, [
        'unchanged',
        'created',
        'updated',
        'rejected',
        'in_doubt',
        'pending',
        'failed',
        'duplicates',
        'unreadable',
        'skipped',
      ]),
    ).toBe(10);
    expect(sum(last, ['deleted', 'held', 'kept', 'grace', 'pending_deletes', 'failed_deletes'])).toBe(last.gone);

    const postingLines = lines.filter(({ kind }) => kind === 'posting');
    const { total, ...states } = head.postings;
    expect(sum(states, Object.keys(states))).toBe(total);
    expect(postingLines).toHaveLength(total ?? -1);
    for (const [state, n] of Object.entries(states))
      expect(postingLines.filter((line) => line.state === state)).toHaveLength(n);
    expect(states).toMatchObject({ live: 6, rejected: 1, in_doubt: 1, held: 1 });
    expect(head.records).toEqual({ unreadable: 1, duplicate: 1, skipped: 1 });
    const jobs = await mirror.siteJobs();
    expect(head.on_site).toBe(7);
    expect([...jobs.keys()].sort()).toEqual(['doubtful', 'gone', 'p1', 'p2', 'p3', 'p4', 'p5', 'p6']);

    const of = (key: string | null, kind = 'posting') => lines.find((line) => line.key === key && line.kind === kind);
    expect(of('p3')).toMatchObject({
      state: 'live',
      site_job_url: expect.stringMatching(/^http.*\/\d+/),
      reason: null,
    });
    expect(of('=cmd|1')).toMatchObject({
      state: 'rejected',
      reason: expect.stringContaining('state'),
      problems: [{ field: 'location-state', value: 'Jalisco \u202egnp' }],
    });
    expect(of('gone')).toMatchObject({ state: 'held', site_job_id: expect.stringMatching(/\d/) });
    expect(of('p2', 'record')).toMatchObject({ state: 'unreadable', record_number: 2, records: 1, discarded: true });
    expect(of('p1', 'record')).toMatchObject({
      state: 'duplicate',
      record_number: 9,
      excerpt: expect.stringContaining('Another title'),
    });
    expect(head.reasons).toContainEqual(
      expect.objectContaining({ state: 'rejected', field: 'location-state', count: 1, example: '=cmd|1' }),
    );
    expect(head.fields.find(({ field }) => field === 'title')).toMatchObject({ filled: 8, missing: 0 });
    expect(head.trend.map(({ seen }) => seen)).toEqual([10, 10, 7]);
    expect(head.trend[0]).toMatchObject({ rejected: 1, in_doubt: 1, unreadable: 1 });
  });

  it('as CSV: a line each, with formulas guarded', { tags: 'slow' }, async () => {
    const { lines } = await reportOf();
    const { out } = await run('report', 'acme', '--csv');
    const rows: Record<string, string>[] = parse(out, { columns: true });
    expect(rows.map(({ key, state }) => [key?.replace(/^'/, ''), state])).toEqual(
      lines.map(({ key, state }) => [key ?? '', state]),
    );
    expect(rows.find(({ state }) => state === 'rejected')).toMatchObject({
      key: "'=cmd|1",
      fields: 'location-state',
      reason: expect.stringContaining('Jalisco'),
    });
  });

  it('shows no secret, even if a record has one', async () => {
    for (const form of [[], ['--html'], ['--csv'], ['--json']]) {
      const { out } = await run('report', 'acme', ...form);
      expect(out).not.toContain(mirror.env.BOARD_TOKEN?.slice(0, 8));
      expect(out).toContain('[secret]');
    }
  });

  it('on the terminal: counts, reasons, and what is not live', { tags: 'slow' }, async () => {
    const { out, status } = await run('report', 'acme');
    expect(status).toBe(0);
    for (const text of [
      'read the whole feed',
      'RECENT PULLS',
      'REJECTED: 1',
      'IN DOUBT: 1',
      'DELETE HELD: 1',
      'UNREADABLE: 1',
      '\\u202e',
    ])
      expect(out).toContain(text);
    expect(out).not.toContain('LIVE:');
    expect((await run('report', 'acme', '--state', 'live')).out).toContain('LIVE: 6');
  });

  it('lists only the chosen states, and what came into its state lately', { tags: 'slow' }, async () => {
    const { lines } = await reportOf('--state', 'rejected', 'held');
    expect(lines.map(({ state }) => state)).toEqual(['rejected', 'held']);
    await mirror.query(`update mapping set mapped_at = now() - interval '10 days'`);
    await mirror.stopEngine();
    const recent = await reportOf('--since', '1d');
    expect(new Set(recent.lines.map(({ state }) => state))).toEqual(
      new Set(['rejected', 'in_doubt', 'held', 'unreadable', 'duplicate']),
    );
    expect(recent.head.postings.live).toBe(6);
  });

  it('as a page: whole by itself, escaped, with every list counted', { tags: 'slow' }, async () => {
    const { out } = await run('report', 'acme', '--html', '--limit', '3');
    expect(out).toMatch(/^<!doctype html>/);
    expect(out).toContain('</html>');
    expect(out).not.toMatch(/<script|<img|<link|<iframe|@import|url\(|\son\w+=|javascript:/i);
    expect(
      out.match(/(?:src|href)="[^"]*"/g)?.every((link) => /^href="(?:#\w+|https?:\/\/127\.0\.0\.1:\d+\/)/.test(link)),
    ).toBe(true);
    expect(out).toContain('3 more are not listed here');
    expect(out).toMatch(/Live <span class="count">6<\/span>/);
    const whole = (await run('report', 'acme', '--html')).out;
    for (const key of ['p1', 'p6', '=cmd|1', 'gone', 'doubtful']) expect(whole).toContain(`<bdi>${key}</bdi>`);
    // The title is in no list, but the excerpt of a record is.
    await mirror.syncOf([posting('a'), posting('a', { title: HOSTILE })]);
    await mirror.stopEngine();
    const hostile = (await run('report', 'acme', '--html')).out;
    expect(hostile).toContain('&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\\u202egnp');
    expect(hostile).not.toContain('<script');
  });
});

describe('another feed', () => {
  afterEach(() => mirror.close());

  it('writes a file as a whole, or leaves the former one, and replaces no device', { tags: 'slow' }, async () => {
    mirror = await openMirror();
    await mirror.syncOf(postings(2));
    await mirror.stopEngine();
    const file = join(mirror.folder, 'report.csv');
    await writeFile(file, 'former');
    const written = await run('report', 'acme', '--csv', '--output', file);
    expect([written.status, written.out]).toEqual([0, '']);
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(4);
    const refused = await run('report', 'acme', '--csv', '--output', join(mirror.folder, 'none', 'report.csv'));
    expect(refused.status).toBe(1);
    expect(refused.errors).toMatch(/report\.csv can't be written: .+/);
    expect((await readdir(mirror.folder)).filter((name) => name.includes('partial'))).toEqual([]);
    const pipe = join(mirror.folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const args of [
      ['report', 'acme', '--csv', '--output', pipe],
      ['backup', pipe, '--force'],
    ])
      expect(await run(...args)).toMatchObject({
        status: 1,
        errors: expect.stringContaining('pipe is a folder or a device'),
      });
    expect((await stat(pipe)).isFIFO()).toBe(true);
  });

  it('refuses what it does not know', async () => {
    mirror = await openMirror();
    for (const [args, message] of [
      [['report', 'nobody'], 'there is no feed nobody; feeds: acme'],
      [['report', 'acme', '--html', '--csv'], "option '--html' cannot be used with option '--csv'"],
      [['report', 'acme', '--csv', '--limit', '5'], '--csv and --json list all'],
      [['report', 'acme', '--since', 'last week'], 'such as 2026-03-20'],
      // A day that February does not have.
      [['report', 'acme', '--since', '2026-02-30'], 'such as 2026-03-20'],
      [['report', 'acme', '--state', 'fine'], `Allowed choices are ${LINE_STATES.join(', ')}`],
    ] as const) {
      const { status, errors } = await run(...args);
      expect([args, status, errors]).toEqual([args, 1, expect.stringContaining(message)]);
    }
  });

  it('a feed that was never pulled, or whose pulls all fail', { tags: 'slow' }, async () => {
    mirror = await openMirror();
    expect((await run('report', 'acme')).out).toContain('Nothing has been pulled yet.');
    await mirror.sync();
    await mirror.stopEngine();
    expect((await run('report', 'acme')).out).toMatch(/Pull 1 of .* failed: .*feed\.xml/);
    expect((await run('report', 'acme', '--html')).out).toMatch(/Pull 1 of .* failed: .*feed\.xml/);
    expect((await reportOf()).head).toMatchObject({
      last_pull: null,
      on_site: 0,
      trend: [{ status: 'failed', seen: null }],
    });
  });

  it('a feed that is not proven complete', { tags: 'slow' }, async () => {
    mirror = await openMirror();
    const list: readonly TestPosting[] = postings(3);
    await mirror.syncOf(list);
    await mirror.writeFeed(feedXml(list).replace('</source>', ''));
    await mirror.sync();
    await mirror.stopEngine();
    expect((await run('report', 'acme')).out).toMatch(/did not prove the feed complete: .+ Nothing was deleted\./);
  });
});
