// Open changes of postings with unreadable records: the rule's cases, for the function and for the SQL that applies it.
import type { ProtectedChange, UnreadableChange } from '../../src/plan/match-unreadable.ts';

const KNOWN = { uncertain: false, contentKnown: true } as const;
const ADOPTED = { uncertain: false, contentKnown: false } as const;
const absent = { desired: 'absent', attempt: undefined } as const;
const present = { desired: 'present', attempt: undefined } as const;

export const protectedCases: readonly (readonly [UnreadableChange, ProtectedChange])[] = [
  [{ ...present, ...KNOWN }, 'kept'],
  [{ ...present, ...ADOPTED }, 'kept'],
  [{ ...present, ...KNOWN, uncertain: true }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'create' }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'update' }, 'kept'],
  [{ ...present, ...KNOWN, attempt: 'delete' }, 'kept'],
  [{ ...absent, ...KNOWN, attempt: 'create' }, 'as_sent'],
  [{ ...absent, ...ADOPTED, attempt: 'create' }, 'as_sent'],
  [{ ...absent, ...KNOWN, attempt: 'update' }, 'as_sent'],
  [{ ...absent, ...ADOPTED, attempt: 'update' }, 'as_sent'],
  [{ ...absent, ...KNOWN, attempt: 'update', uncertain: true }, 'as_sent'],
  [{ ...absent, ...KNOWN }, 'dropped'],
  [{ ...absent, ...ADOPTED }, 'dropped'],
  [{ ...absent, ...KNOWN, uncertain: true }, 'restored'],
  [{ ...absent, ...ADOPTED, uncertain: true }, 'held'],
  [{ ...absent, ...KNOWN, attempt: 'delete' }, 'restored'],
  [{ ...absent, ...ADOPTED, attempt: 'delete' }, 'held'],
  [{ ...absent, ...KNOWN, attempt: 'delete', uncertain: true }, 'restored'],
  [{ ...absent, ...ADOPTED, attempt: 'delete', uncertain: true }, 'held'],
];
