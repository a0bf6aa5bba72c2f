// Types for attempts: a posting, and the one request that may be sent for it under a token.
import type { CreateOnlyFields } from '../../plan/create-only-fields.ts';
import type { NextRequest } from '../../plan/next-request.ts';
import type { ShownForms } from '../../plan/shown-forms.ts';
import type { PostingRef, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';

/** One string for feed and key; feed names contain no space. */
export const idOf = (posting: PostingRef): string => `${posting.feed} ${posting.key}`;

/** A committed intent: exactly this request may be sent now, once, under this token. */
export interface Attempt extends PostingRef {
  readonly site: SiteName;
  readonly token: string;
  /** Which attempt of this version it is, from 1. */
  readonly number: number;
  readonly pull: number | undefined;
  readonly revision: number;
  readonly request: Exclude<NextRequest, { kind: 'none' }>;
  /** What the site has once it accepts the request; undefined for a delete. */
  readonly accepted: { readonly fields: Fields; readonly recordHash: Buffer; readonly contentHash: Buffer } | undefined;
  /** Fields that an update leaves to the site. */
  readonly createOnly?: CreateOnlyFields;
  /** What the site had before, if known. */
  readonly before?: Fields;
  /** What the site is known to show of that. */
  readonly forms?: ShownForms;
  /** It sets again what was found different on the site: what the site shows of it afterwards is its form. */
  readonly isRepair?: boolean;
  /** The site has reused IDs, or may have done so for a create in doubt: the job may belong to another posting by now. */
  readonly idMayBeReused?: boolean;
  /** A list has shown an earlier create of the posting as not made. */
  readonly wasDoubted?: boolean;
  /** A person approved this delete, so the guard does not count it. */
  readonly approved: boolean;
}
