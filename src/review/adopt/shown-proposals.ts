// Shows what the last matching of a feed found, page by page, and what has become of it since.
import type { FeedName, SiteJobId } from '../../posting/identifiers.ts';
import { ownedJobIds } from '../../store/change/candidate-owners.ts';
import {
  type AdoptRun,
  type ListedProposal,
  type ProposalKind,
  type ProposedJob,
  readAdoptRun,
  readProposals,
} from '../../store/mapping/adopt-proposals.ts';
import type { Queryable } from '../../store/postgres/database.ts';

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
  readonly show: ProposalKind;
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
