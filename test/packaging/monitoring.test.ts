// What docs/monitoring offers for Prometheus and Grafana: it is valid, and names only metrics that exist.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageRoot } from '../../src/config/package-root.ts';
import { promtoolForTests } from '../support/promtool.ts';
import { allMetrics } from './all-metrics.ts';

const RULES = join(packageRoot, 'docs/monitoring/prometheus-rules.yaml');
const dashboard = JSON.parse(readFileSync(join(packageRoot, 'docs/monitoring/grafana-dashboard.json'), 'utf8'));
const promtool = promtoolForTests();

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}
const panels: readonly Panel[] = dashboard.panels;
const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
const rules: readonly { readonly alert: string; readonly expr: string }[] = parse(readFileSync(RULES, 'utf8')).groups[0]
  .rules;

const exported = async (): Promise<ReadonlySet<string>> => new Set((await allMetrics()).map(({ name }) => name));

/** The metrics that expressions name; a histogram is named by its series. */
const metricsIn = (expressions: readonly string[]): string[] => [
  ...new Set(
    expressions.flatMap((text) =>
      [...text.matchAll(/\b(?:jobmirror|process|nodejs)_\w+/g)].map(([name]) => name.replace(/_bucket$/, '')),
    ),
  ),
];

it.each([
  ['the alert rules', rules.map(({ expr }) => expr)],
  ['the dashboard', shown],
])('%s name only metrics that exist', async (_what, expressions) => {
  const known = await exported();
  const named = metricsIn(expressions);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

it('the reference lists every metric of jobmirror', async () => {
  const page = readFileSync(join(packageRoot, 'docs/reference.md'), 'utf8');
  const own = [...(await exported())].filter((name) => name.startsWith('jobmirror_'));
  expect(own.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

it('no two panels of the dashboard overlap, and each has a title and what it shows', () => {
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
  const empty = panels.filter(({ type, title, targets = [] }) => title === '' || (type !== 'row' && !targets.length));
  expect(empty).toEqual([]);
});

it.runIf(promtool.available)(`promtool accepts the alert rules, and they fire when they should${promtool.note}`, () => {
  expect(promtool.run(['check', 'rules', '--lint-fatal', RULES])).toMatchObject({ ok: true });
  const tests = join(packageRoot, 'test/packaging/prometheus-rules.test.yaml');
  expect(promtool.run(['test', 'rules', tests])).toMatchObject({ ok: true });
});

it.runIf(promtool.available)(`promtool accepts each expression of the dashboard${promtool.note}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'jobmirror-dashboard-'));
  try {
    const file = join(folder, 'rules.json');
    const asRules = shown.map((expr, at) => ({ record: `panel:${at}`, expr: expr.replace(/\$\w+/g, 'any') }));
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules: asRules }] }));
    expect(promtool.run(['check', 'rules', file])).toMatchObject({ ok: true });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
