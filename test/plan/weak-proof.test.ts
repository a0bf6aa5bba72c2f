// Which answers of a source cannot be the same one from a cache.
import { describe, expect, it } from 'vitest';
import { type AnswerMark, keptMarks, weakPullOf } from '../../src/plan/source-faults.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

describe('a weakly proven pull', () => {
  it.each<[string, AnswerMark, AnswerMark, number, 'repeated' | 'another']>([
    ['without any mark', {}, {}, 10 * SECOND, 'repeated'],
    ['without any mark, an hour later', {}, {}, HOUR, 'another'],
    ['with the same marks, an hour later', { etag: 'a' }, { etag: 'a' }, HOUR, 'another'],
    ['almost an hour later', {}, {}, HOUR - 1, 'repeated'],
    ['with another ETag', { etag: 'a' }, { etag: 'b' }, 0, 'another'],
    ['with an ETag that another server adds', {}, { etag: 'b' }, 0, 'repeated'],
    ['with another Last-Modified', { lastModified: 'a' }, { lastModified: 'b' }, 0, 'another'],
    ['as old as the time that has passed', { age: 5 }, { age: 65 }, 60 * SECOND, 'repeated'],
    ['as old, but read slowly', { age: 5 }, { age: 100 }, 60 * SECOND, 'repeated'],
    ['younger', { age: 50 }, { age: 49 }, 60 * SECOND, 'another'],
    ['older than it can be', { age: 5 }, { age: 500 }, 60 * SECOND, 'another'],
    ['whose age nobody says', { age: 50 }, {}, 60 * SECOND, 'repeated'],
  ])('%s', (_, before, now, agoMs, expected) => {
    expect(weakPullOf({ marks: [before], agoMs }, [now])).toBe(expected);
  });

  it('is the first one if none has counted before', () => {
    expect(weakPullOf(undefined, [{ etag: 'a' }])).toBe('first');
  });

  it('is the first one if the one before was noted in the future, by a clock that was ahead', () => {
    expect(weakPullOf({ marks: [{}], agoMs: -HOUR }, [{}])).toBe('first');
  });

  it('of several documents is another one only if each of them is', () => {
    const former = { marks: [{ etag: 'a' }, { etag: 'x' }], agoMs: 0 };
    expect(weakPullOf(former, [{ etag: 'b' }, { etag: 'x' }])).toBe('repeated');
    expect(weakPullOf(former, [{ etag: 'b' }])).toBe('repeated');
    expect(weakPullOf(former, [{ etag: 'b' }, { etag: 'y' }])).toBe('another');
  });

  it('of very many documents is compared by the time alone', () => {
    const marks = Array.from({ length: 100 }, () => ({ etag: 'a' }));
    expect(keptMarks(marks)).toEqual([]);
    expect(
      weakPullOf(
        { marks: keptMarks(marks), agoMs: 0 },
        marks.map(() => ({ etag: 'b' })),
      ),
    ).toBe('repeated');
  });
});
