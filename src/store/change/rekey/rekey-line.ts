// What is known of one pair of a feed whose keys seem to have changed, or of a posting without a pair.
import { hash } from 'node:crypto';
import { judgeRekey, type RekeyVerdict } from '../../../plan/rekey.ts';
import type { PostingKey, SiteJobId } from '../../../posting/identifiers.ts';
import type { PairRow } from './select-pairs.ts';

/** A new posting, a missing posting that has a job or whose job has ended, or both, if the first may be the second under another key. */
export interface RekeyLine {
  /** Of the new posting. */
  readonly key: PostingKey | undefined;
  /** Of the missing posting. */
  readonly oldKey: PostingKey | undefined;
  /** Of the missing posting; `undefined`: its job has ended. */
  readonly siteJobId: SiteJobId | undefined;
  /** That the new posting got beside it: deleted once the pair is bound. */
  readonly secondJobId: SiteJobId | undefined;
  readonly title: string | undefined;
  readonly verdict: RekeyVerdict;
  readonly reasons: readonly string[];
  /** Another text if the content of one of the two postings is another one. */
  readonly contents: string;
}

/** Certain pairs, other pairs, and postings without a pair: new ones, and missing ones that have a job. */
export const PAIR_KINDS = ['sure', 'unsure', 'new', 'missing'] as const;
export type PairKind = (typeof PAIR_KINDS)[number];

export const kindOfLine = ({ verdict, key }: Pick<RekeyLine, 'verdict' | 'key'>): PairKind =>
  verdict !== 'unmatched' ? verdict : key === undefined ? 'missing' : 'new';

const HAS_NO_JOB = 'its job has ended, so it gets none';

export function rekeyLineOf({
  key,
  oldKey,
  siteJobId,
  secondJobId,
  title,
  rank,
  differing,
  contents,
  ...evidence
}: PairRow): RekeyLine {
  const named = {
    key: key ?? undefined,
    oldKey: oldKey ?? undefined,
    siteJobId: siteJobId ?? undefined,
    secondJobId: secondJobId ?? undefined,
    title: title ?? undefined,
    contents,
  };
  if (rank !== 3) {
    const { verdict, reasons } = judgeRekey({ ...evidence, equal: rank === 1, differing: differing ?? [] });
    const second = secondJobId === null ? [] : [`the new posting has a second job, ${secondJobId}, which is deleted`];
    return { ...named, verdict, reasons: [...reasons, ...(siteJobId === null ? [HAS_NO_JOB] : []), ...second] };
  }
  const other = key === null ? 'no new posting' : 'no missing posting';
  return { ...named, verdict: 'unmatched', reasons: [`${other} has its content, or its title and place`] };
}

const VERSION_LENGTH = 20;

/** Another text after each change of the line. */
export const rekeyVersionOf = ({ key, oldKey, siteJobId, title, verdict, reasons, contents }: RekeyLine): string =>
  hash('sha256', JSON.stringify([key, oldKey, siteJobId, title, verdict, reasons, contents]), 'hex').slice(
    0,
    VERSION_LENGTH,
  );
