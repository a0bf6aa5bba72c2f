// The format of schema.org JobPostings: JSON-LD in HTML pages, or in JSON documents.
import type { FeedFormat } from '../format.ts';
import { jsonFormat } from '../json/json-format.ts';
import { JsonLdSplitter } from './json-ld-splitter.ts';

export const jsonLdFormat: FeedFormat = {
  ...jsonFormat,
  // Postings expire while their pages stay as they are.
  dependsOnTime: true,
  usesAddress: true,
  createSplitter: (options, sink) => new JsonLdSplitter(options, sink),
};
