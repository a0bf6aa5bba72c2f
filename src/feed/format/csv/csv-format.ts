// The format of tables: comma-separated values (RFC 4180), and what spreadsheets make of them.
import type { FeedFormat } from '../format.ts';
import { CsvSplitter } from './csv-splitter.ts';
import { parseRecord } from './parse-record.ts';
import { compileKeyRecovery } from './recover-key.ts';

export const csvFormat: FeedFormat = {
  createSplitter: (options, sink) => new CsvSplitter(options, sink),
  parseRecord,
  compileKeyRecovery,
};
