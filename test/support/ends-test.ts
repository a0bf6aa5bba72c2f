// A test that closes what it opened when it ends, alone or concurrently with other tests.
import { test } from 'vitest';
import { openSite, type ScriptedSite } from '../site/scripted-site.ts';
import { type Mirror, type MirrorOptions, openMirror } from './mirror.ts';

/** What to close, the last one first. */
export type Ends = (() => PromiseLike<void>)[];

/** Opens a mirror. */
export type Open = (options?: MirrorOptions) => Promise<Mirror>;

/** Opens a site that answers so, and a mirror into it. */
export type OpenAt = (
  answer: Parameters<typeof openSite>[0],
  options?: MirrorOptions,
) => Promise<{ readonly mirror: Mirror; readonly site: ScriptedSite }>;

export const endsTest = test.extend<{ ends: Ends; open: Open; openAt: OpenAt }>({
  // biome-ignore lint/correctness/noEmptyPattern: Vitest requires this form for a fixture without dependencies.
  ends: async ({}, use) => {
    const ends: Ends = [];
    await use(ends);
    for (const end of ends.reverse()) await end();
  },
  open: ({ ends }, use) =>
    use(async (options) => {
      const mirror = await openMirror(options);
      ends.push(mirror.close);
      return mirror;
    }),
  openAt: ({ ends, open }, use) =>
    use(async (answer, options) => {
      const site = await openSite(answer);
      ends.push(() => site[Symbol.asyncDispose]());
      return { site, mirror: await open({ ...options, site: { base_url: site.url.href, ...options?.site } }) };
    }),
});

/** The same, concurrently with the others of its file. */
export const concurrentTest = endsTest.concurrent;
