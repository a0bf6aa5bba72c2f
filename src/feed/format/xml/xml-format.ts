// The format of XML documents.
import type { FeedFormat } from '../format.ts';
import { parseRecord } from './parse-record.ts';
import { compileKeyRecovery } from './recover-key.ts';
import { XmlSplitter } from './xml-splitter.ts';

export const xmlFormat: FeedFormat = {
  createSplitter: (options, sink) => new XmlSplitter(options, sink),
  parseRecord: (bytes, context) => parseRecord(bytes, context?.lenient),
  compileKeyRecovery,
};
