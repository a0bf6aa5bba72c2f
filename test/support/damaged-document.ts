// Checks that a damaged document deletes and creates nothing, whatever the damage, and that the whole one sends nothing afterwards.
import { expect } from 'vitest';
import type { Mirror } from './mirror.ts';

/** What can happen to a document, by the name of the damage. */
export type Damages = Readonly<Record<string, (text: string) => string>>;

/** @param text a document of several postings, each with a job of its own */
export async function checkDamages(mirror: Mirror, text: string, damages: Damages): Promise<void> {
  await mirror.writeFeed(text);
  const { created: all } = await mirror.sync();
  expect(all).toBeGreaterThan(1);
  for (const [what, damage] of Object.entries(damages)) {
    await mirror.writeFeed(damage(text));
    expect(await mirror.sync(), what).toMatchObject({
      status: 'incomplete',
      complete: false,
      deleted: 0,
      created: 0,
      message: expect.stringMatching(/./),
    });
    expect((await mirror.siteJobs()).size, what).toBe(all);
    await mirror.writeFeed(text);
    expect(await mirror.sync(), what).toMatchObject({ status: 'mirrored', seen: all, unchanged: all, requests: 0 });
  }
}
