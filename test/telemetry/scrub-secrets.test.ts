// Finds secrets in every encoding, and leaves other text alone.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrub } from '../../src/telemetry/log.ts';

const TOKEN = 'aB3/x+z=&"ü~s3cr3t';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the forms of a secret', () => {
  it.each([
    ['plain', TOKEN],
    ['escaped for JSON', JSON.stringify({ TOKEN })],
    ['escaped for JSON twice', JSON.stringify(JSON.stringify({ TOKEN }))],
    ['escaped for XML', '<t>aB3/x+z=&amp;&quot;ü~s3cr3t</t>'],
    ['URL-encoded', `?token=${encodeURIComponent(TOKEN)}`],
    [
      'URL-encoded, lower-case digits',
      `?token=${encodeURIComponent(TOKEN).replace(/%../g, (octet) => octet.toLowerCase())}`,
    ],
    ['form-encoded', new URLSearchParams({ TOKEN }).toString()],
    ['HTTP Basic', `Authorization: Basic ${base64(`${TOKEN}:X`)}`],
    ['HTTP Basic without a password', `Basic ${base64(`${TOKEN}:`)}`],
    ['HTTP Basic with another password', `Basic ${base64(`${TOKEN}:secret`)}`],
    ['HTTP Basic with a user in front', `Basic ${base64(`user:${TOKEN}`)}`],
    ['Base64 of a whole document', base64(`<a>${TOKEN}</a>`)],
    ['Base64, URL-encoded', encodeURIComponent(base64(`${TOKEN}:X`))],
    ['Base64 for URLs', Buffer.from(TOKEN).toString('base64url')],
  ])('%s', (_name, text) => {
    const scrubbed = createScrub(['other', TOKEN])(text);
    expect(scrubbed).toContain('[secret]');
    expect(scrubbed).not.toContain('s3cr3t');
    // 'czNjcjN0' is the Base64 of 's3cr3t' at one of three alignments.
    expect(scrubbed).not.toMatch(/czNjcjN0|MzY3IzdA|zM2NyM3/);
    expect(scrubbed).not.toContain(base64(TOKEN).slice(2, 12));
  });

  it('are each found in a text that also holds the secret as it is', () => {
    const forms = [TOKEN, encodeURIComponent(TOKEN), base64(`${TOKEN}:X`), TOKEN.toUpperCase(), TOKEN];
    expect(createScrub([TOKEN])(forms.join(' | '))).toBe(forms.map(() => '[secret]').join(' | '));
  });

  it('are found anywhere in a Base64 text', () => {
    const secret = 'canary-token-0123456789';
    const scrub = createScrub([secret]);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ maxLength: 20 }), (before, after) => {
        const encoded = Buffer.concat([before, Buffer.from(secret), after]).toString('base64');
        expect(scrub(encoded)).toContain('[secret]');
      }),
    );
  });
});

describe('other text', () => {
  it.each([
    ['without secrets', []],
    ['with an empty secret', ['']],
    ['with a secret that is not in it', ['another-token']],
    ['with a secret that would match as a pattern', ['.*']],
  ])('stays, %s', (_name, secrets) => {
    expect(createScrub(secrets)('a text (of [some] length)')).toBe('a text (of [some] length)');
  });

  it('does not keep the rest of a secret that starts with another secret', () => {
    expect(createScrub(['abcdefgh', 'abcdefghijk'])('abcdefghijk abcdefgh')).toBe('[secret] [secret]');
  });
});
