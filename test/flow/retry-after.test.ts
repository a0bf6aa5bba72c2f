// How long the site asks to wait (RFC 9110, 10.2.3).
import { expect, it } from 'vitest';
import { readRetryAfter } from '../../src/flow/retry.ts';

const now = Date.parse('2024-03-01T10:00:00Z');
const dateOfAnswer = 'Fri, 01 Mar 2024 09:00:00 GMT';

it.each([
  ['seconds', '120', undefined, 120_000],
  ['zero', '0', undefined, 0],
  ['blanks', ' 5 ', undefined, 5000],
  ['above one hour', '86400', undefined, 3_600_000],
  ['more digits than a number has', '9'.repeat(400), undefined, 3_600_000],
  ['a date by our clock', 'Fri, 01 Mar 2024 10:00:10 GMT', undefined, 10_000],
  ["a date by the site's clock", 'Fri, 01 Mar 2024 09:00:20 GMT', dateOfAnswer, 20_000],
  ['an old form of date', 'Friday, 01-Mar-24 10:00:10 GMT', undefined, 10_000],
  ['a date that has passed', 'Fri, 01 Mar 2024 08:00:00 GMT', undefined, 0],
  ['a date beyond one hour', 'Sat, 02 Mar 2024 10:00:00 GMT', undefined, 3_600_000],
  ['an unreadable Date beside it', 'Fri, 01 Mar 2024 10:00:10 GMT', 'x', 10_000],
  ['negative', '-5', undefined, undefined],
  ['a fraction', '1.5', undefined, undefined],
  ['words', 'soon', undefined, undefined],
  ['empty', '', undefined, undefined],
  ['absent', undefined, undefined, undefined],
])('%s', (_name, header, date, expected) => expect(readRetryAfter(header, date, now)).toBe(expected));
