// The step `date`: time zones with their changes of the clock, and results that it leaves as they are.
import { expect, test } from 'vitest';
import { compileStateField } from '../../../src/posting/site-rules.ts';
import { compileDate, type DateStep } from '../../../src/posting/steps/step.ts';
import { sampleSpec, stateTable } from '../sample-spec.ts';

const readState = compileStateField(sampleSpec().stateField, stateTable);
const NEW_YORK = 'America/New_York';

test.each<[settings: Partial<DateStep>, text: string, result: string]>([
  [{}, '2026-01-02 10:00', '2026-01-02T10:00:00'],
  [{ order: 'day first' }, '1.10.26', '2026-10-01'],
  [{ zone: NEW_YORK }, '2026-01-02 10:00', '2026-01-02T15:00:00Z'],
  [{ zone: NEW_YORK }, '2026-07-02 10:00', '2026-07-02T14:00:00Z'],
  [{ zone: NEW_YORK }, '2026-07-02T10:00:00+02:00', '2026-07-02T08:00:00Z'],
  [{ zone: NEW_YORK }, '2026-07-02', '2026-07-02'],
  [{ zone: NEW_YORK, to: 'America/Los_Angeles' }, '2026-01-02 01:30', '2026-01-01T22:30:00-08:00'],
  [{ to: NEW_YORK, time: false }, '2026-01-02T03:00:00Z', '2026-01-01'],
  [{ to: 'Asia/Kolkata' }, '2026-01-02T03:00:00Z', '2026-01-02T08:30:00+05:30'],
  [{ time: false }, '2026-01-02 23:59', '2026-01-02'],
  [{ order: 'month first', zone: NEW_YORK }, '4/8/2012 9:05 PM', '2012-04-09T01:05:00Z'],
  [{ order: 'day first', time: false }, '4.8.2012', '2012-08-04'],
  // The clock skips 2:30 in spring, and shows 1:30 twice in autumn.
  [{ zone: NEW_YORK }, '2026-03-08 02:30', '2026-03-08T07:30:00Z'],
  [{ zone: NEW_YORK }, '2026-03-08 03:30', '2026-03-08T07:30:00Z'],
  [{ zone: NEW_YORK }, '2026-11-01 01:30', '2026-11-01T05:30:00Z'],
  [{ zone: NEW_YORK }, '2026-11-01 02:30', '2026-11-01T07:30:00Z'],
  [{ to: NEW_YORK }, '1762003800000', '2025-11-01T09:30:00-04:00'],
  // As programs write them without being told a form (docs/real-parts.md).
  [{}, 'Thu Oct 01 2026 09:30:00 GMT+0000 (Coordinated Universal Time)', '2026-10-01T09:30:00Z'],
  [{}, 'Thu Oct 01 2026 09:30:00 GMT+1000 (Australian Eastern Standard Time)', '2026-09-30T23:30:00Z'],
  [{}, 'Thu Oct 01 09:30:00 EDT 2026', '2026-10-01T13:30:00Z'],
  [{}, '/Date(1790861400000)/', '2026-10-01T13:30:00Z'],
  [{}, '/Date(1790861400000-0400)/', '2026-10-01T13:30:00Z'],
  [{}, '/Date(253402300799999)/', '9999-12-31T23:59:59Z'],
  [{}, '/Date(-1000-0400)/', '1969-12-31T23:59:59Z'],
  [{}, '2026-10-01T09:30-04:00[America/New_York]', '2026-10-01T13:30:00Z'],
  [{}, '2026-10-01T09:30Z[UTC]', '2026-10-01T09:30:00Z'],
  [{}, '2026/10/01', '2026-10-01'],
  [{ zone: NEW_YORK }, '2026/10/02 09:30:00', '2026-10-02T13:30:00Z'],
  [{}, '2026-10-01 13:30:00+00', '2026-10-01T13:30:00Z'],
  [{}, 'October 1, 2026', '2026-10-01'],
  [{}, 'Thursday, Oct. 1, 2026 9:30 PM', '2026-10-01T21:30:00'],
  [{ order: 'month first' }, '10/1/26', '2026-10-01'],
])('%j: %s', (settings, text, result) => {
  const step = compileDate({ kind: 'date', time: true, ...settings });
  expect(step.apply(text, readState)).toEqual({ kind: 'value', value: result });
  expect(step.apply(result, readState)).toEqual({ kind: 'value', value: result });
});

test.each([
  [{}, '4/8/2012', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  [{}, '10/1/26', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  [{}, 'Marketing 12, 2026', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  [{}, '/Date(-62135596800000)/', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  [{}, '2026/10-01', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  [{}, '2026-10-01T09:30[America/New_York]', 'is not a recognised date; dates such as 4/8/2012 need an order'],
  // It may begin with the year.
  [{ order: 'day first' as const }, '26-10-01', 'is not a recognised date; check its order of day and month'],
  [{ order: 'day first' as const }, '4/31/2012', 'is not a recognised date; check its order of day and month'],
])('refuses with %j: %s', (settings, text, message) => {
  const step = compileDate({ kind: 'date', time: true, ...settings });
  expect(step.apply(text, readState)).toEqual({ kind: 'refused', message });
});
