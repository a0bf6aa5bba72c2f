// The format of JSON documents.
import type { FeedFormat } from '../format.ts';
import { JsonSplitter } from './json-splitter.ts';
import { parseRecord } from './parse-record.ts';
import { compileKeyRecovery } from './recover-key.ts';

export const jsonFormat: FeedFormat = {
  createSplitter: (options, sink) => new JsonSplitter(options, sink),
  parseRecord: (bytes, context) => parseRecord(bytes, context?.lenient),
  compileKeyRecovery,
};
