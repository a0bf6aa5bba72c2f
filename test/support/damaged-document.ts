// Checks that a damaged document deletes and creates nothing, whatever the damage, and that the whole one sends nothing afterwards.
import { expect } from 'vitest';
import type { Mirror } from './mirror.ts';

/** What can happen to a document, by the name of the damage. */
export type Damages = Readonly<Record<string, (text: string) => string>>;

/** @param text a document of 30 postings, each with a job of its own */
export async function checkDamages(mirror: Mirror, text: string, damages: Damages): Promise<void> {
  await mirror.writeFeed(text);
  await mirror.sync();
  for (const [what, damage] of Object.entries(damages)) {
    await mirror.writeFeed(damage(text));
    expect(await mirror.sync(), what).toMatchObject({
      status: 'incomplete',
      complete: false,
      deleted: 0,
      created: 0,
      message: expect.stringMatching(/./),
    });
    expect((await mirror.siteJobs()).size, what).toBe(30);
    await mirror.writeFeed(text);
    expect(await mirror.sync(), what).toMatchObject({ status: 'mirrored', seen: 30, unchanged: 30, requests: 0 });
  }
}
