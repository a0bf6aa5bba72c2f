// Builds the reason that is stored with a change from a kind and a sentence.
import type { Reason } from '../../plan/desired-change.ts';
import { toJsonb } from '../postgres/jsonb.ts';

export function changeReason(kind: string, message: string): string {
  const reason: Reason = { kind, message, problems: [{ message }] };
  return toJsonb(reason);
}
