// One pull of one feed in its own process: the real path from the source to the committed backlog. Sends nothing.
import { pullFeed } from '../jobs/pull-feed.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { openAppFor } from '../src/runtime/app.ts';
import { feedSetups } from '../src/runtime/feed-setups.ts';

const [path, feed] = process.argv.slice(2) as [string, string];
const config = await loadConfig({ path, env: process.env, cwd: process.cwd() });
const app = await openAppFor(config, { quiet: true });
const [setup] = feedSetups(config, [feed]);
if (setup === undefined) throw new Error(`no feed ${feed} is configured`);
const startedAt = performance.now();
let bytes = 0;
const end = await pullFeed(setup, {
  db: app.db,
  log: app.log,
  signal: new AbortController().signal,
  onProgress: (progress) => {
    bytes = progress.bytes;
  },
});
const seconds = (performance.now() - startedAt) / 1000;
if (end.kind !== 'committed' || !end.complete)
  throw new Error(`the pull was not committed completely: ${JSON.stringify(end)}`);
const [row] = await app.db.query(
  'select seen, unchanged, (select count(*) from change where feed = $2) as pending from pull where id = $1',
  [end.pull, feed],
);
console.log(JSON.stringify({ seconds, bytes, ...row }));
await app.close();
