// Undoes edits of a posting: the next pull of its feed brings back what the source has.
import { createHash } from 'node:crypto';
import type { CreateOnlyFields } from '../plan/create-only-fields.ts';
import type { Message } from '../plan/message.ts';
import { type FeedPolicy, updatesJobs } from '../plan/policy.ts';
import type { FeedName, PostingKey } from '../posting/identifiers.ts';
import { auditAction } from '../store/access/audit.ts';
import { keepAllPullsOut, planAgain } from '../store/change/edit.ts';
import { findChangeOf, lockChange } from '../store/change/open-change.ts';
import { type EditRow, editsOfPosting, removeEdits } from '../store/change/override.ts';
import { hasJob } from '../store/mapping/mapping-list.ts';
import type { Database } from '../store/postgres/database.ts';
import { findLiveJob } from '../store/review/posting-history.ts';

export type UndoEditReport =
  /** `message`: what follows. */
  | { readonly kind: 'undone'; readonly fields: readonly string[]; readonly message: string }
  /** Nothing was changed. */
  | { readonly kind: 'refused'; readonly message: Message; readonly stale?: true };

export interface UndoEditOptions {
  readonly actor: string;
  /** Only these fields; `undefined`: all that were edited. */
  readonly fields?: readonly string[] | undefined;
  /** Undo nothing if the edits are no longer those that a person saw: {@link editsVersion}. */
  readonly version?: string | undefined;
  /** Fields of the feed that are left to the site once there is a job. */
  readonly createOnly?: CreateOnlyFields;
  readonly policy?: FeedPolicy | undefined;
}

/** Another one after each edit of the posting. */
export const editsVersion = (edits: readonly EditRow[]): string =>
  createHash('sha256')
    .update(JSON.stringify(edits.map(({ field, value, sourceValue }) => [field, value, sourceValue])))
    .digest('hex')
    .slice(0, 32);

/**
 * The same in every state: what was edited and waits is replaced by the next pull, what the site has accepted is updated by it, and
 * what was discarded is sent again if the source has something else. Where the source has changed the field since, the edit is without effect already.
 */
export async function undoEdits(
  db: Database,
  feed: FeedName,
  key: PostingKey,
  { actor, fields, version, createOnly, policy }: UndoEditOptions,
): Promise<UndoEditReport> {
  return db.transaction(async (tx): Promise<UndoEditReport> => {
    if (!(await keepAllPullsOut(tx, feed))) {
      return refused(`feed ${feed} is being pulled right now; try again when that has ended`);
    }
    const found = await findChangeOf(tx, feed, key);
    const change = found === undefined ? undefined : await lockChange(tx, found.id);
    const edits = await editsOfPosting(tx, feed, key);
    if (version !== undefined && version !== editsVersion(edits)) {
      return {
        ...refused('its edits have changed since you saw them; look at them again. Nothing was changed'),
        stale: true,
      };
    }
    const names = fields ?? edits.map(({ field }) => field);
    const strange = names.filter((name) => !edits.some(({ field }) => field === name));
    if (strange.length > 0) return refused(`there is no edit of ${strange.join(', ')}`);
    if (names.length === 0) return refused(`posting ${key} of feed ${feed} has no edits`);
    if (change?.state === 'in_doubt')
      return refused('whether the site has made its job is not known: resolve the doubt first');
    if (change?.state === 'sending') return refused('it is being sent right now; try again when that has ended');
    await removeEdits(tx, { feed, key }, names);
    await planAgain(tx, feed, key);
    const live = await findLiveJob(tx, feed, key);
    const isMissing = change?.missing === true || (live?.missingPulls ?? 0) > 0;
    const message = whatFollows(names, { createOnly, policy, hasJob: await hasJob(tx, feed, key), isMissing });
    const reason = `${names.join(', ')}; ${message}`;
    await auditAction(tx, { actor, action: 'undo edit', feed, key, detail: { fields: names, edits, reason } });
    return { kind: 'undone', fields: names, message };
  });
}

const BROUGHT_BACK = 'the next pull brings back what the source has';

interface Effect extends Pick<UndoEditOptions, 'createOnly' | 'policy'> {
  readonly hasJob: boolean;
  /** From the feed, within its grace, which does not end under some policies. */
  readonly isMissing: boolean;
}

function whatFollows(names: readonly string[], { createOnly, policy, hasJob, isMissing }: Effect): string {
  if (hasJob && !updatesJobs(policy)) return "the job keeps what it has, as the feed's policy is create_only";
  const left = hasJob ? names.filter((name) => createOnly?.has(name) === true) : [];
  const broughtBack = isMissing ? `once the feed has the posting again, ${BROUGHT_BACK}` : BROUGHT_BACK;
  if (left.length === 0) return broughtBack;
  const keeps = `the job keeps ${left.join(', ')}, which ${left.length === 1 ? 'is' : 'are'} set only on create`;
  return left.length === names.length ? keeps : `${broughtBack}, but ${keeps}`;
}

const refused = (message: Message) => ({ kind: 'refused', message }) as const;
