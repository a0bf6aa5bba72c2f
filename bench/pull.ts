// One pull of one feed, as a process of its own: the real path from the source to the committed backlog, nothing sent.
import { pullFeed } from '../jobs/pull-feed.ts';
import { loadConfig } from '../src/config/load-config.ts';
import { openAppFor } from '../src/runtime/app.ts';
import { feedSetups } from '../src/runtime/feed-setups.ts';

const [path, feed] = process.argv.slice(2) as [string, string];
const config = await loadConfig({ path, env: process.env, cwd: process.cwd() });
const app = await openAppFor(config, { quiet: true });
const [setup] = feedSetups(config, [feed]);
if (setup === undefined) throw new Error(`there is no feed ${feed}`);
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
if (end.kind !== 'committed' || !end.complete) throw new Error(`the pull ended otherwise: ${JSON.stringify(end)}`);
const [row] = await app.db.query(
  'select seen, unchanged, (select count(*) from change where feed = $2) as pending from pull where id = $1',
  [end.pull, feed],
);
console.log(JSON.stringify({ seconds, bytes, ...row }));
await app.close();
