// Reading the site's XML: only well-formed, complete and harmless documents are accepted.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { elementText, readXml } from '../../src/site/xml/xml-tree.ts';
import { hasSharedFeeds, sharedFeed, sharedFeedsNote } from '../support/shared-feeds.ts';

const read = (text: string): string | undefined => {
  const root = readXml(text);
  return root && `${root.name}=${elementText(root)}`;
};

describe('readXml', () => {
  it.each([
    ['an element', '<a>x</a>', 'a=x'],
    ['a declaration and comments around it', '<?xml version="1.0"?>\n<!-- c --><a>x</a><!-- c -->\n', 'a=x'],
    ['CDATA is not expanded, text is', '<a>&lt;<![CDATA[&lt;]]></a>', 'a=<&lt;'],
    ['character references', '<a>&#65;&#x1F600;&#0;&#xD800;&#x110000;</a>', 'a=A😀\uFFFD\uFFFD\uFFFD'],
    ['other entities are kept', '<a>&nbsp;</a>', 'a=&nbsp;'],
    ['line ends', '<a>x\r\ny\rz&#13;</a>', 'a=x\ny\nz\r'],
    ['a DOCTYPE', '<!DOCTYPE a><a>x</a>', 'a=x'],
    [
      'a DOCTYPE with entities',
      '<?xml version="1.0"?><!DOCTYPE a SYSTEM "x>y" [<!-- " ] --><!ENTITY b "]>&c;"> <!ENTITY c SYSTEM \'file:///etc/passwd\'>]\n><a>&b;&c;</a>',
      'a=&b;&c;',
    ],
    ['a DOCTYPE in text', '<a><![CDATA[<!DOCTYPE a [ ]>]]></a>', 'a=<!DOCTYPE a [ ]>'],
    ['numbers stay text', '<a>007</a>', 'a=007'],
    ['nothing', '', undefined],
    ['text', 'a', undefined],
    ['text before the root', 'a<b/>', undefined],
    ['a truncated document', '<a><b></b>', undefined],
    ['crossed elements', '<a><b></a></b>', undefined],
    ['two roots', '<a/><b/>', undefined],
    ['an attribute without a value', '<a b>x</a>', undefined],
    ['only a comment', '<!-- a -->', undefined],
    ['deeper than any job', `${'<a>'.repeat(102)}${'</a>'.repeat(102)}`, undefined],
  ])('%s', (_name, text, expected) => expect(read(text)).toBe(expected));

  it('stays fast on a prolog designed to be slow', () => {
    for (const piece of ['<!---->', '<??>', "<!DOCTYPE a [''", '<!DOCTYPE [<!-- -->', '<!DOCTYPE ""', ' ']) {
      expect(read(piece.repeat(100_000))).toBeUndefined();
    }
  });

  it('stays fast on shorter documents designed to be slow', () => {
    for (const piece of [
      '<!---->',
      '<!-- ',
      '<?a ',
      '<?',
      '<![CDATA[',
      '<!',
      "''",
      '"',
      '<!ENTITY a "b">',
      '> ',
      ' ',
      '=',
      '<a>',
    ]) {
      const many = piece.repeat(30_000 / piece.length);
      for (const start of ['', '<!DOCTYPE a ', '<!DOCTYPE a [', '<a>', '<a '])
        expect(read(start + many)).toBeUndefined();
    }
  });

  describe.skipIf(!hasSharedFeeds)(`hostile documents${sharedFeedsNote}`, () => {
    const names = hasSharedFeeds ? readdirSync(sharedFeed('hostile')) : [];
    it.each(names)('%s: bounded, nothing fetched, nothing expanded', (name) => {
      const text = readFileSync(join(sharedFeed('hostile'), name), 'utf8');
      expect((read(text) ?? '').length).toBeLessThanOrEqual(text.length);
    });
  });
});
