// Indexes doubts by reference and title, so that each job of a long list is compared only with doubts that may be its own.
import { beginningsOf, cluesOf, likeness, referenceClues } from '../plan/match-doubt.ts';
import { type SiteJob, toCompare } from '../site/exchange.ts';
import type { CandidateStore } from './doubt-candidates.ts';
import type { Matching, OpenDoubt } from './open-doubt.ts';

export interface DoubtIndex {
  readonly all: readonly OpenDoubt[];
  readonly byReference: ReadonlyMap<string, readonly OpenDoubt[]>;
  readonly byTitle: ReadonlyMap<string, readonly OpenDoubt[]>;
  /** Doubts that sent no title: any job may be theirs. */
  readonly untitled: readonly OpenDoubt[];
}

export function indexDoubts(doubts: readonly OpenDoubt[], { referenceField, learnt }: Matching): DoubtIndex {
  const byReference = new Map<string, OpenDoubt[]>();
  const byTitle = new Map<string, OpenDoubt[]>();
  const untitled: OpenDoubt[] = [];
  const add = (index: Map<string, OpenDoubt[]>, clue: string, open: OpenDoubt): void => {
    for (const beginning of beginningsOf(clue)) {
      const others = index.get(beginning);
      if (others === undefined) index.set(beginning, [open]);
      else others.push(open);
    }
  };
  for (const open of doubts) {
    const { title } = cluesOf(open.fields, referenceField);
    for (const reference of referenceClues(open.fields, referenceField, learnt)) add(byReference, reference, open);
    if (title === undefined) untitled.push(open);
    else add(byTitle, title, open);
  }
  return { all: doubts, byReference, byTitle, untitled };
}

const MOST_OF_CLUE = 100;

/** Keeps a job of the list as a candidate of each doubt that it may belong to. */
export function collect(index: DoubtIndex, store: CandidateStore, siteJob: SiteJob, matching: Matching): void {
  const { referenceField } = matching;
  const compared = toCompare(siteJob);
  const { reference, title } = cluesOf(compared.fields, referenceField);
  const own = reference === undefined ? [] : (index.byReference.get(reference.slice(0, MOST_OF_CLUE)) ?? []);
  // A list entry with too few fields may match any doubt; the candidate limit bounds the cost.
  const titled =
    title === undefined ? undefined : [...(index.byTitle.get(title.slice(0, MOST_OF_CLUE)) ?? []), ...index.untitled];
  const possible = reference !== undefined ? new Set([...own, ...(titled ?? [])]) : new Set(titled ?? index.all);
  const likely = [...possible].filter((open) => !open.crowded && likeness(open, compared, matching) !== 'other');
  store.keep(siteJob, likely);
}
