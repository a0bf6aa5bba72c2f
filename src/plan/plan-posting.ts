// Decides what a pull does about one posting, given its mapping and its open change.
import type { Problem, ReadPosting } from '../posting/posting.ts';
import type { DesiredChange, Mapping, OpenChange, Reason } from './desired-change.ts';

/** What a pull does about one posting that it saw. */
export type Planned<Content> =
  /** The site already has this content. `refresh`: the bytes differ, so only the record hash is updated. */
  | { readonly kind: 'unchanged'; readonly refresh: boolean }
  /** An open change already has this desired state; it is left as it is, even if rejected. */
  | { readonly kind: 'pending_same'; readonly refresh: boolean }
  /** A new desired state, with no change open for the posting. */
  | { readonly kind: 'new'; readonly desired: DesiredChange<Content> }
  /** A desired state that replaces that of an open change. */
  | { readonly kind: 'superseding'; readonly desired: DesiredChange<Content> };

export interface Known {
  readonly mapping: Mapping | undefined;
  readonly open: OpenChange | undefined;
}

/**
 * Plans one posting. Content is compared by hash, so parts of the record that are not mapped never cause a request.
 *
 * Fields that are set only on create do not make a posting with a job changed: `jobHash` is the hash of the others. While a change
 * is open, all fields count, so that a create is sent with the latest ones.
 *
 * A feed whose jobs are only created (`mayUpdate` is false) leaves a mapped posting as it is: unchanged, or pending with the content
 * that its open change has, because the attempt may be under way.
 *
 * | posting | mapping      | open change          | planned                                             |
 * | ------- | ------------ | -------------------- | --------------------------------------------------- |
 * | valid   | same content | none                 | unchanged                                           |
 * | valid   | other / none | none                 | new: update / create                                |
 * | valid   | any          | same desired state   | pending_same                                        |
 * | valid   | any          | any other            | superseding; the worker drops it if the site        |
 * |         |              |                      | already has this state                              |
 * | invalid | any          | as above             | the same, but in the target state rejected: the     |
 * |         |              |                      | live job stays as it is                             |
 */
export function planPosting<Content>(
  result: ReadPosting<Content>,
  recordHash: Buffer,
  known: Known,
  mayUpdate = true,
  jobHash?: Buffer,
): Planned<Content> {
  const { posting } = result;
  const { mapping, open } = known;
  if (open !== undefined) {
    const staysAsPlanned = !mayUpdate && mapping !== undefined && open.desired === 'present';
    if (staysAsPlanned || desiresTheSame(open, result)) {
      return { kind: 'pending_same', refresh: open.missing || differs(open.recordHash, recordHash) };
    }
    return { kind: 'superseding', desired: desiredFor(result, recordHash, mapping) };
  }
  const hasContent = (hash: Buffer | undefined) => hash !== undefined && mapping?.contentHash.equals(hash) === true;
  const staysAsItIs =
    !mayUpdate || (result.kind === 'posting' && (hasContent(posting.contentHash) || hasContent(jobHash)));
  if (mapping !== undefined && staysAsItIs) {
    return { kind: 'unchanged', refresh: mapping.missingPulls > 0 || differs(mapping.recordHash, recordHash) };
  }
  return { kind: 'new', desired: desiredFor(result, recordHash, mapping) };
}

function desiresTheSame(open: OpenChange, result: ReadPosting<unknown>): boolean {
  const sameContent = open.contentHash?.equals(result.posting.contentHash) === true;
  return open.desired === 'present' && sameContent && open.invalid === (result.kind === 'invalid');
}

function desiredFor<Content>(
  result: ReadPosting<Content>,
  recordHash: Buffer,
  mapping: Mapping | undefined,
): DesiredChange<Content> {
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
