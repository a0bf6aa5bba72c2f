// What an installation does with its database from the first pull to a restored backup.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readFault } from '../../src/sandbox/interface/fault-table.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { runProgram } from '../cli/run-program.ts';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';
import { patientSite } from '../support/patient-site.ts';
import { serve } from '../web/served.ts';

/** The same site and folder with another database. */
async function withDatabaseOf(mirror: Mirror, databaseUrl: string, name: string): Promise<Mirror> {
  const configPath = join(mirror.folder, name);
  await writeFile(configPath, await readFile(mirror.configPath, 'utf8'));
  return { ...mirror, configPath, env: { ...mirror.env, DATABASE_URL: databaseUrl } };
}

/**
 * Pulls, sends, reviews, serves pages, undoes, re-keys, verifies, backs up and restores.
 * @param databaseUrl of an empty database; `restoredUrl`: of another one
 */
export async function liveThrough(databaseUrl: string, restoredUrl: string): Promise<void> {
  // No create is in doubt, however slow the machine is.
  const mirror = await openMirror({ databaseUrl, site: patientSite(30) });
  const run = async (status: number, ...args: readonly string[]) => {
    await mirror.stopEngine();
    const result = await runProgram(mirror, ...args);
    expect(result.status, `${args.join(' ')}: ${result.out}${result.errors}`).toBe(status);
    return result;
  };
  const sync = async (status: number) => (await run(status, 'sync', '--json')).json()[0];
  try {
    await mirror.writeFeed(feedXml([...postings(12), posting('odd', { state: 'Jalisco' })]));
    expect((await run(0, 'check')).out).toContain('is right');
    expect(await sync(2)).toMatchObject({ created: 12, rejected: 1 });
    expect(await sync(2)).toMatchObject({ unchanged: 12, requests: 0 });

    // Undone.
    await mirror.writeFeed(feedXml(postings(12).map((each) => ({ ...each, city: 'Salem' }))));
    const changed = await sync(0);
    expect(changed).toMatchObject({ updated: 12 });
    await run(0, 'undo', String(changed?.pull), '--yes');
    expect(new Set([...(await mirror.siteJobs()).values()].map((fields) => fields['location-city']))).toEqual(
      new Set(['Boston']),
    );

    await run(0, 'feeds', 'resume', 'acme');

    // Held.
    await mirror.writeFeed(feedXml(postings(3)));
    expect(await sync(2)).toMatchObject({ held: 9 });
    expect((await run(0, 'status')).out).toContain('9');
    expect((await run(0, 'review', 'list', 'acme', '--kind', 'held')).out).toContain('p12');
    expect((await run(0, 'review', 'groups')).out).toContain('acme');
    await pages(mirror);
    await run(0, 'review', 'approve', 'acme', '--count', '9');
    expect((await mirror.siteJobs()).size).toBe(3);

    // Under new keys.
    const again = [1, 2, 3].map((n) => posting(`new${n}`, { title: `Nurse p${n}`, description: `<p>Work p${n}</p>` }));
    await mirror.writeFeed(feedXml(again));
    await sync(2);
    await run(0, 'feeds', 'rekey', 'acme', '--sure');
    expect(await sync(0)).toMatchObject({ created: 0 });
    expect((await mirror.siteJobs()).size).toBe(3);

    // In doubt.
    await mirror.configure('timeout_seconds: 30', 'timeout_seconds: 2');
    await mirror.configure('resolve_after_seconds: 30.5', 'resolve_after_seconds: 2.5');
    await mirror.sandbox.setFaults([readFault('500=count:1')]);
    await mirror.writeFeed(feedXml([...again, posting('new4')]));
    expect(await sync(0)).toMatchObject({ created: 1, in_doubt: 0 });

    await run(0, 'verify');
    await run(0, 'why', 'acme', 'new1');
    await run(0, 'report', 'acme');
    const file = join(mirror.folder, 'whole.backup');
    await run(0, 'backup', file);
    const restored = await withDatabaseOf(mirror, restoredUrl, 'restored.yaml');
    expect(await runProgram(restored, 'restore', file)).toMatchObject({ status: 0 });
    mirror.sandbox.requests.clear();
    const { out, errors } = await runProgram(restored, 'sync', '--json');
    expect(out, errors).toContain('"unchanged":4');
    expect(mirror.sandbox.requests.recent().filter(({ method }) => method !== 'GET')).toEqual([]);
  } finally {
    await mirror.close();
  }
}

/** The pages and the API, while the process can send. */
async function pages(mirror: Mirror): Promise<void> {
  const served = await serve(mirror, { sends: true, open: true });
  try {
    const shown = [
      pageAddress.overview(),
      pageAddress.feed('acme'),
      pageAddress.review(),
      pageAddress.posting('acme', 'p1'),
      pageAddress.pulls(),
      pageAddress.held('acme'),
      pageAddress.jobs(),
      pageAddress.doubts(),
      pageAddress.sites(),
      pageAddress.site('board'),
      pageAddress.queues(),
      pageAddress.activity(),
    ];
    for (const path of shown) {
      const { status, text } = await served.api('GET', path, undefined, { as: null });
      expect(status, `${path}: ${text}`).toBe(200);
    }
    const { body } = await served.api('GET', 'feeds', undefined, { as: null });
    expect(body.items).toMatchObject([{ feed: 'acme', held: 9, live: 12 }]);
  } finally {
    await served.close();
  }
}
