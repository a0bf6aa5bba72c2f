// Taking a changed configuration over: tried again after an error of the database, until it is in use and its report is stored.
import { readFile, writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { App } from '../../src/runtime/app.ts';
import { startReloading } from '../../src/runtime/reload.ts';
import { readReports } from '../../src/store/access/reload-reports.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';

let app: App;
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  app = await mirror.app();
  process.env.BOARD_TOKEN = mirror.env.BOARD_TOKEN;
  process.env.DATABASE_URL = mirror.env.DATABASE_URL;
});
afterEach(async () => {
  delete process.env.BOARD_TOKEN;
  delete process.env.DATABASE_URL;
});

it.each(['begun', 'applied'])('goes on if the report %s cannot be stored at first', async (kind) => {
  let failures = 0;
  const query: Database['query'] = async (text, values) => {
    const isOfKind = /^insert into reload_report/.test(text) && JSON.stringify(values).includes(kind);
    if (isOfKind && failures++ === 0) throw Object.assign(new Error('read-only'), { code: '25006' });
    return app.db.query(text, values);
  };
  const replacedBy: App['config'][] = [];
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(mirror.configPath, `${text}log: { level: error }\nretention: { requests_days: 9 }\n`);
  const reloading = await startReloading(
    { ...app, db: { ...app.db, query } },
    {
      command: 'start',
      path: mirror.configPath,
      secrets: [],
      hangUps: () => 0,
      fail: (error) => expect.fail(error.message),
      replace: async ({ config }) => void replacedBy.push(config),
    },
  );
  try {
    const stored = async () => (await readReports<{ readonly kind: string }>(app.db)).map(({ report }) => report.kind);
    await expect.poll(stored, { timeout: 60_000 }).toEqual(['applied']);
    expect(failures).toBeGreaterThan(1);
    expect(replacedBy.map(({ retentionDays }) => retentionDays.requests)).toEqual([9]);
  } finally {
    await reloading.stop();
  }
});
