// The formats of feeds, by name.
import type { FeedFormat } from './format.ts';
import { xmlFormat } from './xml/xml-format.ts';

const FORMATS = { xml: xmlFormat } as const satisfies Readonly<Record<string, FeedFormat>>;

export type FormatName = keyof typeof FORMATS;

export const formatOf = (name: FormatName): FeedFormat => FORMATS[name];
