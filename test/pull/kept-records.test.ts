// The records of postings that are rejected, or may be, are kept as long as their changes are about them, and shown with the failing
// value marked.
import { expect, it } from 'vitest';
import { feedName, postingKey, siteName } from '../../src/posting/identifiers.ts';
import { renameFeed } from '../../src/store/mapping/rename-feed.ts';
import { forgetKeptRecords, keptRecordOf } from '../../src/store/pull/posting-notes.ts';
import { pageAddress } from '../../src/web/pages/parts/addresses.ts';
import { runProgram } from '../cli/run-program.ts';
import { acme, openStage } from '../review/stage.ts';
import { feedXml, posting } from '../support/indeed-feed.ts';
import { openedForEach } from '../support/opened.ts';
import { visitorOf } from '../web/form-visitor.ts';
import { serve } from '../web/served.ts';

const stage = openedForEach(() => openStage());
const served = openedForEach(() => serve(stage.mirror));

const odd = (key: string, state = 'Jalisco', title = 'Nurse') => posting(key, { state, title });
const kept = async (key: string) => keptRecordOf(stage.app.db, acme, postingKey(key));
const rows = async () =>
  (await stage.app.db.query<{ key: string }>('select key from kept_record order by key')).map(({ key }) => key);

it('the page of a rejected posting shows its record, as text, with the failing value marked', async () => {
  await stage.pull([odd('odd', 'Jalisco', '<b>Nurse</b>'), posting('fine')]);
  const anna = await visitorOf(served, 'anna');
  const { text } = await anna.get(pageAddress.posting(acme, 'odd'));
  const [, shown = ''] = /<h2 id="record">.*?<pre[^>]*>(.*?)<\/pre>/s.exec(text) ?? [];
  expect(shown).toMatch(/&lt;state&gt;(?:&lt;!\[CDATA\[)?<mark>Jalisco<\/mark>/);
  expect(shown).not.toContain('<b>');
  expect(await rows()).toEqual(['fine', 'odd']);
});

it('a posting that the site itself rejects has its record on the page, in the API and in the terminal', async () => {
  await stage.pull([posting('refused', { title: 'Nurse & <b>more</b>' }), posting('accepted')]);
  await stage.fail('refused', 'rejected', 'the site says no');
  await stage.acceptAll();
  const entry = await stage.entry('refused');
  const anna = await visitorOf(served, 'anna');
  const { text } = await anna.get(pageAddress.posting(acme, 'refused'));
  const [, shown = ''] = /<h2 id="record">.*?<pre[^>]*>(.*?)<\/pre>/s.exec(text) ?? [];
  expect(shown).toContain('<mark>Nurse &amp; &lt;b&gt;more&lt;/b&gt;</mark>');
  const record = await kept('refused');
  expect(record).toContain('<title>');
  expect((await served.api('GET', `review/${entry}`)).body.record).toBe(record);
  expect((await served.api('GET', 'feeds/acme/postings/refused')).body.record).toBe(record);
  const { out } = await runProgram(stage.mirror, 'review', 'show', String(entry));
  expect(out).toMatch(/Its record, as the feed has it, begins:\n.*<job>/);
  // The next pull of the same feed writes nothing, and what was accepted needs no record any more.
  await stage.pull([posting('refused', { title: 'Nurse & <b>more</b>' }), posting('accepted')]);
  expect(await forgetKeptRecords(stage.app.db, 10)).toBe(1);
  expect(await rows()).toEqual(['refused']);
});

it('keeps the newest record of an entry', { tags: 'slow' }, async () => {
  await stage.pull([odd('a'), odd('b')]);
  await stage.pull([odd('a', 'Sonora'), odd('b')]);
  expect(await kept('a')).toContain('Sonora');
  expect(await kept('b')).toContain('Jalisco');
  // Only what is not mirrored has changed: the entry stays the same, and belongs to the newer record.
  await stage.pull(feedXml([odd('a', 'Sonora'), odd('b')]).replaceAll('</job>', '<!-- newer --></job>'));
  expect(await kept('b')).toContain('newer');
});

it('forgets it with the entry, and shows none that belongs to an earlier one', { tags: 'slow' }, async () => {
  await stage.pull([odd('fixed'), odd('gone'), odd('stays'), odd('refused')]);
  await stage.pull([posting('fixed'), odd('stays'), posting('refused')]);
  await stage.fail('refused', 'rejected', 'the site says no');
  await stage.acceptAll();
  expect([await kept('fixed'), await kept('gone')]).toEqual([undefined, undefined]);
  expect(await kept('refused')).not.toContain('Jalisco');
  expect(await forgetKeptRecords(stage.app.db, 1)).toBe(1);
  expect(await forgetKeptRecords(stage.app.db, 2)).toBe(1);
  expect(await forgetKeptRecords(stage.app.db, 2)).toBe(0);
  expect(await rows()).toEqual(['refused', 'stays']);
});

it('is bounded', async () => {
  await stage.pull([posting('big', { state: 'Jalisco', description: 'x'.repeat(50_000) })]);
  expect((await kept('big'))?.length).toBeLessThanOrEqual(2_048);
});

it('goes with a renamed feed', async () => {
  await stage.pull([odd('a')]);
  const to = { feed: feedName('renamed'), site: siteName('board') };
  expect(await renameFeed(stage.app.db, acme, to, 'tester')).toMatchObject({ kind: 'renamed' });
  expect(await keptRecordOf(stage.app.db, to.feed, postingKey('a'))).toContain('Jalisco');
});
