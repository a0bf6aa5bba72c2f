// The pages of the configuration, as a person without scripts uses them: only for role admin.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { feedXml } from '../support/indeed-feed.ts';
import { openMirror } from '../support/mirror.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from './form-visitor.ts';
import { type Served, serve } from './served.ts';

let served: Served;
const mirror = openedForEach(() => openMirror());
beforeEach(async () => {
  // The process has what its configuration names.
  for (const [name, value] of Object.entries(mirror.env)) vi.stubEnv(name, value);
  served = await serve(mirror, { include: true });
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await served.close();
});

const FEED = 'source: https://acme.example/jobs.xml\nformat: indeed\nsite: board\n';
const onDisk = () => readFile(join(mirror.folder, 'feeds/beta.yaml'), 'utf8');

it('writes a new feed, checks and changes it, and restores a version', async () => {
  const ada = await visitorOf(served, 'ada');
  expect((await ada.get('/configuration')).text).toContain('/feed/file?feed=acme');
  const empty = await ada.get('/feed/file?feed=beta');
  const wrong = await ada.press(empty, 'Save', { text: `${FEED}shedule: "<script>"` });
  expect(wrong.text).toContain('feeds.beta.shedule: is not a setting; did you mean schedule?');
  expect(wrong.text).toContain('shedule: &quot;&lt;script&gt;&quot;');
  const checked = await ada.press(wrong, 'Check', { text: FEED });
  expect(checked.text).toContain('The configuration is right with this text. Nothing is saved yet.');
  await expect(onDisk()).rejects.toThrow('ENOENT');
  const saved = await ada.press(checked, 'Save', { text: FEED.replaceAll('\n', '\r\n') });
  expect(await onDisk()).toBe(FEED);
  await writeFile(join(mirror.folder, 'feeds/beta.yaml'), `# By hand.\n${FEED}`);
  const changed = await ada.press(saved, 'Save', { text: `${FEED}schedule: "0 3 * * *"\n` });
  expect(changed.text).toContain('has another text than was shown; look at it again');
  expect(changed.text).toMatch(/What the file has now.*<code># By hand\./s);
  expect(await onDisk()).toContain('By hand');
  const again = await ada.press(changed, 'Save', { text: `${FEED}schedule: "0 3 * * *"\n` });
  expect(await onDisk()).toBe(`${FEED}schedule: "0 3 * * *"\n`);
  expect(again.text).toContain('written by hand');
  expect((await ada.get('/feed/file/version?feed=beta&version=2')).text).toContain('# By hand.');
  await ada.press(again, 'Restore version 1');
  expect(await onDisk()).toBe(FEED);
  // A file that is gone is written anew by whoever saves again.
  const page = await ada.get('/feed/file?feed=beta');
  await rm(join(mirror.folder, 'feeds/beta.yaml'));
  const gone = await ada.press(page, 'Save', { text: `${FEED}schedule: "0 4 * * *"\n` });
  expect(gone.text).toContain('The file is gone.');
  await ada.press(gone, 'Save');
  expect(await onDisk()).toBe(`${FEED}schedule: "0 4 * * *"\n`);
});

it('shows the file to commit for a feed of the main file', async () => {
  const ada = await visitorOf(served, 'ada');
  await mirror.writeFeed(feedXml([]));
  const page = await ada.get('/feed/file?feed=acme');
  expect(page.text).toContain('It can not be saved from here: feed acme is in served.yaml');
  expect((await ada.press(page, 'Save')).text).toContain('Nothing was written: feed acme is in served.yaml');
});

it('is not for others, nor for forms of other pages', async () => {
  const anna = await visitorOf(served, 'anna');
  for (const path of ['/configuration', '/feed/file?feed=acme', '/feed/file/version?feed=acme&version=1']) {
    expect((await anna.get(path)).status, path).toBe(403);
  }
  for (const path of ['/feed/file/save', '/feed/file/check', '/feed/file/restore', '/configuration/reload']) {
    expect((await anna.post(path, { feed: 'beta', text: FEED, version: '1' })).status, path).toBe(403);
    const ada = await visitorOf(served, 'ada');
    expect((await ada.post(path, { csrf: 'x', feed: 'beta', text: FEED, version: '1' })).status, path).toBe(403);
  }
  expect((await anna.get('/feed?feed=acme')).text).not.toContain('/feed/file');
  await expect(onDisk()).rejects.toThrow('ENOENT');
});
