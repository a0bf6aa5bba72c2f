import { expect, test } from 'vitest';
import { feedName, type PostingRef, postingKey } from '../../src/posting/identifiers.ts';
import { rememberQueued } from '../../src/queue/dispatcher.ts';

const posting = (key: string, feed = 'acme'): PostingRef => ({ feed: feedName(feed), key: postingKey(key) });
const postings = (keys: string) => [...keys].map((key) => posting(key));
const keysOf = (left: readonly PostingRef[]) => left.map(({ key }) => key).join('');

test('a posting is queued until more queue jobs were taken than were ahead of it', () => {
  const queued = rememberQueued(1);
  queued.added(postings('abcd'));
  expect(keysOf(queued.withoutThose(postings('abcde'), 4))).toBe('e');
  expect(keysOf(queued.withoutThose(postings('abcde'), 2))).toBe('abe');
  queued.added(postings('efg'));
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 5))).toBe('abh');
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 1))).toBe('abcdefh');
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 0))).toBe('abcdefgh');
});

test('a posting that was added again counts from its last position', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  queued.added(postings('a'));
  expect(keysOf(queued.withoutThose(postings('ab'), 1))).toBe('b');
});

test('queue jobs added by others hide only postings that were added here', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  expect(keysOf(queued.withoutThose(postings('abc'), 1000))).toBe('c');
});

test('a batch is queued as a whole, and a partial batch counts as one', () => {
  const queued = rememberQueued(3);
  queued.added(postings('abcd'));
  queued.added(postings('e'));
  expect(keysOf(queued.withoutThose(postings('abcdef'), 3))).toBe('f');
  expect(keysOf(queued.withoutThose(postings('abcdef'), 2))).toBe('abcf');
  expect(keysOf(queued.withoutThose(postings('abcdef'), 1))).toBe('abcdf');
});

test('the same key of another feed is another posting', () => {
  const queued = rememberQueued(1);
  queued.added([posting('a')]);
  expect(queued.withoutThose([posting('a', 'other')], 1)).toEqual([posting('a', 'other')]);
});

test('forgotten postings do not count as queued', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  queued.forget();
  expect(keysOf(queued.withoutThose(postings('ab'), 2))).toBe('ab');
});
