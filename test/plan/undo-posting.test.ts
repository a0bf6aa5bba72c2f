// What undoing a pull does about one posting, line by line of the table of `undoPosting`.
import { describe, expect, it } from 'vitest';
import { contentBefore, type UndoneSubject, undoPosting } from '../../src/plan/undo-posting.ts';
import { contentHash } from '../../src/posting/hash.ts';

const OLD = { title: 'Nurse', city: 'Boston' };
const NEW = { title: 'Wrong', city: 'Boston' };
const present = (fields: Readonly<Record<string, string>>) =>
  ({ kind: 'present', fields, contentHash: contentHash(fields) }) as const;
const has = (fields: Readonly<Record<string, string>>, uncertain = false) => ({
  contentHash: contentHash(fields),
  uncertain,
});
const ABSENT = { kind: 'absent' } as const;
const UNKNOWN = { kind: 'unknown' } as const;

const QUIET: UndoneSubject = {
  before: present(OLD),
  actual: has(NEW),
  accepted: true,
  foundInDoubt: false,
  attempting: false,
  changedSince: false,
};

describe('undoPosting', () => {
  it.each<[string, Partial<UndoneSubject>, object]>([
    ['updated', {}, { kind: 'restore', operation: 'update', fields: OLD }],
    ['updated, and set back by hand', { actual: has(OLD) }, { kind: 'withdraw' }],
    ['updated, and uncertain', { actual: has(OLD, true) }, { kind: 'restore', operation: 'update' }],
    ['updated, with a further request in flight', { actual: has(OLD), attempting: true }, { kind: 'restore' }],
    ['deleted', { actual: undefined }, { kind: 'restore', operation: 'create', fields: OLD }],
    ['deleted or updated, with unknown content', { before: UNKNOWN }, { kind: 'left_out', why: 'content_unknown' }],
    ['created', { before: ABSENT }, { kind: 'delete' }],
    ['found for a create in doubt', { foundInDoubt: true }, { kind: 'left_out', why: 'found_in_doubt' }],
    ['created, and gone since', { before: ABSENT, actual: undefined }, { kind: 'withdraw' }],
    [
      'a create in flight or in doubt',
      { before: ABSENT, actual: undefined, accepted: false, attempting: true },
      { kind: 'delete' },
    ],
    ['an update in flight', { actual: has(OLD), accepted: false, attempting: true }, { kind: 'restore', fields: OLD }],
    ['an update of unknown outcome', { actual: has(OLD, true), accepted: false }, { kind: 'restore', fields: OLD }],
    [
      'a delete in flight of a job with unknown content',
      { before: UNKNOWN, accepted: false, attempting: true },
      { kind: 'left_out', why: 'content_unknown' },
    ],
    ['an update that waits', { actual: has(OLD), accepted: false }, { kind: 'withdraw' }],
    ['an update that waits, of unknown content', { before: UNKNOWN, accepted: false }, { kind: 'withdraw' }],
    ['a create that waits', { before: ABSENT, actual: undefined, accepted: false }, { kind: 'withdraw' }],
    ['changed since', { changedSince: true }, { kind: 'left_out', why: 'changed_since' }],
    ['created, and changed since', { before: ABSENT, changedSince: true }, { kind: 'left_out', why: 'changed_since' }],
  ])('%s', (_, subject, step) => {
    expect(undoPosting({ ...QUIET, ...subject })).toMatchObject(step);
  });
});

describe('contentBefore', () => {
  const changed = (fields: Record<string, string | null>) => ({ fields, whole: false });
  const ended = (fields: Record<string, string | null>) => ({ fields, whole: true });
  it.each([
    ['an update', [changed({ title: 'Nurse' })], NEW, OLD],
    ['an update that added a field', [changed({ city: null })], NEW, { title: 'Wrong' }],
    [
      'two updates, newest first',
      [changed({ city: 'Salem' }), changed({ title: 'Nurse' })],
      NEW,
      { title: 'Nurse', city: 'Salem' },
    ],
    ['a delete', [ended(OLD)], undefined, OLD],
    ['an update, then a job that was gone', [ended(NEW), changed({ title: 'Nurse' })], { title: 'created again' }, OLD],
    ['an update of unknown content', [{ fields: undefined, whole: false }], NEW, undefined],
    ['an update of a job whose content is not known now', [changed({ title: 'Nurse' })], undefined, undefined],
    ['nothing', [], NEW, NEW],
  ])('%s', (_, requests, now, before) => {
    expect(contentBefore(requests, now)).toEqual(before);
  });
});
