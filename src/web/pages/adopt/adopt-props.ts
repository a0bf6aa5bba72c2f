// What the parts of the page of existing jobs are told.
import type { FeedName } from '../../../posting/identifiers.ts';
import type { ShownProposals } from '../../../review/adopt/shown-proposals.ts';
import type { AdoptRun, ProposalKind } from '../../../store/mapping/adopt-proposals.ts';
import type { Visit } from '../layout.tsx';

export interface AdoptProps {
  readonly visit: Visit;
  readonly feed: FeedName;
  readonly shown: ShownProposals;
  readonly show: ProposalKind;
  readonly after: number | undefined;
  /** Why a decision was refused. */
  readonly alert?: string;
}

/** A run has stored what it found. */
export interface MatchedProps extends AdoptProps {
  readonly run: AdoptRun & { readonly matchedAt: Date };
}
