// How the records of the measured feeds are written in each format.

/** The fields of one record, in order. */
export type Fields = Readonly<Record<string, string>>;

export interface FormatWriter {
  readonly opening: string;
  readonly separator: string;
  readonly closing: string;
  text(fields: Fields): string;
  /** What the splitter says precedes every record. */
  readonly prefix: string;
}

/** These fields have no CDATA. */
const PLAIN_FIELDS: ReadonlySet<string> = new Set(['salary', 'jobtype']);

const xml: FormatWriter = {
  opening: '<?xml version="1.0" encoding="utf-8"?>\n<source>\n<publisher>Example Staffing</publisher>\n',
  separator: '\n',
  closing: '\n</source>\n',
  text(fields) {
    const elements = Object.entries(fields).map(([name, value]) =>
      PLAIN_FIELDS.has(name) ? `<${name}>${value}</${name}>` : `<${name}><![CDATA[${value}]]></${name}>`,
    );
    return `<job>\n${elements.join('\n')}\n</job>`;
  },
  prefix: '',
};

const json: FormatWriter = {
  opening: '[\n',
  separator: ',\n',
  closing: '\n]\n',
  text: (fields) => JSON.stringify(fields),
  prefix: '',
};

const NAMES =
  'title date referencenumber url company city state country postalcode salary jobtype category description'.split(' ');

const csv: FormatWriter = {
  opening: `${NAMES.join(',')}\n`,
  separator: '\n',
  closing: '\n',
  text: (fields) => NAMES.map((name) => cellOf(fields[name] ?? '')).join(','),
  prefix: `${NAMES.map((name) => `"${name}"`).join(',')}\n`,
};

const cellOf = (text: string): string => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

const WRITERS = { xml, json, csv } as const satisfies Readonly<Record<string, FormatWriter>>;

export type BenchFormat = keyof typeof WRITERS;

export const writerOf = (format: BenchFormat = 'xml'): FormatWriter => WRITERS[format];
