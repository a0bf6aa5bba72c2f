// The functions of each format, by its name.
import { csvFormat } from './csv-format.ts';
import type { FeedFormat } from './format.ts';
import type { FormatName } from './format-kinds.ts';
import { htmlFormat } from './html-format.ts';
import { jsonFormat } from './json-format.ts';
import { jsonLdFormat } from './json-ld-format.ts';
import { jsonLinesFormat } from './jsonl-format.ts';
import { xmlFormat } from './xml/xml-format.ts';

const FORMATS: Readonly<Record<FormatName, FeedFormat>> = {
  xml: xmlFormat,
  json: jsonFormat,
  jsonl: jsonLinesFormat,
  csv: csvFormat,
  html: htmlFormat,
  'json-ld': jsonLdFormat,
};

export const formatOf = (name: FormatName): FeedFormat => FORMATS[name];
