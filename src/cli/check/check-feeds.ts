// Reads the beginning of feeds to warn about likely mistakes of their mappings: files always, other sources on request.
import type { Config } from '../../config/config.ts';
import type { SourceConfig } from '../../feed/source/sources.ts';
import { sampleFeed } from '../../pull/record-sample.ts';
import { chooseFeeds } from '../../runtime/feed-setups.ts';
import { stopSignal } from '../../runtime/stop-signal.ts';

/** Many feeds are not read one after the other. */
const AT_ONCE = 8;

/** One line for each likely mistake, with the name of its feed. @param online whether sources elsewhere are read, too. */
export async function checkFeeds(config: Config, online: boolean): Promise<readonly string[]> {
  const { setups } = chooseFeeds(config, []);
  const waiting = [...setups.entries()].filter(([, { source }]) => isRead(source.from, online));
  const warnings: (readonly string[])[] = [];
  const stopping = stopSignal();
  const lane = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [at, setup] = next;
      const found = await sampleFeed(setup, stopping.signal);
      warnings[at] = found.map((text) => `feed ${setup.feed}: ${text}`);
    }
  };
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
  } finally {
    stopping.release();
  }
  return warnings.flat();
}

/** Standard input can be read only once. */
function isRead(source: SourceConfig, online: boolean): boolean {
  switch (source.kind) {
    case 'stdin':
      return false;
    case 'file':
    case 'files':
      return true;
    case 'several':
      return source.members.every((member) => isRead(member, online));
    default:
      return online;
  }
}
