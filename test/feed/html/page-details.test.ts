// Pages as the details of postings: their JSON-LD, or the JSON in one of their scripts.
import { expect, test } from 'vitest';
import { compileDetailReader, type DetailAnswer } from '../../../src/feed/detail-record.ts';
import type { DetailsConfig } from '../../../src/feed/source/sources.ts';

const readText = (document: Partial<DetailsConfig['document']>, text: string, answer?: DetailAnswer) =>
  compileDetailReader(
    {
      document: { format: 'json-ld', recordPath: '', lenient: false, ...document },
      name: 'detail',
      match: [],
    } as Partial<DetailsConfig> as DetailsConfig,
    undefined,
  )({ loc: 'https://a.example/1' }, Buffer.from(text), answer);
const read = (document: Partial<DetailsConfig['document']>, ...body: readonly string[]) =>
  readText(document, `<html><title>Jobs</title>${body.join('')}</html>`);
const ld = (...titles: readonly string[]): string =>
  `<script type="application/ld+json">${JSON.stringify(titles.map((title) => ({ '@type': 'JobPosting', title })))}</script>`;

test('the JobPosting of a page is added to its entry', () => {
  const canonical = '<link rel="canonical" href="https://a.example/one">';
  expect(read({}, canonical, ld('Nurse'), ld('Nurse'))).toMatchObject({
    kind: 'record',
    tree: { loc: 'https://a.example/1', detail: { title: 'Nurse', page: { address: 'https://a.example/one' } } },
  });
});

test('so is the JSON of a script', () => {
  const script = { attributes: { id: 'x' } };
  expect(
    read({ format: 'html', script, recordPath: 'job' }, '<script id="x">{"job": {"a": "b"}}</script>'),
  ).toMatchObject({
    tree: { detail: { a: 'b' } },
  });
});

test.each([
  ['no posting', {}, '<h1>Sorry</h1>', /the page has no JobPosting in JSON-LD; the page's title is "Jobs"/],
  ['several postings', {}, ld('Nurse', 'Cook'), /2 different JobPostings, instead of one/],
  ['a broken posting', {}, ld('Nurse').replace('"Nurse"', '"Nu"rse"'), /not well-formed/],
])('a page with %s is refused', (_, document, body, message) => {
  expect(read(document, body)).toMatchObject({ kind: 'failed', message: expect.stringMatching(message) });
});

test.each(['[]', '[[]]', '{}'])('so is a JSON document without a posting, such as %s', (text) => {
  expect(readText({}, text)).toMatchObject({ kind: 'failed', message: expect.stringMatching(/no JobPosting/) });
  expect(readText({ acceptsEmptyPages: true }, text)).toMatchObject({ tree: { detail: { page: { empty: 'true' } } } });
});

test('a page without a posting is empty, where that is normal', () => {
  expect(read({ acceptsEmptyPages: true }, '<h1>Filled</h1>')).toMatchObject({
    kind: 'record',
    tree: { detail: { page: { empty: 'true' } } },
  });
});

test('but not if the page may have been cut before its posting', () => {
  const cut = { isEndProven: false };
  expect(readText({ acceptsEmptyPages: true }, '<html><h1>Nur', cut)).toEqual({
    kind: 'failed',
    message: expect.stringMatching(/the page may have been cut: it does not end with <\/html>/),
  });
  expect(readText({ acceptsEmptyPages: true }, '<html><h1>Filled</h1></html>', cut).kind).toBe('record');
  expect(readText({}, `<html>${ld('Nurse')}</html>`, cut).kind).toBe('record');
});

test('a page that a redirect has led to counts only if it states the address that was requested', () => {
  const text = (address: string) => `<html><link rel="canonical" href="${address}">${ld('Nurse')}</html>`;
  const answer = { redirected: { from: 'https://a.example/1', to: 'https://a.example/2' }, isEndProven: true };
  expect(readText({}, text('https://a.example/1'), answer).kind).toBe('record');
  expect(readText({}, text('https://a.example/2'), answer)).toEqual({
    kind: 'failed',
    message: expect.stringMatching(/redirected to https:\/\/a\.example\/2, which may be another posting's/),
  });
});
