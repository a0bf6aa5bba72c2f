// Writes small feeds in Indeed's XML for tests.

/** One posting of a test feed; absent fields get a default. */
export interface TestPosting {
  readonly key: string;
  readonly title?: string;
  readonly state?: string;
  readonly city?: string;
  readonly description?: string;
  /** Values of other types than text; absent ones are not in the record. */
  readonly salary?: string;
  readonly startsAt?: string;
  readonly postedAt?: string;
  readonly closesAt?: string;
  readonly remote?: string;
}

/** A posting with this key and a title derived from it. */
export const posting = (key: string, fields: Omit<TestPosting, 'key'> = {}): TestPosting => ({ key, ...fields });

/** Postings `p1` to `pN`. */
export const postings = (count: number): TestPosting[] =>
  Array.from({ length: count }, (_, at) => posting(`p${at + 1}`));

export function recordXml({ key, title, state, city, description, ...typed }: TestPosting): string {
  const others = Object.entries(typed).map(([name, value]) => `<${name}>${value}</${name}>`);
  return `<job><referencenumber><![CDATA[${key}]]></referencenumber><title><![CDATA[${title ?? `Nurse ${key}`}]]></title>
<city>${city ?? 'Boston'}</city><state>${state ?? 'MA'}</state><url>https://jobs.example.com/${encodeURIComponent(key)}</url>
<category>Health</category><description><![CDATA[${description ?? `<p>Work ${key}</p>`}]]></description>${others.join('')}</job>`;
}

export const feedXml = (list: readonly TestPosting[]): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<source><publisher>Test</publisher>\n${list.map(recordXml).join('\n')}\n</source>\n`;
