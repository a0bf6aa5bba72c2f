// Says what a document is that is not in the expected format.

/** At most 100 characters for a message, on one line, in quotes. */
export const quote = (text: string): string => {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ');
  return `"${line.length > 100 ? `${line.slice(0, 100)}…` : line}"`;
};

/** Why a document that begins with these bytes is refused, if it is HTML or another format than the expected one. */
export function refusalOf(expected: string, opening: Buffer): string | undefined {
  const text = opening.toString().trim();
  if (text === '') return undefined;
  if (/<html[\s>]|<!doctype\s+html/i.test(text)) return htmlRefusal(expected, opening);
  if (text.startsWith('<'))
    return `XML where ${withArticle(expected)} feed was expected; it starts with ${quote(text)}`;
  return `this is not ${withArticle(expected)} feed; it starts with ${quote(text)}`;
}

export function htmlRefusal(expected: string, opening: Buffer): string {
  const title = /<title[^>]*>([^<]*)/i.exec(opening.toString())?.[1]?.trim();
  const titled = title ? `; the page's title is ${quote(title)}` : '';
  return `HTML where ${withArticle(expected)} feed was expected${titled}; open its address in a browser to see what it returns`;
}

const withArticle = (format: string): string => `${/^[AEFHILMNORSX]/.test(format) ? 'an' : 'a'} ${format}`;
