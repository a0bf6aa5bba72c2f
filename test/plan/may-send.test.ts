// Which ready changes may be sent: the table of `sendableCreates`, and what closes a feed or a site for every change.
import { expect, it } from 'vitest';
import { isSendable, type SendCircumstances, sendableCreates } from '../../src/plan/next-request.ts';

const ASKED = ['none', 'some', 'all'] as const;

it.each([
  [true, false, ['all', 'others', 'none']],
  [true, true, ['none', 'none', 'none']],
  [false, false, ['none', 'none', 'none']],
  [false, true, ['none', 'none', 'none']],
] as const)(
  'creates, with searched %s and a search due %s, as none, some or all are asked about',
  (isSearched, searchIsDue, expected) => {
    expect(ASKED.map((asked) => sendableCreates({ isSearched, searchIsDue, asked }))).toEqual(expected);
  },
);

const CREATE: SendCircumstances = {
  isSearched: true,
  searchIsDue: false,
  asked: 'none',
  desired: 'present',
  hasJob: false,
  isAsked: false,
  isRetired: false,
  isPaused: false,
  siteIsClosed: false,
};
const update = { hasJob: true };
const drop = { desired: 'absent' } as const;
it.each([
  ['a create', {}, true],
  ['a create of a feed that was not searched', { isSearched: false }, false],
  ['a create while a search is due', { searchIsDue: true }, false],
  ['a create that is asked about', { asked: 'some', isAsked: true }, false],
  ['a create beside those that are asked about', { asked: 'some' }, true],
  ['a create of a feed that is asked about', { asked: 'all', isAsked: true }, false],
  ['an update before the search', { ...update, isSearched: false, searchIsDue: true }, true],
  ['an update of a feed that is asked about', { ...update, asked: 'all', isAsked: true }, true],
  ['a delete before the search', { ...drop, isSearched: false, searchIsDue: true, asked: 'all', isAsked: true }, true],
  ['an update of a retired feed', { ...update, isRetired: true }, false],
  ['a create that a person has paused', { isPaused: true }, false],
  ['a delete that a person has paused', { ...update, ...drop, isPaused: true }, false],
  ['a delete at a closed site', { ...update, ...drop, siteIsClosed: true }, false],
] as const)('%s: %s', (_, circumstances, expected) => {
  expect(isSendable({ ...CREATE, ...circumstances })).toBe(expected);
});
