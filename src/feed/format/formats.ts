// The formats of feeds, by name.
import { csvFormat } from './csv/csv-format.ts';
import type { FeedFormat } from './format.ts';
import { htmlFormat } from './html/html-format.ts';
import { jsonFormat } from './json/json-format.ts';
import { jsonLinesFormat } from './json/jsonl-format.ts';
import { jsonLdFormat } from './json-ld/json-ld-format.ts';
import { xmlFormat } from './xml/xml-format.ts';

const FORMATS = {
  xml: xmlFormat,
  json: jsonFormat,
  jsonl: jsonLinesFormat,
  csv: csvFormat,
  html: htmlFormat,
  'json-ld': jsonLdFormat,
} as const satisfies Readonly<Record<string, FeedFormat>>;

export type FormatName = keyof typeof FORMATS;

export const formatOf = (name: FormatName): FeedFormat => FORMATS[name];
