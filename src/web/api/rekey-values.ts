// The schemas of what pages and API are told about changed keys.
import { z } from 'zod';
import { postingKey } from '../../posting/identifiers.ts';
import { PAIR_KINDS } from '../../review/rekey/suspected-pairs.ts';
import { keyText } from './scalars.ts';

export const pairKindSchema = z.enum(PAIR_KINDS, `must be one of ${PAIR_KINDS.join(', ')}`).optional();

/** How many come before the page. */
export const startSchema = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a number')
  .transform(Number)
  .optional()
  .transform((from) => from ?? 0);

export const oldAndNewKey = z
  .strictObject({ key: keyText, old_key: keyText })
  .transform((keys) => ({ key: postingKey(keys.key), oldKey: postingKey(keys.old_key) }));
