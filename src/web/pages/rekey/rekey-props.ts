// What the parts of the page of changed keys are told.
import type { FeedName } from '../../../posting/identifiers.ts';
import type { SuspectedPairs } from '../../../review/rekey/suspected-pairs.ts';
import type { Visit } from '../layout.tsx';

export interface RekeyProps {
  readonly visit: Visit;
  readonly feed: FeedName;
  /** `undefined`: no change of keys is suspected. */
  readonly pairs: SuspectedPairs | undefined;
  /** Why a decision was refused. */
  readonly alert?: string;
}

export interface SuspectedProps extends RekeyProps {
  readonly pairs: SuspectedPairs;
}
