// What a paused site must show before sending resumes by itself.
// @module-tag slow
import { afterEach, expect, it } from 'vitest';
import { siteName } from '../../src/posting/identifiers.ts';
import { readSiteState } from '../../src/store/site/site-state.ts';
import { openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { feedXml, postings } from '../support/indeed-feed.ts';
import { type Mirror, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
let site: ScriptedSite | undefined;
afterEach(async () => {
  await mirror.close();
  await site?.[Symbol.asyncDispose]();
  site = undefined;
});

const isPaused = async () => {
  const { db } = await mirror.app();
  return (await readSiteState(db, siteName('board'))).pausedSince !== undefined;
};

it('an HTML page instead of its list does not resume it, the list does', async () => {
  mirror = await openMirror();
  await mirror.writeFeed(feedXml(postings(3)));
  await mirror.sandbox.setFaults([{ name: '401' }]);
  await mirror.sync();
  await mirror.stopEngine();
  await mirror.sandbox.setFaults([{ name: 'html', status: 200, on: ['list'] }]);
  expect(await mirror.sync()).toMatchObject({ created: 0, pending: 3 });
  expect(await isPaused()).toBe(true);
  await mirror.stopEngine();
  await mirror.sandbox.setFaults([]);
  expect(await mirror.sync()).toMatchObject({ created: 3, pending: 0 });
});

it('a site with nothing to read is resumed, even if it answers 404 with an HTML page', async () => {
  let refuses = true;
  let made = 0;
  const opened = await openSite(({ method }) => {
    if (refuses) return [401];
    if (method === 'POST') return [201, { location: `/jobs/${++made}` }];
    return [404, { 'content-type': 'text/html' }, '<!DOCTYPE html><title>Error</title><pre>Cannot GET /jobs.xml</pre>'];
  });
  site = opened;
  mirror = await openMirror({ site: { base_url: opened.url.href, list_path: undefined } });
  expect(await mirror.syncOf(postings(3))).toMatchObject({ created: 0, pending: 3 });
  expect(await isPaused()).toBe(true);
  await mirror.stopEngine();
  refuses = false;
  expect(await mirror.sync()).toMatchObject({ created: 3, pending: 0 });
});
