// Turns text that may hold the site's token into text that does not (design, law 7).

/** What stands in the place of the token. */
export const REMOVED = '[token removed]';

/**
 * Makes a function that removes the token from a text in each form in which a site or a proxy may echo it: plain,
 * escaped for XML or a URL, and Base64 of it alone or as the Basic credentials.
 */
export function createScrubber(token: string): (text: string) => string {
  const encoded = encodeURIComponent(token);
  const forms = [
    token,
    encoded,
    encoded.replace(/%../g, (octet) => octet.toLowerCase()),
    encoded.replaceAll('%20', '+'),
    escapeXml(token),
    escapeXml(token).replaceAll('"', '&quot;').replaceAll("'", '&#39;'),
    JSON.stringify(token).slice(1, -1),
    ...[`${token}:X`, `${token}:`, token].flatMap(base64Forms),
  ];
  // The longest first, so that no form is left half removed by a shorter one inside it.
  const ordered = [...new Set(forms)].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(ordered.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
  return (text) => text.replace(pattern, REMOVED);
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

function base64Forms(text: string): string[] {
  const padded = Buffer.from(text).toString('base64');
  const bare = padded.replace(/=+$/, '');
  return [padded, bare, encodeURIComponent(padded), Buffer.from(text).toString('base64url')];
}
