// Whatever a site answers, reading it yields to the event loop: in slices, within limits, in linear time.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, vi } from 'vitest';
import { explainOtherContent } from '../../src/site/contradiction.ts';
import { readFailureIndicator } from '../../src/site/failure-indicator.ts';
import { createScrubber, createTokenRemover, REMOVED } from '../../src/site/http/scrub-exchange.ts';
import { readErrors } from '../../src/site/xml/problems.ts';
import { expandReferences } from '../../src/site/xml/references.ts';
import type { XmlElement } from '../../src/site/xml/xml-events.ts';
import { openXml } from '../../src/site/xml/xml-events.ts';
import { legibleText, MAX_LEGIBLE, readXml, readXmlInSlices } from '../../src/site/xml/xml-tree.ts';
import { countOf } from '../support/extent.ts';
import { anyTime, create, openClient, openSite, TOKEN } from './scripted-site.ts';

function countedPause() {
  const counted = { pauses: 0, pause: async () => void counted.pauses++ };
  return counted;
}
/** Maximum number of characters processed in one go. */
const IN_ONE_GO = 8 << 10;

describe('an answer is processed in parts, with a pause after each', () => {
  it.each([
    ['one text', `<error>${'word '.repeat(40_000)}</error>`],
    ['many texts', `<error>${'<![CDATA[a]]>b'.repeat(14_000)}</error>`],
    ['references', `<error>${'&#65;'.repeat(40_000)}</error>`],
    ['an attribute', `<error text="${'word '.repeat(40_000)}"/>`],
  ])('parsed, consisting of %s', async (_name, xml) => {
    const counted = countedPause();
    expect(await readXmlInSlices(xml, counted.pause)).toEqual(readXml(xml));
    expect(counted.pauses).toBeGreaterThanOrEqual(Math.floor(xml.length / IN_ONE_GO));
  });

  it.each([
    ['the token', `${TOKEN} `],
    ['a prefix of it', TOKEN.slice(0, -1)],
    ['its Base64', `${Buffer.from(`${TOKEN}:X`).toString('base64')} `],
    ['references', '&#65;'],
  ])('searched for the token, consisting of %s', async (_name, unit) => {
    const text = unit.repeat(60_000 / unit.length);
    const counted = countedPause();
    expect(await createTokenRemover(TOKEN).body(text, 1 << 20, counted.pause)).toBe(createScrubber(TOKEN)(text));
    expect(counted.pauses).toBeGreaterThanOrEqual(Math.floor(60_000 / IN_ONE_GO) - 1);
  });

  it('and the event loop keeps running while the client reads one', async () => {
    await using site = await openSite([422, {}, `<errors>${`<error>${TOKEN}</error>`.repeat(40_000)}</errors>`]);
    await using client = openClient(site.url);
    let loopTurns = 0;
    let done = false;
    const sent = Promise.all(Array.from({ length: 5 }, () => client.send(create, anyTime))).finally(() => {
      done = true;
    });
    while (!done) {
      await nextTurn();
      loopTurns++;
    }
    expect(new Set((await sent).map(({ outcome }) => outcome.kind))).toEqual(new Set(['rejected']));
    expect(loopTurns).toBeGreaterThan(10);
  });
});

it('a large job of a list is searched for the token in parts, and handed over once', async () => {
  const text = `${TOKEN.slice(0, -1)} `.repeat(20_000);
  await using site = await openSite([
    200,
    {},
    `<jobs total="1"><job><id>1</id><title>${text}${TOKEN}</title></job></jobs>`,
  ]);
  await using client = openClient(site.url, { listPath: '/jobs.xml' });
  const listed: (string | undefined)[] = [];
  const listing = client.list((siteJob) => void listed.push(siteJob.fields.title));
  expect((await listing).kind).toBe('listed');
  expect(listed[0]?.endsWith(REMOVED)).toBe(true);
  expect(listed).toHaveLength(1);
});

describe('a text of many parts', () => {
  it('is read before it ends', () => {
    const reading = openXml({ elements: 10, characters: 10_000 });
    for (const piece of ['<a>', 'b'.repeat(8_000)]) reading.write(piece);
    expect(() => reading.write('c'.repeat(5_000))).toThrow(/more than 10000 characters/);
  });

  it.each(['&#65;', '&#x10FFFF;', '&amp;', '&lt;a>', '&nbsp;', '& ', 'ab]] >'])(
    'keeps %s intact wherever it is split',
    async (unit) => {
      const { pause } = countedPause();
      // So long that it is read in slices.
      const many = unit.repeat(Math.ceil((9 * IN_ONE_GO) / unit.length));
      for (let before = 0; before < unit.length; before++) {
        const xml = `<a>${'.'.repeat(before)}${many}</a>`;
        const read = await readXmlInSlices(xml, pause);
        expect(read).toEqual(readXml(xml));
        expect(read).toMatchObject({
          content: ['.'.repeat(before) + expandReferences(many)],
        });
      }
    },
  );
});

describe('a token split across two parts', () => {
  const forms = [
    TOKEN,
    encodeURIComponent(TOKEN),
    Buffer.from(`${TOKEN}:X`).toString('base64'),
    [...TOKEN].map((character) => `&amp;#x${character.codePointAt(0)?.toString(16)};`).join(''),
  ];
  it.each(forms)('is removed wherever the split is: %s', async (form) => {
    const { body } = createTokenRemover(TOKEN);
    const { pause } = countedPause();
    const [first, last] = [IN_ONE_GO - form.length - 1, IN_ONE_GO + 1];
    // The token as it is at each place; `npm test` tries some of the others.
    for (let before = first; before <= last; before += form === TOKEN ? 1 : countOf(undefined, 1, 5)) {
      const text = `${'.'.repeat(before)}${form}${'.'.repeat(IN_ONE_GO)}`;
      expect(await body(text, 1 << 20, pause)).toBe(`${'.'.repeat(before)}${REMOVED}${'.'.repeat(IN_ONE_GO)}`);
    }
  });
});

describe('the work grows linearly with the size of an answer', () => {
  let reads = 0;
  const element = (name: string, content: XmlElement['content']): XmlElement => ({
    name,
    attributes: new Map(),
    get content() {
      reads++;
      return content;
    },
  });
  const many = (make: () => XmlElement): XmlElement[] => Array.from({ length: 1_900 }, make);

  it('errors within errors', () => {
    reads = 0;
    const [depth, width] = [90, 500];
    let root = element(
      'error',
      Array.from({ length: width }, () => element('b', ['bad'])),
    );
    for (let level = 0; level < depth; level++) root = element('error', [root]);
    expect(readErrors(root)).toHaveLength(100);
    expect(reads).toBeLessThan(20 * (depth + width));
  });

  it.each([
    [
      'errors',
      readErrors,
      () =>
        element(
          'errors',
          many(() => element('error', ['bad'])),
        ),
    ],
    [
      'messages',
      readErrors,
      () =>
        element('errors', [
          element(
            'messages',
            many(() => element('message', ['bad'])),
          ),
        ]),
    ],
    [
      'failures',
      readFailureIndicator,
      () =>
        element(
          'r',
          many(() => element('failure', ['bad'])),
        ),
    ],
  ])('of many %s only those that are reported are read', (_name, tell, build) => {
    const root = build();
    reads = 0;
    expect(tell(root)).toHaveLength(100);
    expect(reads).toBeLessThan(1_000);
  });

  it('a text at each of many depths is read only as far as it is reported', () => {
    let root = element('a', ['end']);
    for (let level = 0; level < 90; level++) root = element('a', [`${'word '.repeat(2_000)}`, root]);
    reads = 0;
    expect(legibleText(root)).toHaveLength(MAX_LEGIBLE);
    expect(reads).toBeLessThan(50);
  });

  it('a text of mostly white space is not cut too short', () => {
    const text = legibleText(element('r', [`${' \n x'.repeat(MAX_LEGIBLE)} error`]));
    expect(text).toHaveLength(MAX_LEGIBLE);
  });

  it('names and attributes have a length limit, because they are searched in one go', () => {
    const ofLength = (length: number): string[] => [
      `<job><${'a_'.repeat(length / 2)}/></job>`,
      `<job ${'a_'.repeat(length / 2)}=""/>`,
    ];
    for (const xml of ofLength(1_000)) expect(readXml(xml)?.name).toBe('job');
    for (const xml of ofLength(1_002)) expect(readXml(xml)).toBeUndefined();
    expect(readXml(`<job error="${'&#65;'.repeat(12_000)}"/>`)?.name).toBe('job');
    expect(readXml(`<job error="${'&#65;'.repeat(14_000)}"/>`)).toBeUndefined();
  });

  it('a long title or reference is compared only as far as it distinguishes jobs', () => {
    const shown = { fields: { title: `Nurse ${'x'.repeat(1 << 20)}`, number: `A1${'&amp;'.repeat(100_000)}` } };
    const compared: string[] = [];
    const form = vi.spyOn(String.prototype, 'normalize').mockImplementation(function (this: string) {
      compared.push(String(this));
      return String(this);
    });
    explainOtherContent(shown, { fields: { title: 'Nurse', number: 'B2' }, referenceField: 'number' });
    explainOtherContent(shown, { fields: { title: 'Welder' } });
    form.mockRestore();
    expect(compared.length).toBeGreaterThan(0);
    expect(Math.max(...compared.map((text) => text.length))).toBeLessThanOrEqual(4_000);
  });

  it('CDATA sections and comments do not split a text', () => {
    expect(readXml(`<a>${'b<!-- -->'.repeat(1000)}<![CDATA[c]]></a>`)?.content).toEqual([`${'b'.repeat(1000)}c`]);
  });

  it('attributes count like elements', () => {
    const many = `<a ${Array.from({ length: 450 }, (_, at) => `a${at}=""`).join(' ')}/>`;
    expect(readXml(`<job>${many.repeat(4)}</job>`)?.name).toBe('job');
    expect(readXml(`<job>${many.repeat(5)}</job>`)).toBeUndefined();
  });
});
