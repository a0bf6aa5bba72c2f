// A process whose base_url leads to another address than that of the site's jobs, beside one with the right address.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { openAppFor } from '../../src/runtime/app.ts';
import { startEngine } from '../../src/runtime/engine.ts';
import { FAST_TIMING } from '../support/fast-timing.ts';
import { postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror | undefined;
let stopOther: (() => Promise<void>) | undefined;
afterEach(async () => {
  await stopOther?.();
  await mirror?.close();
});

/** Starts sending with a base_url at which nothing answers. */
async function startAtOtherAddress({ folder, configPath, env, sandbox }: Mirror): Promise<() => Promise<void>> {
  const path = join(folder, 'other.yaml');
  await writeFile(path, (await readFile(configPath, 'utf8')).replace(sandbox.url, 'http://127.0.0.1:1'));
  const config = await loadConfig({ path, env, cwd: folder });
  const app = await openAppFor(config, { quiet: true, timing: FAST_TIMING, writeAction: String });
  app.log.level = 'silent';
  const engine = await startEngine(app, undefined);
  return async () => {
    await engine.stop(1_000);
    await app.close();
  };
}

it('leaves the creates in doubt to be resolved by the other one', async () => {
  mirror = await openMirror({
    site: {
      limits: '{ requests_per_second: 5000, concurrency: 4, timeout_seconds: 3 }',
      doubts: '{ resolve_after_seconds: 3.5, list_checks: 1 }',
    },
  });
  expect(await mirror.syncOf(postings(1))).toMatchObject({ created: 1 });
  await mirror.stopEngine();
  stopOther = await startAtOtherAddress(mirror);
  await mirror.sandbox.setFaults([{ name: 'reset-after', on: ['create'], count: 1 }]);
  expect(await mirror.syncOf(postings(2))).toMatchObject({ created: 1, in_doubt: 0 });
  expect((await mirror.siteJobs()).size).toBe(2);
});

it('does not keep the other one paused that runs already', async () => {
  mirror = await openMirror();
  expect(await mirror.syncOf(postings(1))).toMatchObject({ created: 1 });
  stopOther = await startAtOtherAddress(mirror);
  const { db } = await mirror.app();
  const paused = () => db.query('select from site_state where paused_since is not null');
  await expect.poll(paused).toEqual([]);
  expect(await mirror.syncOf(postings(2))).toMatchObject({ status: 'mirrored', created: 1 });
});
