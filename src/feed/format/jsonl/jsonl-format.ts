// The format of documents with one JSON value per line (JSON Lines, also known as newline-delimited JSON).
import type { FeedFormat } from '../format.ts';
import { jsonFormat } from '../json/json-format.ts';
import { JsonLinesSplitter } from './jsonl-splitter.ts';

export const jsonLinesFormat: FeedFormat = {
  ...jsonFormat,
  createSplitter: (options, sink) => new JsonLinesSplitter(options, sink),
};
