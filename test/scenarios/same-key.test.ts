// One key in several records of a feed: the job keeps the version that it has as long as the feed has it, or may have it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { checkCounts } from '../laws/laws.ts';
import { feedXml, posting, postings, type TestPosting } from '../support/indeed-feed.ts';
import { type Mirror, type MirrorOptions, openMirror } from '../support/mirror.ts';

let mirror: Mirror;
afterEach(() => mirror?.close());

const [first, second, third] = ['one', 'two', 'three'].map((text) =>
  posting('k', { title: 'Nurse', description: text }),
) as [TestPosting, TestPosting, TestPosting];
const sync = async () => checkCounts(await mirror.sync());
const syncOf = async (list: readonly TestPosting[]) => {
  await mirror.writeFeed(feedXml(list));
  return sync();
};
const shown = async () => (await mirror.siteJobs()).get('k')?.description;

async function openTwo(options: MirrorOptions = {}): Promise<void> {
  mirror = await openMirror(options);
  await mirror.configure('source: feed.xml', 'sources: [one.xml, two.xml]');
}
const put = async (name: string, list: readonly TestPosting[] | undefined) =>
  writeFile(join(mirror.folder, name), list === undefined ? '<source><job>' : feedXml(list));

it('in two sources: while one fails, nothing is sent, and nothing afterwards', async () => {
  await openTwo();
  await put('one.xml', [first, ...postings(3)]);
  await put('two.xml', [second]);
  expect(await sync()).toMatchObject({ created: 4, duplicates: 1 });
  expect(await shown()).toBe('one');
  await put('one.xml', undefined);
  expect(await sync()).toMatchObject({ complete: false, updated: 0, unchanged: 1, requests: 0 });
  await put('one.xml', [first, ...postings(3)]);
  expect(await sync()).toMatchObject({ complete: true, updated: 0, requests: 0 });
  // Its version has left the feed for certain: the other one counts.
  await put('one.xml', postings(3));
  expect(await sync()).toMatchObject({ complete: true, updated: 1 });
  expect(await shown()).toBe('two');
  await put('one.xml', [first, ...postings(3)]);
  expect(await sync()).toMatchObject({ complete: true, updated: 0, requests: 0 });
});

it('in a feed that stays incomplete: once both versions were read and neither is the one of the job, the first one counts', async () => {
  await openTwo();
  await mirror.configure('[one.xml, two.xml]', '[one.xml, two.xml, three.xml]');
  await put('one.xml', [first]);
  await put('two.xml', [second]);
  await put('three.xml', postings(3));
  expect(await sync()).toMatchObject({ created: 4, duplicates: 1 });
  await put('three.xml', undefined);
  // Only one version is read, which is not the one of the job.
  await put('one.xml', undefined);
  expect(await sync()).toMatchObject({ complete: false, updated: 0, requests: 0 });
  await put('one.xml', [third]);
  expect(await sync()).toMatchObject({ complete: false, updated: 1, duplicates: 1 });
  expect(await shown()).toBe('three');
  const text = await readFile(mirror.configPath, 'utf8');
  await writeFile(
    mirror.configPath,
    `${text.trimEnd()}\n    fields: { description: { template: "{description}!" } }\n`,
  );
  await mirror.stopEngine();
  expect(await sync()).toMatchObject({ complete: false, updated: 1 });
  expect(await shown()).toBe('three!');
  expect(await sync()).toMatchObject({ complete: false, updated: 0, requests: 0 });
});

// Records that are known, and those whose bytes differ with the same content; in one group of records, and far from each other.
const spaced = (each: TestPosting): TestPosting => ({ ...each, city: '<!-- --> Boston' });
const far = postings(300);
it.each([
  ['next to each other', [] as TestPosting[], (each: TestPosting) => each],
  ['far from each other', far, (each: TestPosting) => each],
  ['with other bytes', [], spaced],
  ['far from each other, with other bytes', far, spaced],
])('rows that change places send nothing: %s', async (_, between, retold) => {
  mirror = await openMirror();
  expect(await syncOf([first, ...between, second])).toMatchObject({ created: 1 + between.length, duplicates: 1 });
  for (const list of [
    [second, ...between, retold(first)],
    [first, ...between, second],
    [second, third, ...between, retold(first)],
    [third, ...between, retold(first), second],
  ])
    expect(await syncOf(list)).toMatchObject({ updated: 0, requests: 0, unchanged: 1 + between.length });
  expect(await shown()).toBe('one');
  // None of them has the version of the job any more: the first one counts.
  expect(await syncOf([third, ...between, second])).toMatchObject({ updated: 1 });
  expect(await shown()).toBe('three');
});

it('a feed that updates no jobs, and one with fields that are set only on create, count as well', {
  tags: 'slow',
}, async () => {
  mirror = await openMirror({ feed: { policy: 'create_only' } });
  await syncOf([first, second]);
  expect(await syncOf([second, first])).toMatchObject({ unchanged: 1, duplicates: 1, requests: 0 });
  await mirror.close();
  mirror = await openMirror({ feed: { create_only_fields: '[description]' } });
  await syncOf([first, second]);
  expect(await syncOf([second, first])).toMatchObject({ unchanged: 1, duplicates: 1, requests: 0 });
});
