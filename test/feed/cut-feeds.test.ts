// A feed that is cut at any byte, with any framing and compression, never counts as complete.
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { chosen, spread } from '../support/extent.ts';
import { openedForAll } from '../support/opened.ts';
import { isComplete, read } from './collect.ts';
import { type Framing, respond, serveRaw } from './raw-server.ts';

const ROOT_END = '</source>';
const feed = Buffer.from(
  '<?xml version="1.0" encoding="utf-8"?>\n<source><publisher>é</publisher>' +
    `<job id="1"><a><![CDATA[<b>]]></a></job><!-- x --><job id="2"/>${ROOT_END}\n\n`,
);
const middle = feed.indexOf('<job');
const bodies: Record<string, Buffer> = {
  plain: feed,
  gzip: gzipSync(feed),
  'two gzip members': Buffer.concat([gzipSync(feed.subarray(0, middle)), gzipSync(feed.subarray(middle))]),
};
/** At these last bytes a body is cut with each framing, also where it is cut at each other byte with one of them, or at one in three. */
const ALWAYS_CUT = 12;
const framings: readonly Framing[] = ['Content-Length', 'chunked', 'close-delimited'];

const server = openedForAll(() =>
  serveRaw((socket, path) => {
    const [, framing, body, cut] = path.split('/').map(decodeURIComponent);
    respond(socket, framing as Framing, bodies[body ?? ''] ?? feed, Number(cut));
  }),
);

const readCut = async (framing: string, body: string, cut: number) =>
  await read({ location: `${server.origin}/${framing}/${encodeURIComponent(body)}/${cut}` });

describe.each(framings)('%s', (framing) => {
  it.each(Object.keys(bodies))('%s, cut at every byte', async (name) => {
    const length = bodies[name]?.length ?? 0;
    const taken: number[] = [];
    const all = Array.from({ length }, (_, cut) => cut);
    // The last ones with each framing; the others with one, of which `npm test` tries some.
    const others = spread(all.slice(0, -ALWAYS_CUT), framings.indexOf(framing), framings.length);
    const cuts = [...chosen(others, (cut) => (cut >> 2) % 3 === 0), ...all.slice(-ALWAYS_CUT)];
    while (cuts.length > 0) {
      const batch = cuts.splice(0, 32);
      const results = await Promise.all(batch.map((cut) => readCut(framing, name, cut)));
      results.forEach(({ reading }, index) => {
        if (isComplete(reading)) taken.push(batch[index] ?? -1);
      });
    }
    // Without length and compression, only the closed root shows the end of a body, so cutting white space goes
    // unnoticed.
    const rootEnd = feed.indexOf(ROOT_END) + ROOT_END.length;
    const unprovable = framing === 'close-delimited' && name === 'plain' ? [rootEnd, rootEnd + 1] : [];
    expect(taken).toEqual(unprovable);
  });

  it.each(Object.keys(bodies))('%s, whole', async (name) => {
    const { reading, records } = await readCut(framing, name, 1e9);
    expect(reading).toMatchObject({ kind: 'read', shortfalls: [], records: 2, bytes: feed.length });
    expect(records).toEqual(['<job id="1"><a><![CDATA[<b>]]></a></job>', '<job id="2"/>']);
  });
});

it('a chunked body without its last chunk is incomplete, even if its document is whole', async () => {
  const raw = await serveRaw((socket) => {
    const chunk = `${feed.length.toString(16)}\r\n${feed.toString('latin1')}\r\n`;
    socket.end(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`, 'latin1');
  });
  const { reading, records } = await read({ location: raw.origin });
  expect(records).toHaveLength(2);
  expect(reading).toMatchObject({
    kind: 'read',
    shortfalls: [expect.stringMatching(/connection broke off before the end/)],
  });
  await raw.close();
});

it('a reset connection is not the end of a body without a length', async () => {
  let received = () => {};
  const raw = await serveRaw((socket) => {
    received = () => socket.resetAndDestroy();
    socket.write(
      `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${feed.toString('latin1')}${' '.repeat(2_000)}`,
      'latin1',
    );
  });
  const { reading } = await read({ location: raw.origin }, { onProgress: () => received() });
  expect(reading).toMatchObject({ kind: 'read', records: 2, shortfalls: [expect.stringMatching(/broke off/)] });
  await raw.close();
});
