import { expect, test } from 'vitest';
import { feedName, postingKey } from '../../src/posting/identifiers.ts';
import type { QueuedPosting } from '../../src/queue/site-queue.ts';
import { rememberQueued } from '../../src/queue/still-queued.ts';

const posting = (key: string, feed = 'acme'): QueuedPosting => ({ feed: feedName(feed), key: postingKey(key) });
const postings = (keys: string) => [...keys].map((key) => posting(key));
const keysOf = (left: readonly QueuedPosting[]) => left.map(({ key }) => key).join('');

test('what was added waits as long as no more were worked off than stood before it', () => {
  const queued = rememberQueued(1);
  queued.added(postings('abcd'));
  expect(keysOf(queued.withoutThose(postings('abcde'), 4))).toBe('e');
  expect(keysOf(queued.withoutThose(postings('abcde'), 2))).toBe('abe');
  queued.added(postings('efg'));
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 5))).toBe('abh');
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 1))).toBe('abcdefh');
  expect(keysOf(queued.withoutThose(postings('abcdefgh'), 0))).toBe('abcdefgh');
});

test('one that was added again waits as the one that was added last', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  queued.added(postings('a'));
  expect(keysOf(queued.withoutThose(postings('ab'), 1))).toBe('b');
});

test('more in the queue than were added here, by others, hide nothing but what was added here', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  expect(keysOf(queued.withoutThose(postings('abc'), 1000))).toBe('c');
});

test('a batch waits as a whole, and one that is not full counts as one', () => {
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

test('nothing waits that was forgotten', () => {
  const queued = rememberQueued(1);
  queued.added(postings('ab'));
  queued.forget();
  expect(keysOf(queued.withoutThose(postings('ab'), 2))).toBe('ab');
});
