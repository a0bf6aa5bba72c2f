// What a source is sent in secret is removed from its records in each form, and nothing else is.
import { describe, expect, it } from 'vitest';
import type { HttpConfig } from '../../src/feed/source/http/http-config.ts';
import { secretMask } from '../../src/feed/source/secret-mask.ts';
import { credentialsMask, type SecretMask, type SingleConfig } from '../../src/feed/source/sources.ts';
import type { RecordTree } from '../../src/posting/posting.ts';

const SECRET = 'K3y/of+the&feed<7>?="x"';
const secret = (text: string) => ({ reveal: () => text });

const web = (settings: Partial<HttpConfig>): HttpConfig => ({
  kind: 'http',
  url: 'https://api.example.com/jobs',
  headers: {},
  accept: '*/*',
  maxRedirects: 0,
  allowPrivateRedirects: false,
  ...settings,
});

function maskOf(...texts: readonly string[]): SecretMask {
  const secrets = texts.map((text) => ({ text }));
  return secretMask([() => secrets]) as SecretMask;
}

const byCharacter = (text: string, form: (code: number) => string): string =>
  [...text].map((character) => form(character.codePointAt(0) as number)).join('');
const hex = (code: number, digits: number): string => code.toString(16).padStart(digits, '0');

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const FORMS: Readonly<Record<string, string>> = {
  plain: SECRET,
  'URL-encoded': encodeURIComponent(SECRET),
  'URL-encoded in lower case': encodeURIComponent(SECRET).replace(/%../g, (octet) => octet.toLowerCase()),
  'URL-encoded twice': encodeURIComponent(encodeURIComponent(SECRET)),
  'URL-encoded entirely': byCharacter(SECRET, (code) => `%${hex(code, 2)}`),
  'form-encoded': new URLSearchParams({ x: SECRET }).toString().slice(2),
  'in XML': xml(SECRET),
  'in XML twice': xml(xml(SECRET)),
  'as decimal references': byCharacter(SECRET, (code) => `&#${code};`),
  'as hexadecimal references': byCharacter(SECRET, (code) => `&#x${hex(code, 2)};`),
  'in JSON': JSON.stringify(SECRET).slice(1, -1),
  'in JSON twice': JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  'in JSON entirely': byCharacter(SECRET, (code) => `\\u${hex(code, 4)}`),
  'in Base64': Buffer.from(SECRET).toString('base64'),
  'in Base64 for URLs': Buffer.from(SECRET).toString('base64url'),
  'in Base64 as password': Buffer.from(`user:${SECRET}`).toString('base64'),
  'in Base64 as user': Buffer.from(`${SECRET}:X`).toString('base64'),
  'in Base64 of a longer text': Buffer.from(`{"key":"${SECRET}"}`).toString('base64'),
  'in Base64 in an address': encodeURIComponent(Buffer.from(SECRET).toString('base64')),
  'in hexadecimal': Buffer.from(SECRET).toString('hex'),
  'in upper case hexadecimal': Buffer.from(SECRET).toString('hex').toUpperCase(),
  'in lower case': SECRET.toLowerCase(),
};

describe('a long secret', () => {
  const mask = maskOf(SECRET);

  it.each(Object.entries(FORMS))('is found %s', (_, form) => {
    const text = `https://api.example.com/?a=1&key=${form}&b=2`;
    expect(mask.mayHold(Buffer.from(`{"self":"${text}"}`))).toBe(true);
    const masked = mask.text(text);
    expect(masked).toContain('[secret]');
    expect(masked).not.toContain(form);
    expect(masked.startsWith('https://api.example.com/?a=1')).toBe(true);
  });

  it('is found in CSV, where quotes are doubled, and across a CDATA section of XML', () => {
    expect(mask.mayHold(Buffer.from(`"${SECRET.replaceAll('"', '""')}",1\n`))).toBe(true);
    expect(mask.mayHold(Buffer.from('<![CDATA[K3y/of+t]]><![CDATA[he&feed<7>?="x"]]>'))).toBe(true);
  });

  it('is found in each text of a record, and in its names', () => {
    const tree = Object.assign(Object.create(null), {
      a: [SECRET, 'x'],
      [SECRET]: { b: `see ${SECRET}` },
    }) as RecordTree;
    expect(JSON.stringify(mask.tree(tree))).toBe('{"a":["[secret]","x"],"[secret]":{"b":"see [secret]"}}');
  });

  it('costs a record without it no new tree, and is not looked for in most records', () => {
    const tree: RecordTree = { title: 'Feed manager', list: ['of the', 'key'] };
    expect(mask.tree(tree)).toBe(tree);
    const plain = '{"title":"Nurse, 50% &amp; more","url":"https://x.example/?a=b%20c%2Fd","at":"caf\\u00e9 &#8217;"}';
    expect(mask.mayHold(Buffer.from(plain))).toBe(false);
  });

  it('that is a number leaves JSON that can be read', () => {
    const text = maskOf('1234567890').text(
      '{"key":1234567890,"list":[1234567890],"text":"1234567890","other":12345678901}',
    );
    expect(JSON.parse(text)).toMatchObject({ key: '[secret]', list: ['[secret]'], text: '[secret]' });
  });
});

describe('a short secret', () => {
  const mask = credentialsMask(web({ credentials: { query: { name: 'k', value: secret('nurse') } } }));

  it('is removed where it is a credential, and nowhere else', () => {
    expect(mask?.text('A nurse for https://x.example/nurse?k=nurse&q=nurse')).toBe(
      'A nurse for https://x.example/nurse?k=[secret]&q=nurse',
    );
    expect(mask?.text('{"api_key":"nurse","title":"nurse"}')).toBe('{"api_key":"[secret]","title":"nurse"}');
    const tree: RecordTree = { k: 'nurse', title: 'nurse', sent: { 'X-Api-Key': 'nurse' }, description: 'A nurse.' };
    expect(mask?.tree(tree)).toEqual({
      k: '[secret]',
      title: 'nurse',
      sent: { 'X-Api-Key': '[secret]' },
      description: 'A nurse.',
    });
  });

  it('that is a password is found with its user', () => {
    const basic = { kind: 'basic', user: secret('jim'), password: secret('cook') } as const;
    const own = credentialsMask(web({ credentials: { authorization: basic } }));
    const header = Buffer.from('jim:cook').toString('base64');
    expect(own?.text(`Basic ${header}, https://jim:cook@x.example/, a cook`)).toBe(
      'Basic [secret], https://[secret]@x.example/, a cook',
    );
  });
});

describe('the secrets of a source', () => {
  const sources: readonly (readonly [string, SingleConfig, readonly string[]])[] = [
    ['a bearer token', web({ credentials: { authorization: { kind: 'bearer', token: secret(SECRET) } } }), [SECRET]],
    ['a header', web({ headers: { 'X-Api-Key': secret(SECRET), 'X-Company': secret('Acme-Health') } }), [SECRET]],
    ['a header with a scheme', web({ headers: { Authorization: secret(`Token ${SECRET}`) } }), [SECRET]],
    [
      'a header of Basic authentication',
      web({ headers: { Authorization: secret(`Basic ${Buffer.from('jim:open-sesame').toString('base64')}`) } }),
      ['open-sesame', Buffer.from('jim:open-sesame').toString('base64'), 'jim:open-sesame'],
    ],
    ['a cookie', web({ headers: { Cookie: secret('a=1; session=0pen-sesame') } }), ['0pen-sesame']],
    [
      'the address',
      web({ url: 'https://jim:open-sesame@x.example/jobs?api_key=k3y-of-feed&page=1' }),
      ['open-sesame', 'k3y-of-feed'],
    ],
  ];

  it.each(sources)('are those of %s', (_, config, texts) => {
    const mask = credentialsMask(config);
    for (const text of texts) expect(mask?.text(`see ${text} there`)).toBe('see [secret] there');
    expect(mask?.text('Acme-Health')).toBe('Acme-Health');
  });

  it('are those of each of several sources', () => {
    const members = ['k3y-of-one', 'k3y-of-two'].map((text) => web({ headers: { 'X-Key': secret(text) } }));
    const limits = { firstByteTimeoutMs: 1, minBytesPerSecond: 1 };
    const mask = credentialsMask({ kind: 'several', members, limits });
    expect(mask?.text('k3y-of-one, k3y-of-two')).toBe('[secret], [secret]');
  });

  it('are those of a parameter also in the Base64 of the whole address', () => {
    const mask = credentialsMask(web({ credentials: { query: { name: 'key', value: secret(SECRET) } } }));
    const address = `https://x.example/jobs?page=1&key=${encodeURIComponent(SECRET)}`;
    const masked = mask?.text(Buffer.from(address).toString('base64')) ?? '';
    expect(masked).toContain('[secret]');
    expect(Buffer.from(masked.replace('[secret]', ''), 'base64').toString()).not.toContain('K3y');
  });

  it('are none of a file', () => {
    expect(credentialsMask(web({}))).toBeUndefined();
  });
});
