// Writes down what a matching found for a posting: its candidates, each with the fields that differ.
import { hash } from 'node:crypto';
import { fieldOf } from '../../plan/same-value.ts';
import { contentHash } from '../../posting/hash.ts';
import type { PostingKey, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { excerpt } from '../../posting/xml-characters.ts';
import type { FoundCandidate, FoundMatch, JobProposal, ProposedJob } from '../../store/mapping/adopt-proposals.ts';
import { differenceOf } from '../pulled-changes.ts';

const MOST_FIELDS = 6;
const MOST_OF_TITLE = 160;

export function proposalOf(site: SiteName, { key, fields, verdict, reasons, candidates }: FoundMatch): JobProposal {
  return {
    key,
    verdict,
    reasons,
    title: titleOf(fields),
    candidates: candidates.map((candidate) => candidateOf(fields, candidate)),
    version: postingVersion(site, { key, fields }),
  };
}

/** Another one after each change of the posting, and on another site. */
export const postingVersion = (
  site: SiteName,
  { key, fields }: { readonly key: PostingKey; readonly fields: Fields },
): string => hash('sha256', JSON.stringify([site, key, contentHash(fields).toString('hex')]), 'hex').slice(0, 20);

/** Why a decision about another version of the posting is refused. */
export const otherVersion = (shown: string, now: string): string =>
  `the posting has changed since it was shown: version ${shown} was decided about, and it is version ${now} now; match the jobs again`;

function candidateOf(fields: Fields, { siteJobId, url, score, reasons, fields: shown }: FoundCandidate): ProposedJob {
  const differing = Object.entries(fields).filter(([name, value]) => fieldOf(shown, name) !== value);
  return {
    siteJobId,
    url,
    title: titleOf(shown) ?? null,
    score,
    reasons,
    differences: differing
      .slice(0, MOST_FIELDS)
      .map(([name, value]) => differenceOf(name, fieldOf(shown, name), value)),
    moreFields: Math.max(0, differing.length - MOST_FIELDS),
  };
}

function titleOf(fields: Fields): string | undefined {
  const title = fieldOf(fields, 'title');
  return title === undefined ? undefined : excerpt(title, MOST_OF_TITLE);
}
