// The format of HTML pages that carry their postings as JSON in a script.
import type { FeedFormat } from '../format.ts';
import { jsonFormat } from '../json/json-format.ts';
import { HtmlSplitter } from './html-splitter.ts';

export const htmlFormat: FeedFormat = {
  ...jsonFormat,
  createSplitter: (options, sink) => new HtmlSplitter(options, sink),
};
