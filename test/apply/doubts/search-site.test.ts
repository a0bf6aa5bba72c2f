// The search of a site for jobs of a feed proves nothing if the list lacks jobs that the site has accepted.
import { afterEach, expect, it } from 'vitest';
import { checkSite } from '../../../src/apply/search-site.ts';
import { siteJobId } from '../../../src/posting/identifiers.ts';
import type { SiteClient, SiteJob } from '../../../src/site/exchange.ts';
import { openStage, type Stage } from '../../review/stage.ts';
import { posting } from '../../support/indeed-feed.ts';
import { siteContextWith } from '../site-context.ts';

let stage: Stage;
afterEach(() => stage.close());

it('lets no job be created if the list lacks a job that the site shows', async () => {
  stage = await openStage({ searched: true });
  const { db } = stage.app;
  await stage.pull([posting('a')]);
  await db.query(
    `insert into mapping (feed, key, site, site_job_id, record_hash, content_hash)
     values ('other', 'z', 'board', '7', '\\x01', '\\x01')`,
  );
  await db.query(
    `insert into request (feed, key, operation, site_job_id, outcome, duration_ms)
     values ('other', 'z', 'create', '7', 'created', 1)`,
  );
  let listed: SiteJob[] = [];
  let shown: SiteJob = { siteJobId: siteJobId('7'), fields: { number: 'z' } };
  const list: SiteClient['list'] = async (take) => {
    for (const siteJob of listed) take(siteJob);
    return { kind: 'listed', pages: 1 };
  };
  const probe = async () => ({ kind: 'accepted', message: 'a list of jobs', mayResume: true, found: true });
  const client = { list, probe, show: async () => shown } as unknown as SiteClient;
  const search = () => checkSite(siteContextWith({ db, client }), new AbortController().signal);
  const state = () =>
    db.query(
      `select site_checked_at is not null as checked, site_check_note->>'text' as note from feed_state where feed = 'acme'`,
    );

  expect(await search()).toBe(false);
  const note = expect.stringContaining('job 7 is on the site but not in the list');
  expect(await state()).toMatchObject([{ checked: false, note }]);

  // A site may keep showing what was deleted.
  shown = { ...shown, fields: { ...shown.fields, 'deleted-at': '2026-01-01T00:00:00Z' } };
  await db.query('update feed_state set site_check_failed_at = null');
  await search();
  const hidden = expect.stringContaining('neither lists nor shows any of 1 job');
  expect(await state()).toMatchObject([{ checked: false, note: hidden }]);

  listed = [shown];
  await db.query('update feed_state set site_check_failed_at = null');
  expect(await search()).toBe(true);
  expect(await state()).toMatchObject([{ checked: true, note: null }]);
});
