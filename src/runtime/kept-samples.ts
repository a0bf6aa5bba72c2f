// Keeps samples of feeds for those who set them up: uploaded files, and the beginnings of sources. Each has a random name, which only who
// kept it may use, and is removed after a while.
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface KeptSample {
  readonly id: string;
  /** The name of the uploaded file, or the address of the source, for people. */
  readonly name: string;
  readonly path: string;
  readonly bytes: number;
  /** As somebody uploaded it; otherwise the beginning of a source, unpacked and in UTF-8. */
  readonly isUpload: boolean;
  /** It is the whole document. */
  readonly isWhole: boolean;
}

interface Kept extends KeptSample {
  readonly actor: string;
  usedAtMs: number;
}

export const MOST_SAMPLE_BYTES = 32 * 1024 * 1024;
const MOST_SAMPLES = 40;
const MOST_BYTES = 256 * 1024 * 1024;
const LIFE_MS = 2 * 3_600_000;

let folder: Promise<string> | undefined;
const samples = new Map<string, Kept>();

async function makeFolder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'jobmirror-samples-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** `undefined`: it is too large. */
export async function keepSample(
  bytes: Buffer,
  { actor, ...described }: Pick<Kept, 'actor' | 'name' | 'isUpload' | 'isWhole'>,
): Promise<KeptSample | undefined> {
  if (bytes.length > MOST_SAMPLE_BYTES) return undefined;
  folder ??= makeFolder();
  const id = randomBytes(18).toString('base64url');
  const path = join(await folder, id);
  await writeFile(path, bytes, { mode: 0o600, flag: 'wx' });
  samples.set(id, { ...described, id, path, bytes: bytes.length, actor, usedAtMs: performance.now() });
  await removeOld();
  return samples.get(id);
}

/** `undefined`: there is none by that name, or none of theirs. */
export async function findSample(id: string, actor: string): Promise<KeptSample | undefined> {
  await removeOld();
  const kept = samples.get(id);
  if (kept === undefined || kept.actor !== actor) return undefined;
  kept.usedAtMs = performance.now();
  return kept;
}

/** Those whose time is over, and beyond the bounds those that were not used for longest. */
async function removeOld(): Promise<void> {
  const byUse = [...samples.values()].sort((a, b) => b.usedAtMs - a.usedAtMs);
  const oldestMs = performance.now() - LIFE_MS;
  let bytes = 0;
  for (const [at, kept] of byUse.entries()) {
    bytes += kept.bytes;
    if (at < MOST_SAMPLES && (at === 0 || bytes <= MOST_BYTES) && kept.usedAtMs > oldestMs) continue;
    samples.delete(kept.id);
    await rm(kept.path, { force: true });
  }
}
