// Converts the content of an XML element with child elements, and HTML, to text: a site's field can't contain elements.

// Converts an HTML description to plain text with paragraphs and list items on their own lines.
// Not html-to-text: it builds a tree of each description first, and descriptions are most of a feed.

const BLOCKS = new Set(
  'address article aside blockquote dd div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table tr ul'.split(
    ' ',
  ),
);
/** Elements whose content is not text for people. */
const HIDDEN: ReadonlySet<string> = new Set(['script', 'style', 'template', 'title']);

const TAG_START = /^<(\/?)([A-Za-z][A-Za-z0-9]*)/;

/**
 * Strips tags and comments, decodes entities and collapses spaces. Blocks end in a blank line, `<br>` becomes a line
 * break, list items start with "- ". A `<` that starts no tag ("salary < 50k") stays. Digits that are raised after a
 * digit ("$18<sup>50</sup>") get a "^", so that they are not read as $1850. Runs in linear time for any input.
 * `hidden` names the elements that are dropped with their content.
 */
export function htmlToText(html: string, hidden = HIDDEN): string {
  let text = '';
  let at = 0;
  let last = '';
  let isRaised = false;
  const add = (piece: string): void => {
    if (piece === '') return;
    text += isRaised && isDigit(piece[0]) ? `^${piece}` : piece;
    last = piece.slice(-1);
    isRaised = false;
  };
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open < 0) break;
    add(collapse(html.slice(at, open)));
    const tag = readTag(html, open, hidden);
    // In a tag or comment that never ends, the rest is not text.
    if (tag.kind === 'unended') return tidy(text);
    add(tag.kind === 'text' ? '<' : replacement(tag));
    if (tag.kind === 'tag' && tag.name === 'sup') isRaised = !tag.closing && isDigit(last);
    at = tag.end;
  }
  add(collapse(html.slice(at)));
  return tidy(text);
}

const isDigit = (character = ''): boolean => /^\d$/.test(character);

type Tag =
  | { readonly kind: 'tag'; readonly name: string; readonly closing: boolean; readonly end: number }
  /** The `<` is an ordinary character. */
  | { readonly kind: 'text'; readonly end: number }
  | { readonly kind: 'unended' };

function readTag(html: string, open: number, hidden: ReadonlySet<string>): Tag {
  const next = html[open + 1] ?? '';
  const isComment = html.startsWith('<!--', open);
  if (!isComment && !/[A-Za-z/!?]/.test(next)) return { kind: 'text', end: open + 1 };
  const end = endAfter(html, isComment ? '-->' : '>', open);
  if (end === undefined) return { kind: 'unended' };
  const [, slash = '', written = ''] = TAG_START.exec(html.slice(open, open + 20)) ?? [];
  const name = written.toLowerCase();
  const closing = slash !== '';
  if (closing || !hidden.has(name)) return { kind: 'tag', name, closing, end };
  const closingTag = new RegExp(`</${name}\\s*>`, 'gi');
  closingTag.lastIndex = end;
  return closingTag.test(html) ? { kind: 'tag', name, closing, end: closingTag.lastIndex } : { kind: 'unended' };
}

function endAfter(html: string, closing: string, from: number): number | undefined {
  const found = html.indexOf(closing, from);
  return found < 0 ? undefined : found + closing.length;
}

function replacement({ name, closing }: { readonly name: string; readonly closing: boolean }): string {
  if (name === 'br') return '\n';
  if (name === 'li') return closing ? '' : '\n- ';
  if (name === 'td' || name === 'th') return closing ? ' ' : '';
  return BLOCKS.has(name) ? '\n\n' : '';
}

/** In HTML, a line break in the source is just a space. */
const collapse = (text: string): string => decodeHtmlEntities(text.replace(/\s+/g, ' '));

function tidy(text: string): string {
  const lines = text.split('\n').map((line) => line.replace(/[ \u00A0]+/g, ' ').trim());
  return lines
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/**
 * How elements inside a value are rendered: `plain` keeps only their text, in document order; `html` keeps them as
 * HTML; `escaped html` escapes that HTML, for a transform that unescapes once.
 */
export type MarkupForm = 'plain' | 'html' | 'escaped html';

/**
 * A CDATA section, comment, processing instruction or tag of well-formed XML. No text matches two of the alternatives.
 */
const MARKUP =
  /<!\[CDATA\[([\s\S]*?)\]\]>|<!--[\s\S]*?-->|<\?[\s\S]*?\?>|<(\/?)([^\s/>]+)((?:"[^"]*"|'[^']*'|[^"'>])*)>/g;
const ATTRIBUTE = /([^\s=]+)\s*=\s*("[^"]*"|'[^']*')/g;

/** HTML elements without an end tag. */
export const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta source track wbr'.split(' '));
const NOTHING_HIDDEN: ReadonlySet<string> = new Set();

/** `markup`: the well-formed content of one element. Prefixes, comments and processing instructions are dropped. */
export function renderMarkup(markup: string, form: MarkupForm): string {
  const html = toHtml(markup);
  switch (form) {
    case 'plain':
      return htmlToText(html, NOTHING_HIDDEN);
    case 'html':
      return html;
    case 'escaped html':
      return html.replaceAll('&', '&amp;');
  }
}

function toHtml(markup: string): string {
  return markup.replace(MARKUP, (_all, cdata?: string, slash = '', name?: string, rest = '') => {
    if (cdata !== undefined) return cdata.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    if (name === undefined) return '';
    const local = withoutPrefix(name);
    const start = `<${slash}${local}${attributesOf(rest)}>`;
    return rest.endsWith('/') && !VOID_ELEMENTS.has(local.toLowerCase()) ? `${start}</${local}>` : start;
  });
}

function attributesOf(written: string): string {
  let attributes = '';
  for (const [, name = '', value = ''] of written.matchAll(ATTRIBUTE)) {
    // Escape ">" for HTML readers that end a tag at the next one.
    if (!/^xmlns(:|$)/.test(name)) attributes += ` ${withoutPrefix(name)}=${value.replaceAll('>', '&gt;')}`;
  }
  return attributes;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

// Decodes HTML character references (`&eacute;`, `&#233;`, `&#xE9;`) once.
// Not the package entities: its two thousand names of HTML 5 would change texts that are mirrored already.

/** The named characters of HTML 4 (section 24): Latin-1, from U+00A0 to U+00FF in order. */
const LATIN_1 =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro ' +
  'para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil ' +
  'Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave ' +
  'Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml ' +
  'igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute ' +
  'thorn yuml';

/** The others of HTML 4, each name followed by its code point. */
const OTHERS =
  'OElig 338 oelig 339 Scaron 352 scaron 353 Yuml 376 fnof 402 circ 710 tilde 732 Alpha 913 Beta 914 Gamma 915 ' +
  'Delta 916 Epsilon 917 Zeta 918 Eta 919 Theta 920 Iota 921 Kappa 922 Lambda 923 Mu 924 Nu 925 Xi 926 Omicron 927 ' +
  'Pi 928 Rho 929 Sigma 931 Tau 932 Upsilon 933 Phi 934 Chi 935 Psi 936 Omega 937 alpha 945 beta 946 gamma 947 ' +
  'delta 948 epsilon 949 zeta 950 eta 951 theta 952 iota 953 kappa 954 lambda 955 mu 956 nu 957 xi 958 omicron 959 ' +
  'pi 960 rho 961 sigmaf 962 sigma 963 tau 964 upsilon 965 phi 966 chi 967 psi 968 omega 969 thetasym 977 upsih 978 ' +
  'piv 982 ensp 8194 emsp 8195 thinsp 8201 zwnj 8204 zwj 8205 lrm 8206 rlm 8207 ndash 8211 mdash 8212 lsquo 8216 ' +
  'rsquo 8217 sbquo 8218 ldquo 8220 rdquo 8221 bdquo 8222 dagger 8224 Dagger 8225 bull 8226 hellip 8230 permil 8240 ' +
  'prime 8242 Prime 8243 lsaquo 8249 rsaquo 8250 oline 8254 frasl 8260 euro 8364 image 8465 weierp 8472 real 8476 ' +
  'trade 8482 alefsym 8501 larr 8592 uarr 8593 rarr 8594 darr 8595 harr 8596 crarr 8629 lArr 8656 uArr 8657 ' +
  'rArr 8658 dArr 8659 hArr 8660 forall 8704 part 8706 exist 8707 empty 8709 nabla 8711 isin 8712 notin 8713 ni 8715 ' +
  'prod 8719 sum 8721 minus 8722 lowast 8727 radic 8730 prop 8733 infin 8734 ang 8736 and 8743 or 8744 cap 8745 ' +
  'cup 8746 int 8747 there4 8756 sim 8764 cong 8773 asymp 8776 ne 8800 equiv 8801 le 8804 ge 8805 sub 8834 sup 8835 ' +
  'nsub 8836 sube 8838 supe 8839 oplus 8853 otimes 8855 perp 8869 sdot 8901 lceil 8968 rceil 8969 lfloor 8970 ' +
  'rfloor 8971 lang 9001 rang 9002 loz 9674 spades 9824 clubs 9827 hearts 9829 diams 9830';

/** Character by name, without a prototype: the names of HTML 4, which feeds use in XML too, and two more that occur. */
export const NAMED_CHARACTERS: Readonly<Record<string, string>> = Object.assign(
  Object.create(null),
  Object.fromEntries(LATIN_1.split(' ').map((name, index) => [name, String.fromCharCode(0xa0 + index)])),
  Object.fromEntries(
    [...OTHERS.matchAll(/(\w+) (\d+)/g)].map(([, name, code]) => [name, String.fromCharCode(Number(code))]),
  ),
  { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", check: '✓', star: '☆' },
);

/**
 * From 128 on: HTML takes these numbers for characters of Windows-1252, which programs of that encoding write (WHATWG HTML, 13.2.5.80); a few
 * have none.
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const FIRST_OF_WINDOWS = 128;

const REFERENCE = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([A-Za-z][A-Za-z\d]{1,7}));/g;

/** Decodes once: `&amp;lt;` becomes `&lt;`. Unknown names and numbers that are no character stay as they are. */
export function decodeHtmlEntities(text: string): string {
  return text.replace(REFERENCE, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
    if (name !== undefined) return NAMED_CHARACTERS[name] ?? whole;
    const code = decimal !== undefined ? Number(decimal) : Number.parseInt(hexadecimal ?? '', 16);
    const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return isCharacter ? (WINDOWS_1252[code - FIRST_OF_WINDOWS] ?? String.fromCodePoint(code)) : whole;
  });
}

// Removes characters that XML 1.0 can't carry, and makes excerpts that are safe to store and show.

/**
 * Everything but the production Char of XML 1.0, section 2.2: control characters, lone surrogates, U+FFFE and U+FFFF.
 * With the flag `u` a surrogate pair counts as the one character it encodes.
 */
const ILLEGAL = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu;

/** A first check, several times as fast. It also matches valid surrogate pairs, but most text matches nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds.
const SUSPECT = /[\0-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]/;

/** Returns the text without characters that XML can't carry, and the removed characters in order. */
export function removeIllegalCharacters(text: string): { readonly text: string; readonly removed: readonly string[] } {
  if (!SUSPECT.test(text)) return { text, removed: [] };
  const removed: string[] = [];
  const legal = text.replace(ILLEGAL, (character) => {
    removed.push(character);
    return '';
  });
  return { text: legal, removed };
}

/** The first 200 characters (or `most`) on one line, for a `Problem`. Unstorable characters become U+FFFD. */
export function excerpt(text: string, most = 200): string {
  return text.slice(0, most).replace(ILLEGAL, '\uFFFD').replace(/\s+/g, ' ').trim();
}
