// Adopts the one job that a person decided about: as it was shown, or as it is now if the person named posting and job.
import { type Message, tell } from '../../plan/message.ts';
import { otherVersion, postingVersion } from '../../review/adopt/propose-jobs.ts';
import { type AdoptOneEnd, adoptNamed, findUnmapped, type NamedPosting } from '../../review/adopt-sure.ts';
import { proposedPosting } from '../../store/mapping/adopt-proposals.ts';
import type { App } from '../app.ts';
import type { AdoptionRequest } from './adoption-request.ts';
import type { Adopting } from './open-adopting.ts';

export type NamedRequest = Extract<AdoptionRequest, { kind: 'named' }>;

/** `failed`: the feed cannot be read. */
export async function adoptAsNamed(
  app: App,
  adopting: Adopting,
  request: NamedRequest,
  actor: string,
): Promise<AdoptOneEnd | { readonly kind: 'failed'; readonly message: string }> {
  const { site, subject, checkLock } = adopting;
  const { version } = request;
  const read = await readPosting(app, adopting, request);
  if (read.kind === 'failed') return { kind: 'failed', message: tell(read.message, app.writeAction) };
  const now = read.found && postingVersion(site.name, read.found);
  if (version !== undefined && now !== undefined && now !== version)
    return { kind: 'refused', message: otherVersion(version, now), mayInsist: false };
  checkLock();
  return adoptNamed(subject, read.found, request, actor);
}

/** As it was shown, if the feed still has that record, which takes no plan of the whole feed; otherwise as the feed has it now. */
async function readPosting(
  { db }: App,
  { feed, subject, stillAsRead }: Adopting,
  { key, version }: NamedRequest,
): Promise<
  | { readonly kind: 'read'; readonly found: NamedPosting | undefined }
  | { readonly kind: 'failed'; readonly message: Message }
> {
  const shown = version === undefined ? undefined : await proposedPosting(db, feed, key);
  if (shown !== undefined) {
    const end = await stillAsRead(shown);
    if (end.kind === 'failed') return end;
    if (end.kind === 'same') return { kind: 'read', found: { key, fields: shown.fields } };
  }
  const read = await findUnmapped(subject, new Set([key]));
  return read.kind === 'failed' ? read : { kind: 'read', found: read.found.get(key) };
}
