// Whether a site is sent to, in words and a colour.
import type { SiteOverview } from '../../review/read-model/site.ts';
import { siteStatusOf } from '../../review/site-status.ts';

const STATES = {
  sending: { words: 'open for sending', level: 'good' },
  paused: { words: 'paused', level: 'bad' },
  out_of_reach: { words: 'out of reach', level: 'bad' },
  waiting: { words: 'waiting, as it asked to', level: 'warn' },
} as const;

export const SiteStatusLabel = ({ site: { state, move } }: { site: SiteOverview }) => {
  const { words, level } =
    move === undefined ? STATES[siteStatusOf(state)] : { words: 'at another address', level: 'bad' };
  return <span class={`status ${level}`}>{words}</span>;
};
