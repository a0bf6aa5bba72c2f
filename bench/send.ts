// Sends a backlog through the whole chain in its own process, until every outcome is recorded.

import { loadConfig } from '../src/config/load-config.ts';
import type { FeedName } from '../src/posting/identifiers.ts';
import { openAppFor } from '../src/runtime/app.ts';
import { awaitSending } from '../src/runtime/await-quiet.ts';
import { type Engine, startEngine } from '../src/runtime/engine.ts';
import { measureWork } from './measure-work.ts';

const [path] = process.argv.slice(2) as [string];
const config = await loadConfig({ path, env: process.env, cwd: process.cwd() });
const app = await openAppFor(config, { quiet: true });
const [site] = config.sites.keys();
if (site === undefined) throw new Error('the configuration has no site');
let engine: Engine | undefined;
const work = await measureWork(async () => {
  engine = await startEngine(app, undefined);
  engine.wake();
  const rest = await awaitSending(app, engine, site, ['acme' as FeedName], { signal: new AbortController().signal });
  if (rest.kind !== 'quiet') throw new Error(`not everything was sent: ${rest.message}`);
});
const [row] = await app.db.query(
  'select (select count(*) from change) as pending, (select count(*) from mapping) as mapped',
);
console.log(JSON.stringify({ ...work, ...row }));
await engine?.stop(5_000);
await app.close();
