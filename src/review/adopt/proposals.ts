// Writes down what a matching found for a posting, and shows what the last one found, page by page, with what has become of it since.

import { hash } from 'node:crypto';
import type { Certainty } from '../../plan/adopt/judge-candidates.ts';
import { fieldOf } from '../../plan/same-value.ts';
import { contentHash } from '../../posting/hash.ts';
import type { FeedName, PostingKey, SiteJobId, SiteName } from '../../posting/identifiers.ts';
import type { Fields } from '../../posting/posting.ts';
import { excerpt } from '../../posting/xml-characters.ts';
import { ownedJobIds } from '../../store/change/candidate-owners.ts';
import {
  type AdoptRun,
  type FoundCandidate,
  type FoundMatch,
  type JobProposal,
  type ListedProposal,
  type ProposedJob,
  readAdoptRun,
  readProposals,
} from '../../store/mapping/adopt-proposals.ts';
import type { Queryable } from '../../store/postgres/database.ts';
import { differenceOf } from '../pulled-changes.ts';

export interface ShownCandidateJob extends ProposedJob {
  /** A posting has it by now, or it is about to be deleted. */
  readonly owned: boolean;
}

export interface ShownProposal extends ListedProposal {
  readonly candidates: readonly ShownCandidateJob[];
}

export interface ShownProposals {
  /** `undefined`: nobody has started one. */
  readonly run: AdoptRun | undefined;
  readonly items: readonly ShownProposal[];
  /** The number after which the next page begins; `undefined`: nothing follows. */
  readonly next: number | undefined;
}

export interface ProposalPage {
  readonly show: Certainty;
  readonly after: number;
  readonly limit: number;
}

export async function shownProposals(
  db: Queryable,
  feed: FeedName,
  { show, after, limit }: ProposalPage,
): Promise<ShownProposals> {
  const run = await readAdoptRun(db, feed);
  if (run?.matchedSite == null) return { run, items: [], next: undefined };
  const found = await readProposals(db, feed, { show, after, limit: limit + 1 });
  const page = found.slice(0, limit);
  const ids = page.flatMap(({ candidates }) => candidates.map(({ siteJobId }) => siteJobId));
  const owned: ReadonlySet<SiteJobId> = ids.length === 0 ? new Set() : await ownedJobIds(db, run.matchedSite, ids);
  const items = page.map((proposal) => ({
    ...proposal,
    candidates: proposal.candidates.map((each) => ({ ...each, owned: owned.has(each.siteJobId) })),
  }));
  return { run, items, next: found.length > limit ? page.at(-1)?.n : undefined };
}

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
