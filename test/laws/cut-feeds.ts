// Cuts feeds of random content at each kind of place, in each packing, as a broken transfer would.
import { constants, crc32, deflateRawSync } from 'node:zlib';
import { feedXml, posting, postings } from '../support/indeed-feed.ts';
import type { Random } from './random.ts';

export const PACKINGS = ['plain', 'gzip', 'two gzip members'] as const;
export type Packing = (typeof PACKINGS)[number];

/** The bytes of a whole feed as transferred, and the number of bytes that arrive. */
export interface CutFeed {
  readonly body: Buffer;
  readonly cut: number;
}

/** Where a feed is cut: inside a match of the pattern, between its first and its last byte. */
const PLACES_IN_XML: Readonly<Record<string, RegExp>> = {
  'the declaration': /<\?xml[^>]*\?>/g,
  'a name': /<[a-z]{3,}/g,
  'a tag': /<\/[a-z]+>/g,
  'an attribute': /note="[^"]*"/g,
  'a CDATA section': /<!\[CDATA\[[^\]]*\]\]>/g,
  'the end of a CDATA section': /\]\]>/g,
  'an entity': /&[a-z#0-9]+;/g,
  'a character of several bytes': /[\xc3-\xf4][\x80-\xbf]+/g,
  'a text': />[A-Za-z ]{4,}</g,
  'a comment': /<!-- [^>]* -->/g,
  'the space between two records': /<\/job>\s+<job/g,
  'the space after the last record': /<\/job>\s+<\/source/g,
  'the end tag of the root': /<\/source>/g,
};

/** The last place; a plain feed without an announced end counts as whole there. */
export const AFTER_ROOT = 'after the root';

const PLACES_IN_GZIP = ['the header', 'the trailer'] as const;
const PLACES_BETWEEN_MEMBERS = ['between the members', 'the first header', 'the first trailer'] as const;

/** All kinds of places for a packing. */
export function placesOf(packing: Packing): readonly string[] {
  return [
    'the first byte',
    ...Object.keys(PLACES_IN_XML),
    AFTER_ROOT,
    ...(packing === 'plain' ? [] : PLACES_IN_GZIP),
    ...(packing === 'two gzip members' ? PLACES_BETWEEN_MEMBERS : []),
  ];
}

/** A different feed each time: fewer postings than `p1` to `p12`, in another order, some changed, one new. */
export function cutFeed(packing: Packing, place: string, random: Random): CutFeed {
  const xml = randomXml(random);
  const { body, members } = pack(xml, packing, undefined, random);
  const [first, last] = [members[0], members.at(-1)] as [Member, Member];
  switch (place) {
    case 'the first byte':
      return { body, cut: 0 };
    case 'the header':
      return { body, cut: last.start + 1 + random.number(HEADER.length - 1) };
    case 'the trailer':
      return { body, cut: last.end - 1 - random.number(8) };
    case 'between the members':
      return { body, cut: first.end };
    case 'the first header':
      return { body, cut: 1 + random.number(HEADER.length - 1) };
    case 'the first trailer':
      return { body, cut: first.end - 1 - random.number(8) };
    default:
      return pack(xml, packing, offsetIn(xml, place, random), random);
  }
}

function randomXml(random: Random): Buffer {
  const kept = random.some(postings(12), 1 + random.number(11));
  const changed = kept.map((each) =>
    random.chance(70)
      ? each
      : {
          ...each,
          title: `Nurse & cook ${random.number(9)} €`,
          description: '<p>x</p>'.repeat(1 + random.number(2_000)),
        },
  );
  const xml = feedXml([...changed, posting('new')])
    .replaceAll('<job>', '<job note="R&amp;D – é">')
    .replaceAll('<city>Boston', '<city>Bo&#115;ton &amp; Zürich 😀')
    .replace('<publisher>', '<!-- made for you – today --><publisher>');
  return Buffer.from(`${xml}<!-- the end -->\n`);
}

/** Number of bytes of the XML that arrive. */
function offsetIn(xml: Buffer, place: string, random: Random): number {
  // One character per byte, so that offsets in the text are offsets in the bytes.
  const text = xml.toString('latin1');
  const rootEnd = text.lastIndexOf('</source>') + '</source>'.length;
  if (place === AFTER_ROOT) return rootEnd + random.number(xml.length - rootEnd);
  const pattern = PLACES_IN_XML[place];
  if (pattern === undefined) throw new Error(`no such place: ${place}`);
  const found = random.pick([...text.slice(0, rootEnd).matchAll(pattern)]);
  return found.index + 1 + random.number(found[0].length - 1);
}

interface Member {
  readonly start: number;
  readonly end: number;
}

/** RFC 1952, 2.3: deflate, no flags, no time, unknown operating system. */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** Compresses, and cuts so that exactly `offset` bytes can be decompressed. */
function pack(
  xml: Buffer,
  packing: Packing,
  offset: number | undefined,
  random: Random,
): CutFeed & { readonly members: readonly Member[] } {
  if (packing === 'plain') return { body: xml, cut: offset ?? 0, members: [{ start: 0, end: xml.length }] };
  const rootEnd = xml.lastIndexOf('</source>');
  const split = packing === 'gzip' ? xml.length : 1 + random.number(rootEnd - 1);
  const parts = [xml.subarray(0, split), xml.subarray(split)].filter((part) => part.length > 0);
  const pieces: Buffer[] = [];
  const members: Member[] = [];
  let [read, written, cut] = [0, 0, 0];
  const add = (piece: Buffer) => {
    pieces.push(piece);
    written += piece.length;
  };
  for (const part of parts) {
    const start = written;
    const within = offset === undefined ? -1 : offset - read;
    add(HEADER);
    if (within >= 0 && within < part.length) {
      add(deflateRawSync(part.subarray(0, within), { finishFlush: constants.Z_SYNC_FLUSH }));
      cut = written;
      add(deflateRawSync(part.subarray(within)));
    } else {
      add(deflateRawSync(part));
    }
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(crc32(part), 0);
    trailer.writeUInt32LE(part.length, 4);
    add(trailer);
    members.push({ start, end: written });
    read += part.length;
  }
  return { body: Buffer.concat(pieces), cut, members };
}
