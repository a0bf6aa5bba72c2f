// The line on which each record of a document begins, in every format and however the document is cut into chunks.
import { expect, it } from 'vitest';
import { LocalSplitting } from '../../src/feed/batch/start-splitting.ts';
import type { FormatName } from '../../src/feed/format/format-kinds.ts';

const LONG = 'x'.repeat(20_000);
const CASES: readonly (readonly [FormatName, string, string, readonly (number | undefined)[]])[] = [
  ['xml', 'jobs/job', '<jobs>\n<!--\n-->\n<job>\n<a/>\n</job><job/>\r\n\r\n  <job>\n</job>\n</jobs>', [4, 6, 8]],
  ['json', 'jobs', '{"a":1,\n"jobs":[\n{"id":\n1},\n\n{"id":2}, {"id":3}]}', [3, 6, 6]],
  ['jsonl', '', '{"id":1}\n\n{"id":2}\n{"id":3}\n', [1, 3, 4]],
  ['csv', '', 'id,text\n1,"a\nb"\n2,c\n\n3,d\n', [2, 4, 6]],
  ['xml', 'jobs/job', `<jobs>\n<job>${LONG}\n</job>\n<job>${LONG}</job>\n<job/>\n</jobs>`, [2, 4, 5]],
];

it.each(CASES)('%s %s', async (format, recordPath, text, expected) => {
  const bytes = Buffer.from(text);
  for (const size of [1, 7, 8192, bytes.length]) {
    if (size === 1 && bytes.length > 1000) continue;
    const lines: (number | undefined)[] = [];
    const handedOver: number[] = [];
    const sink = { take: ({ count }: { count: number }) => handedOver.push(count), drain: () => undefined };
    const options = { format, recordPath, totalPaths: [], maxRecordBytes: 1 << 20 };
    const splitting = new LocalSplitting(options, sink, (line) => lines.push(line));
    for (let at = 0; at < bytes.length; at += size) await splitting.push(bytes.subarray(at, at + size));
    const end = await splitting.endDocument(true);
    expect({ size, lines, shortfalls: end.shortfalls }).toEqual({ size, lines: expected, shortfalls: [] });
    expect(handedOver.reduce((sum, count) => sum + count, 0)).toBe(expected.length);
  }
});

it('begins again with each document, and does not know the line of an oversized record', async () => {
  const lines: (number | undefined)[] = [];
  const options = { format: 'xml', recordPath: 'jobs/job', totalPaths: [], maxRecordBytes: 10 } as const;
  const splitting = new LocalSplitting(options, { take: () => undefined, drain: () => undefined }, (line) =>
    lines.push(line),
  );
  for (const text of ['<jobs>\n\n<job/></jobs>', '<jobs>\n<job>much longer</job><job/></jobs>']) {
    await splitting.push(Buffer.from(text));
    await splitting.endDocument(true);
  }
  expect(lines).toEqual([3, undefined, 2]);
});
