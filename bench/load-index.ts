// Loads only the index of a feed, in its own process, to measure the time and memory of its mappings.
import type { FeedName } from '../src/posting/identifiers.ts';
import { openDatabase } from '../src/store/postgres/database.ts';
import { loadRecordIndex } from '../src/store/pull/record-hashes.ts';

const db = openDatabase(process.env.BENCH_DATABASE_URL as string, { max: 1 });
const session = await db.session();
const startedAt = performance.now();
const index = await loadRecordIndex(session, 'acme' as FeedName);
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({ seconds, entries: index.size, indexBytes: index.byteLength }));
await session.end();
await db.close();
