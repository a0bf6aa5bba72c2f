// Turns one posting and what is known of it into the one thing that the pull does about it.
import type { KeptFields, Problem, ReadPosting } from '../posting/posting.ts';
import type { DesiredChange, Mapping, OpenChange, Reason } from './desired-change.ts';

/** What a pull does about one posting that it saw. */
export type Planned =
  /** The site has it so already. `refresh`: other bytes, same content, so only the record hash is noted. */
  | { readonly kind: 'unchanged'; readonly refresh: boolean }
  /** An open change wishes the same already; it stands as it is, rejected ones too. */
  | { readonly kind: 'pending_same'; readonly refresh: boolean }
  /** A wish that is new, with no change open for the posting. */
  | { readonly kind: 'new'; readonly desired: DesiredChange }
  /** A wish that replaces the one of an open change. */
  | { readonly kind: 'superseding'; readonly desired: DesiredChange };

export interface Known {
  readonly mapping: Mapping | undefined;
  readonly open: OpenChange | undefined;
}

/**
 * Plans one posting. Content is compared by hash, so an unparsed detail of the record never makes a request.
 *
 * | posting | mapping      | open change          | planned                                             |
 * | ------- | ------------ | -------------------- | --------------------------------------------------- |
 * | valid   | same content | none                 | unchanged                                           |
 * | valid   | other / none | none                 | fresh wish: update / create                         |
 * | valid   | any          | wishes the same      | carried                                             |
 * | valid   | any          | wishes anything else | contested wish; the worker drops it where it finds  |
 * |         |              |                      | the site to be so already                           |
 * | invalid | any          | as above             | the same, but the wish rests as rejected: what is   |
 * |         |              |                      | live stays as it is                                 |
 */
export function planPosting(result: ReadPosting<KeptFields>, recordHash: Buffer, known: Known): Planned {
  const { posting } = result;
  const { mapping, open } = known;
  if (open !== undefined) {
    if (desiresTheSame(open, result)) {
      return { kind: 'pending_same', refresh: open.missing || differs(open.recordHash, recordHash) };
    }
    return { kind: 'superseding', desired: desiredFor(result, recordHash, mapping) };
  }
  if (result.kind === 'posting' && mapping !== undefined && mapping.contentHash.equals(posting.contentHash)) {
    return { kind: 'unchanged', refresh: mapping.missingPulls > 0 || differs(mapping.recordHash, recordHash) };
  }
  return { kind: 'new', desired: desiredFor(result, recordHash, mapping) };
}

function desiresTheSame(open: OpenChange, result: ReadPosting<KeptFields>): boolean {
  const sameContent = open.contentHash?.equals(result.posting.contentHash) === true;
  return open.desired === 'present' && sameContent && open.invalid === (result.kind === 'invalid');
}

function desiredFor(result: ReadPosting<KeptFields>, recordHash: Buffer, mapping: Mapping | undefined): DesiredChange {
  return {
    desired: 'present',
    key: result.posting.key,
    operation: mapping === undefined ? 'create' : 'update',
    fields: result.posting.fields,
    recordHash,
    contentHash: result.posting.contentHash,
    ...(result.kind === 'invalid' ? { target: 'rejected', reason: rulesBroken(result.problems) } : { target: 'ready' }),
  };
}

const rulesBroken = (problems: readonly Problem[]): Reason => ({
  kind: 'rules',
  message: problems.map((problem) => problem.message).join('; '),
  problems,
});

const differs = (a: Buffer | undefined, b: Buffer): boolean => a === undefined || !a.equals(b);
