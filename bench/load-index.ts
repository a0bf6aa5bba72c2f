// Loads the index of a feed alone, as a process of its own: what a million mappings take in time and memory.
import type { FeedName } from '../src/posting/identifiers.ts';
import { loadRecordIndex } from '../src/store/mapping/index-loader.ts';
import { openDatabase } from '../src/store/postgres/database.ts';

const db = openDatabase(process.env.BENCH_DATABASE_URL as string, { max: 1 });
const session = await db.session();
const startedAt = performance.now();
const index = await loadRecordIndex(session, 'acme' as FeedName);
const seconds = (performance.now() - startedAt) / 1000;
console.log(JSON.stringify({ seconds, entries: index.size, indexBytes: index.byteLength }));
await session.end();
await db.close();
