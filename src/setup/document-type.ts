// Recognises the type of a document from its first bytes.

export type DocumentType = 'xml' | 'json' | 'jsonl' | 'csv' | 'html';

/** `undefined`: it is none of them, or empty. */
export function documentTypeOf(bytes: Buffer): DocumentType | undefined {
  const text = bytes
    .toString('utf8', 0, 65_536)
    .replace(/^\ufeff/, '')
    .trimStart();
  if (text === '') return undefined;
  if (/^(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]*?-->\s*)*<(?:!doctype\s+html|html)[\s>]/i.test(text)) return 'html';
  if (text.startsWith('<')) return 'xml';
  // A string with JSON in it is none of ours either, but it is no table.
  if (text.startsWith('[') || /^"(?:\s|\\[nrt])*[[{]/.test(text)) return 'json';
  if (text.startsWith('{')) return isLines(text) ? 'jsonl' : 'json';
  // Some documents have a text before their root.
  if (/<\?xml\s|<(?:rss|source|jobs|feed)[\s>]/i.test(text.slice(0, 2_048))) return 'xml';
  return /[,;\t|]/.test(text.slice(0, 2_048)) ? 'csv' : undefined;
}

/** Whether the first two lines are objects. */
function isLines(text: string): boolean {
  const lines = text.split('\n', 50).filter((line) => line.trim() !== '');
  return lines.length > 1 && lines.slice(0, 2).every(isObject);
}

function isObject(line: string): boolean {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
