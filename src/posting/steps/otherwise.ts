// What becomes of a text for which a step has no result.
import { accepted, refused, type Transformed } from '../transforms.ts';

export const OTHERWISE = ['reject', 'keep', 'default'] as const;

/** `default`: the field's default, or nothing. */
export type Otherwise = (typeof OTHERWISE)[number];

/** @param why continues the sentence after the text: "is not …". */
export function withoutResult(text: string, otherwise: Otherwise, why: string): Transformed {
  switch (otherwise) {
    case 'reject':
      return refused(why);
    case 'keep':
      return accepted(text);
    case 'default':
      return accepted('');
  }
}
