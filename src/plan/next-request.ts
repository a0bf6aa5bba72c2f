// Compares the desired and the actual state of one posting and returns the one request that closes the gap, if any.
import type { SiteJobId } from '../posting/identifiers.ts';
import type { Fields } from '../posting/posting.ts';
import { type CreateOnlyFields, updatableFields } from './desired-change.ts';

/** The latest desired state. */
export type Desired =
  | { readonly kind: 'present'; readonly fields: Fields; readonly contentHash: Buffer }
  | { readonly kind: 'absent' };

/** The actual state: what the site last accepted. */
export interface LastAccepted {
  readonly siteJobId: SiteJobId;
  readonly contentHash: Buffer;
  /** Undefined if never known, as for an adopted job; then all fields are sent. */
  readonly fields: Fields | undefined;
  /** Fields that an uncertain write may have changed; undefined if there is no uncertain write. */
  readonly uncertain?: readonly string[];
}

export type NextRequest =
  | { readonly kind: 'none' }
  | { readonly kind: 'create'; readonly fields: Fields }
  | { readonly kind: 'update'; readonly siteJobId: SiteJobId; readonly fields: Fields }
  | { readonly kind: 'delete'; readonly siteJobId: SiteJobId };

export interface UpdateRules {
  /** Fields that no update sets. */
  readonly createOnly?: CreateOnlyFields;
  /** The site clears fields that an update omits: an update sends all of them. */
  readonly whole?: boolean;
}

/**
 * The request that turns the actual state into the desired one. An update sends only the fields that differ or may
 * differ (site-interface.md, section 4: "the fields to set"), unless the site clears the others. A field that is gone is set to
 * the empty string.
 */
export function nextRequest(
  desired: Desired,
  actual: LastAccepted | undefined,
  { createOnly, whole = false }: UpdateRules = {},
): NextRequest {
  if (desired.kind === 'absent') {
    return actual === undefined ? { kind: 'none' } : { kind: 'delete', siteJobId: actual.siteJobId };
  }
  if (actual === undefined) return { kind: 'create', fields: desired.fields };
  if (actual.uncertain === undefined && actual.contentHash.equals(desired.contentHash)) return { kind: 'none' };
  const changed =
    actual.fields === undefined ? desired.fields : changedFields(actual.fields, desired.fields, actual.uncertain);
  const fields = updatableFields(changed, createOnly);
  if (Object.keys(fields).length === 0) return { kind: 'none' };
  const sent = whole ? { ...updatableFields(desired.fields, createOnly), ...fields } : fields;
  return { kind: 'update', siteJobId: actual.siteJobId, fields: sent };
}

/** The fields to set to turn `from` into `to`, whatever values the `uncertain` fields have now. */
export function changedFields(from: Fields, to: Fields, uncertain: readonly string[] = []): Fields {
  const changed: Record<string, string> = {};
  const doubtful = new Set(uncertain);
  for (const [name, value] of Object.entries(to)) {
    if (doubtful.has(name) || !Object.hasOwn(from, name) || from[name] !== value) changed[name] = value;
  }
  for (const name of new Set([...Object.keys(from), ...uncertain])) {
    if (!Object.hasOwn(to, name) && (doubtful.has(name) || from[name] !== '')) changed[name] = '';
  }
  return changed;
}

// Decides whether a ready change may be sent now: what its feed and its site have to allow.

/** What is known of a feed before jobs are created for it. */
export interface CreateCircumstances {
  /** The site was searched for jobs of the feed, or nothing is known of the feed yet. */
  readonly isSearched: boolean;
  /** Because of a sign, or because the data was restored, the site has to be searched again. */
  readonly searchIsDue: boolean;
  /** The creates that an open question about changed keys is about. */
  readonly asked: 'none' | 'some' | 'all';
}

/**
 * Which creates of a feed may be sent. Any other create could be for a job that the site already has (law 1).
 *
 * | searched | search is due | asked about | may be sent  |
 * |----------|---------------|-------------|--------------|
 * | no       | any           | any         | none         |
 * | any      | yes           | any         | none         |
 * | yes      | no            | all         | none         |
 * | yes      | no            | some        | the others   |
 * | yes      | no            | none        | all          |
 */
export function sendableCreates({ isSearched, searchIsDue, asked }: CreateCircumstances): 'none' | 'others' | 'all' {
  if (!isSearched || searchIsDue || asked === 'all') return 'none';
  return asked === 'some' ? 'others' : 'all';
}

export interface SendCircumstances extends CreateCircumstances {
  readonly desired: 'present' | 'absent';
  readonly hasJob: boolean;
  /** The question about changed keys is about this create. */
  readonly isAsked: boolean;
  /** A person took the feed out of service. */
  readonly isRetired: boolean;
  /** A person has paused the feed, its site or everything. */
  readonly isPaused: boolean;
  /** The program has paused the site, or the site has asked to wait, refuses this process's token, or had its jobs at another address. */
  readonly siteIsClosed: boolean;
}

/** Whether a change that is ready may be sent. Updates and deletes of jobs that are known wait for no search and no question. */
export function isSendable(change: SendCircumstances): boolean {
  if (change.isPaused || change.siteIsClosed || change.isRetired) return false;
  if (change.hasJob || change.desired === 'absent') return true;
  const creates = sendableCreates(change);
  return creates === 'all' || (creates === 'others' && !change.isAsked);
}
