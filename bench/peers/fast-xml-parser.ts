// A plain import script: reads the whole file, parses it with fast-xml-parser, and counts the postings.
import { readFileSync } from 'node:fs';
import { XMLParser } from 'fast-xml-parser';

const startedAt = performance.now();
const parser = new XMLParser({ parseTagValue: false });
const document = parser.parse(readFileSync(process.argv[2] as string, 'utf8'));
const records = (document.source.job as unknown[]).length;
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000, records }));
