// The schemas of what pages and API are told about changed keys.
import { z } from 'zod';
import { keyText } from '../../operations/scalars.ts';
import { postingKey } from '../../posting/identifiers.ts';
import { PAIR_KINDS } from '../../store/change/rekey/rekey-line.ts';

export const pairKindSchema = z.enum(PAIR_KINDS, `must be one of ${PAIR_KINDS.join(', ')}`).optional();

/** The place in the list at which a page ended. */
export const linePlaceSchema = z.strictObject({
  rank: z.int().min(0).max(9),
  length: z.int().min(0).max(1e6),
  named: keyText,
});

export const oldAndNewKey = z
  .strictObject({ key: keyText, old_key: keyText })
  .transform((keys) => ({ key: postingKey(keys.key), oldKey: postingKey(keys.old_key) }));
