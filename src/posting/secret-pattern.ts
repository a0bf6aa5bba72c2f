// Turns a secret into a pattern that finds it in text, in every form in which it may be sent back, logged or stored.

/** Shorter secrets stand in other texts by accident, so that they can't be removed wherever they stand. */
export const SHORT_SECRET = 8;
/** Shorter ones still stand as words by accident, too: numbers, abbreviations. */
const SHORTEST_WORD = 4;
/** Fewer characters than this of a Base64 text are no proof that a secret is in it. */
const MIN_BASE64_CORE = 8;

/**
 * Patterns for the secret: each of its characters as it is, as a character reference of XML or HTML (named, decimal or
 * hexadecimal), escaped for a URL or for JSON, once or several times, in any mixture, also across CDATA sections; and in
 * Base64, alone, as the credentials of HTTP Basic, or within a longer text. A secret shorter than {@link SHORT_SECRET} is
 * found where it stands as a word of its own, a shorter one only where it stands as a credential. No part repeats without
 * bound, so that the time is in proportion to the text. Each has the letters and digits without which it finds nothing.
 */
function secretPatterns(secret: string): readonly { readonly pattern: RegExp; readonly core: string }[] {
  // The text is decoded before it is compared, so a secret that holds an escape itself is, too.
  const ofSource = (source: string, text: string) => ({
    pattern: new RegExp(source, 'gi'),
    core: bare(decodeAll(text.toLowerCase())),
  });
  if (secret.length < SHORT_SECRET) return [{ pattern: new RegExp(shortSource(secret), 'gi'), core: '' }];
  return [
    ...readAsMarkup(secret).map((text) => ofSource(sourceOf(text), text)),
    ...base64Texts(secret).map((text) => ofSource(base64Source(text), text)),
  ];
}

/** The secret, and what is left of it where it stood in XML or HTML unescaped and a part of it was taken for a tag. */
const readAsMarkup = (secret: string): string[] => [
  ...new Set([secret, ...['', ' '].map((gap) => secret.replace(/<[^<>]*>/g, gap))]),
];

/** Makes a function that puts `replacement` in the place of the secret, in each form that there is a pattern for. */
export function secretReplacer(secret: string, replacement: string): (text: string) => string {
  const findPatterns = secretSearch(secret);
  return (text) => findPatterns(text).reduce((left, pattern) => left.replace(pattern, replacement), text);
}

/**
 * Makes a function that chooses the patterns for the secret that may find something in a text. They are slow, to be
 * compiled as well, and hardly any text holds a secret.
 */
export function secretSearch(secret: string): (text: string) => readonly RegExp[] {
  const patterns = secretPatterns(secret);
  const cores = [decodeAll(secret.toLowerCase()), ...[`${secret}:X`, `${secret}:`, secret].map(base64)].map(bare);
  const isCheap = cores.every((core) => core.length >= SHORTEST_WORD);
  return (text) => {
    const mayHold = isCheap ? searchFor(text) : () => true;
    const isShort = secret.length < SHORT_SECRET;
    const chosen = patterns.filter(({ core }) => (isShort ? cores.some(mayHold) : mayHold(core)));
    return chosen.map(({ pattern }) => pattern);
  };
}

/** Tells whether letters and digits follow each other in the text, however they are written. */
function searchFor(text: string): (core: string) => boolean {
  const decoded = decodeAll(text.toLowerCase().replaceAll('<![cdata[', ''));
  const unwrapped = decoded.includes('\\') ? bare(decoded.replace(/\\{1,4}[nr]/g, '')) : undefined;
  const untagged = decoded.includes('<') ? bare(decoded.replace(MARKUP, '')) : undefined;
  const whole = bare(decoded);
  return (core) => [whole, unwrapped, untagged].some((form) => form?.includes(core));
}

const bare = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '');

function decodeAll(text: string): string {
  let decoded = text;
  if (decoded.includes('&')) {
    decoded = decoded
      .replace(/&(?:amp;)+/g, '&')
      .replace(/&#x([0-9a-f]{1,13});/g, (_, hex: string) => letter(Number.parseInt(hex, 16)))
      .replace(/&#(\d{1,13});/g, (_, decimal: string) => letter(Number(decimal)))
      .replace(/&[a-z]{2,8};/g, '');
  }
  if (decoded.includes('%')) {
    decoded = decoded
      .replace(/%(?:25)+/g, '%')
      .replace(/%([0-9a-f]{2})/g, (_, hex: string) => letter(Number.parseInt(hex, 16)));
  }
  if (decoded.includes('\\')) {
    decoded = decoded.replace(
      /\\{1,4}(?:u([0-9a-f]{4})|u\{([0-9a-f]{1,8})\}|x([0-9a-f]{2}))/g,
      (_, ...hex: (string | undefined)[]) => letter(Number.parseInt(hex[0] ?? hex[1] ?? hex[2] ?? '0', 16)),
    );
  }
  return decoded;
}

/** A letter or digit; anything else is not compared. */
const letter = (code: number): string => (code < 128 ? bare(String.fromCharCode(code)) : '');

/** Where a short secret stands as a credential, also in addresses, whose other parts are not to be touched. */
export function credentialPattern(secret: string): RegExp {
  return new RegExp(credentialSource(secret), 'gi');
}

function shortSource(secret: string): string {
  const credential = credentialSource(secret);
  if (secret.length < SHORTEST_WORD) return credential;
  // A number or a word of JSON itself stays, or a log line would be JSON no more.
  const notBare = /^(\d+|true|false|null)$/i.test(secret) ? '(?<!":|,|\\[)' : '';
  const words = [sourceOf(secret), ...[`${secret}:X`, `${secret}:`, secret].map((text) => base64Source(base64(text)))];
  return `${credential}|${notBare}(?<![\\w.+/-])(?:${words.join('|')})(?!\\w|[.-]\\w)`;
}

const CREDENTIAL_NAMES =
  '(?:token|secret|passw(?:or)?d|(?:api|auth|access)[-_ ]?key|auth|authorization|credentials?|bearer|basic)';

function credentialSource(secret: string): string {
  const source = sourceOf(secret);
  const basic = [`${secret}:X`, `${secret}:`].map((text) => base64Source(base64(text))).join('|');
  return [
    `(?<=\\b${CREDENTIAL_NAMES}\\\\?["']?\\s{0,2}[=:>]?\\s{0,2}\\\\?["']?)(?:${source})(?![\\w-])`,
    `(?<=//)(?:${source})(?=[:@])`,
    `(?<![\\w-])(?:${source})(?=:X\\b)`,
    `(?<=\\bbasic\\s{1,2})(?:${basic})(?!\\w)`,
  ].join('|');
}

const ENTITY_NAMES: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": 'apos',
  '/': 'sol',
  '\\': 'bsol',
  '+': 'plus',
  '=': 'equals',
  '.': 'period',
  ',': 'comma',
  ':': 'colon',
  ';': 'semi',
  _: 'lowbar',
  '-': 'hyphen|dash',
  '#': 'num',
  '!': 'excl',
  '?': 'quest',
  '@': 'commat',
  $: 'dollar',
  '%': 'percnt',
  '*': 'ast',
  '(': 'lpar',
  ')': 'rpar',
  '[': 'lsqb|lbrack',
  ']': 'rsqb|rbrack',
  '{': 'lcub|lbrace',
  '}': 'rcub|rbrace',
  '|': 'verbar|vert',
  '^': 'hat',
  '`': 'grave',
  '~': 'tilde',
};

/** A comment or a tag, which whoever shows text leaves out. */
const MARKUP = /<[^<>]{1,60}>/g;

/**
 * Between two characters: the end of a CDATA section and the next, a comment or a tag, or half of a UTF-16 character taken
 * for a whole one.
 */
const BETWEEN = String.raw`(?:\]\]>)?(?:<!\[CDATA\[|${MARKUP.source})?[\0\uFFFD]?`;
/** Base64 is wrapped after some 60 or 76 characters. */
const WRAPPED = String.raw`(?:\s|&#(?:10|13|x0?[ad]);|\\{1,4}[rn]|%0[ad]){0,4}`;

const sourceOf = (text: string): string => [...text].map(characterSource).join(BETWEEN);

function base64Source(text: string): string {
  const characters = [...text].map((character) => {
    if (character === '+') return `(?:${characterSource('+')}|-)`;
    return character === '/' ? `(?:${characterSource('/')}|_)` : characterSource(character);
  });
  return `${characters.join(WRAPPED)}(?:=|%(?:25){0,3}3d|&#61;){0,2}`;
}

function characterSource(character: string): string {
  const code = character.codePointAt(0) as number;
  const hex = code.toString(16);
  const percent = (bytes: Buffer): string =>
    [...bytes].map((byte) => `%(?:25){0,3}${byte.toString(16).padStart(2, '0')}`).join('');
  const name = ENTITY_NAMES[character];
  const [unit = '', secondUnit] = [...Array(character.length).keys()].map((at) =>
    character.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  const second = secondUnit === undefined ? '' : String.raw`\\{1,4}u${secondUnit}`;
  const escapes = [
    `u${unit}${second}`,
    String.raw`u\{0{0,4}${hex}\}`,
    ...(code < 256 ? [`x${hex.padStart(2, '0')}`] : []),
    ...('"\'\\/'.includes(character) ? [escapeForPattern(character)] : []),
  ];
  // Forms that begin alike are told apart late: the pattern stays small, and is soon compiled.
  const forms = [
    escapeForPattern(character),
    `&(?:amp;){0,3}(?:#(?:0{0,6}${code}|x0{0,6}${hex})${name === undefined ? '' : `|${name}`});`,
    percent(Buffer.from(character)),
    ...(code >= 128 && code < 256 ? [percent(Buffer.from([code]))] : []),
    String.raw`\\{1,4}(?:${escapes.join('|')})`,
    ...(character === ' ' ? ['\\+'] : []),
  ];
  return `(?:${forms.join('|')})`;
}

const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');

function base64Texts(secret: string): string[] {
  return [...new Set([`${secret}:X`, `${secret}:`, secret].map(base64).concat(base64Cores(secret)))].sort(
    (a, b) => b.length - a.length,
  );
}

/**
 * The Base64 characters that the secret alone decides, for each of the three ways in which its bytes can lie in the
 * groups of three: these are in the Base64 of any text that contains the secret.
 */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    const core = encoded.slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6));
    return core.length < MIN_BASE64_CORE ? [] : [core];
  });
}

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
