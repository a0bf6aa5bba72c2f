// Turns secrets into a function that removes them from text, in every form in which they travel.

const REPLACEMENT = '[secret]';

/** Fewer characters than this of a Base64 text are no proof that a secret is in it. */
const MIN_BASE64_CORE = 8;

/**
 * Makes a function that replaces each of the secrets with `[secret]`: as it is, escaped for JSON (once and twice),
 * XML or a URL, and in Base64, alone or inside a longer text such as HTTP Basic's `token:X`. Empty secrets are
 * ignored. The text may be whole log lines: the replacement never breaks a JSON string.
 */
export function createScrub(secrets: readonly string[]): (text: string) => string {
  const forms = new Set(secrets.filter((secret) => secret !== '').flatMap(formsOf));
  if (forms.size === 0) return (text) => text;
  // The longest first: a short form may be the beginning of a longer one, whose rest would stay.
  const alternatives = [...forms].sort((a, b) => b.length - a.length).map(escapeForPattern);
  const pattern = new RegExp(alternatives.join('|'), 'g');
  return (text) => text.replace(pattern, REPLACEMENT);
}

function formsOf(secret: string): string[] {
  const inJson = insideJson(secret);
  const inUrl = encodeURIComponent(secret);
  return [
    secret,
    inJson,
    insideJson(inJson),
    insideXml(secret),
    inUrl,
    inUrl.replace(/%[0-9A-F]{2}/g, (octet) => octet.toLowerCase()),
    new URLSearchParams([['', secret]]).toString().slice(1),
    ...[secret, `${secret}:X`, `${secret}:`].flatMap(base64Forms),
    ...base64Cores(secret),
  ];
}

function base64Forms(text: string): string[] {
  const standard = Buffer.from(text).toString('base64');
  const bare = standard.replace(/=+$/, '');
  return [standard, bare, encodeURIComponent(standard), Buffer.from(text).toString('base64url')];
}

/**
 * The Base64 characters that the secret alone decides, for each of the three ways in which its bytes can lie in the
 * groups of three: these are in the Base64 of any text that contains the secret.
 */
function base64Cores(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64url');
    const first = Math.ceil((offset * 8) / 6);
    const end = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = encoded.slice(first, end);
    if (core.length < MIN_BASE64_CORE) return [];
    return [core, core.replaceAll('-', '+').replaceAll('_', '/')];
  });
}

const insideJson = (text: string): string => JSON.stringify(text).slice(1, -1);

const insideXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

const escapeForPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
