// Turns a kind and a sentence into the reason that stands with a change.
import type { Reason } from '../../plan/desired-change.ts';
import { toJsonb } from '../postgres/jsonb.ts';

export function changeReason(kind: string, message: string): string {
  const reason: Reason = { kind, message, problems: [{ message }] };
  return toJsonb(reason);
}
