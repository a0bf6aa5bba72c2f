// Builds patterns that find a secret in text, in every form in which it may be echoed, logged or stored.

/** Shorter secrets occur in other texts by chance, so they can't be removed everywhere. */
export const SHORT_SECRET = 8;
/** Secrets shorter than this even occur as whole words by chance: numbers, abbreviations. */
const SHORTEST_WORD = 4;
/** Fewer Base64 characters than this do not prove that the text contains the secret. */
const MIN_BASE64_CORE = 8;

/**
 * Patterns for the secret: each character literal, as an XML or HTML character reference (named, decimal or
 * hexadecimal), or escaped for a URL or JSON, once or several times, in any mixture, also across CDATA sections; and in
 * Base64, alone, as HTTP Basic credentials, or within a longer text; and in hexadecimal. A secret shorter than {@link SHORT_SECRET} is
 * found only as a whole word, an even shorter one only as a credential. No part repeats without bound, so matching
 * takes linear time. `core` is the letters and digits that a text must contain for the pattern to match. A pattern is built
 * when it is first needed, as most processes never see a secret in a text.
 */
function secretPatterns(secret: string): readonly { readonly pattern: () => RegExp; readonly core: string }[] {
  // Texts are decoded before the comparison, so a secret that contains an escape is decoded as well.
  const ofSource = (source: (text: string) => string) => (text: string) => ({
    pattern: builtOnce(() => source(text)),
    core: bare(decodeAll(text.toLowerCase())),
  });
  if (secret.length < SHORT_SECRET) return [{ pattern: builtOnce(() => shortSource(secret)), core: '' }];
  return [
    ...readAsMarkup(secret).map(ofSource(sourceOf)),
    ...base64Texts(secret).map(ofSource(base64Source)),
    ofSource(sourceOf)(hexOf(secret)),
  ];
}

function builtOnce(source: () => string): () => RegExp {
  let pattern: RegExp | undefined;
  return () => {
    pattern ??= new RegExp(source(), 'gi');
    return pattern;
  };
}

/** The secret, and what remains of it when part of it was taken for a tag in unescaped XML or HTML. */
const readAsMarkup = (secret: string): string[] => [
  ...new Set([secret, ...['', ' '].map((gap) => secret.replace(/<[^<>]*>/g, gap))]),
];

/** Returns a function that replaces the secret, in every form that a pattern covers. */
export function secretReplacer(secret: string, replacement: string): (text: string) => string {
  const findPatterns = secretSearch(secret);
  return (text) => findPatterns(text).reduce((left, pattern) => left.replace(pattern, replacement), text);
}

/**
 * Returns a function that selects the patterns that can match a given text. The patterns are slow to build and to run: the
 * first match of a token of 40 characters takes 100 to 200 ms. Hardly any text contains a secret, and most that do contain it
 * as it is, which a pattern without escapes finds.
 */
export function secretSearch(secret: string): (text: string) => readonly RegExp[] {
  const patterns = secretPatterns(secret);
  const cores = [decodeAll(secret.toLowerCase()), ...[`${secret}:X`, `${secret}:`, secret].map(base64)].map(bare);
  const isCheap = cores.every((core) => core.length >= SHORTEST_WORD);
  const isShort = secret.length < SHORT_SECRET;
  const plain = new RegExp(escapeForPattern(secret), 'g');
  // Every way of escaping makes a text longer.
  const shortest = isCheap && !isShort ? Math.min(...patterns.map(({ core }) => core.length)) : 0;
  return (text) => {
    if (text.length < shortest) return [];
    const isPlain = !isShort && text.includes(secret);
    const mayHold = isCheap ? searchFor(isPlain ? text.replaceAll(secret, ' ') : text) : () => true;
    const chosen = patterns.filter(({ core }) => (isShort ? cores.some(mayHold) : mayHold(core)));
    return [...(isPlain ? [plain] : []), ...chosen.map(({ pattern }) => pattern())];
  };
}

/** Tests whether the text contains a sequence of letters and digits, however it is escaped. */
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

/** Only letters and digits are compared. */
const letter = (code: number): string => (code < 128 ? bare(String.fromCharCode(code)) : '');

/**
 * Finds a short secret used as a credential, including in URLs, without touching the rest of the URL.
 * @param names further names of what carries it, such as a header or a parameter
 */
export function credentialPattern(secret: string, names: readonly string[] = []): RegExp {
  return new RegExp(credentialSource(secret, names), 'gi');
}

/** Whether something of this name carries a credential. */
export function isCredentialName(name: string, names: readonly string[] = []): boolean {
  return new RegExp(`(?:^|[^a-z0-9])${credentialNames(names)}$`, 'i').test(name);
}

/** A letter or a digit that is written as an escape of XML, HTML, a URL or JSON. */
const ESCAPED_LETTER =
  /&#(?:0*(?:4[89]|5[0-7]|6[5-9]|[78]\d|9[07-9]|1[01]\d|12[0-2])|x0*(?:3\d|[46][1-9a-f]|[57][0-9a]));|%(?:25)*(?:3\d|[46][1-9a-f]|[57][0-9a])|\\(?:u(?:00|\{0*)|x)(?:3\d|[46][1-9a-f]|[57][0-9a])/i;

/**
 * Returns a fast test whether bytes may contain one of these secrets in any form, to be followed by {@link secretReplacer}. It finds
 * each form by half of its longest run of letters and digits, as a line end, a tag or a CDATA section may divide it once.
 */
export function secretSieve(secrets: readonly string[]): (bytes: Buffer) => boolean {
  const halves = new Set(
    secrets.flatMap((secret) => [secret, ...base64Cores(secret), hexOf(secret)].flatMap(halvesOf)),
  );
  // Shorter ones are in most texts.
  if ([...halves].some((half) => half.length < SHORTEST_WORD)) return () => true;
  const parts = [...halves];
  return (bytes) => {
    const text = bytes.toString('latin1').toLowerCase();
    if (parts.some((part) => text.includes(part))) return true;
    return (text.includes('%') || text.includes('&#') || text.includes('\\')) && ESCAPED_LETTER.test(text);
  };
}

function halvesOf(text: string): readonly string[] {
  const runs = text.toLowerCase().match(/[a-z0-9]+/g) ?? [''];
  const longest = runs.reduce((one, other) => (other.length > one.length ? other : one));
  const middle = Math.floor(longest.length / 2);
  return middle < SHORTEST_WORD ? [longest] : [longest.slice(0, middle), longest.slice(middle)];
}

function shortSource(secret: string): string {
  const credential = credentialSource(secret);
  if (secret.length < SHORTEST_WORD) return credential;
  // Keep bare JSON numbers and literals, or a log line would no longer be valid JSON.
  const notBare = /^(\d+|true|false|null)$/i.test(secret) ? '(?<!":|,|\\[)' : '';
  const words = [sourceOf(secret), ...[`${secret}:X`, `${secret}:`, secret].map((text) => base64Source(base64(text)))];
  return `${credential}|${notBare}(?<![\\w.+/-])(?:${words.join('|')})(?!\\w|[.-]\\w)`;
}

const CREDENTIAL_NAMES =
  'token|secret|passw(?:or)?d|(?:api|auth|access)[-_ ]?key|auth|authorization|credentials?|bearer|basic';

const credentialNames = (names: readonly string[]): string =>
  `(?:${[CREDENTIAL_NAMES, ...names.map(escapeForPattern)].join('|')})`;

function credentialSource(secret: string, names: readonly string[] = []): string {
  const source = sourceOf(secret);
  const basic = [`${secret}:X`, `${secret}:`].map((text) => base64Source(base64(text))).join('|');
  return [
    `(?<=\\b${credentialNames(names)}\\\\?["']?\\s{0,2}(?:[=:>]|%(?:25){0,3}3[ad]|&#(?:58|61);)?\\s{0,2}\\\\?["']?)(?:${source})(?![\\w-])`,
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

/** A comment or a tag, which is dropped when the text is displayed. */
const MARKUP = /<[^<>]{1,60}>/g;

/**
 * What may stand between two characters: a CDATA boundary, a comment or a tag, or half of a UTF-16 character that was
 * decoded as a whole one.
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
  // Factor out common prefixes to keep the pattern small and fast to compile.
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

const hexOf = (text: string): string => Buffer.from(text).toString('hex');

const base64 = (text: string): string => Buffer.from(text).toString('base64').replace(/=+$/, '');

function base64Texts(secret: string): string[] {
  return [...new Set([`${secret}:X`, `${secret}:`, secret].map(base64).concat(base64Cores(secret)))].sort(
    (a, b) => b.length - a.length,
  );
}

/**
 * The Base64 characters determined by the secret alone, for each of its three possible alignments. The Base64 of any
 * text that contains the secret contains one of them.
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
