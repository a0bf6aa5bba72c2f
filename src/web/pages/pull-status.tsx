// How a pull ended, in words and a colour.
import type { PullRow, PullStatus } from '../../store/pull/pull-row.ts';

export const PULL_STATUS: Readonly<Record<PullStatus, { readonly words: string; readonly level: string }>> = {
  running: { words: 'running', level: 'live' },
  mirrored: { words: 'mirrored', level: 'good' },
  not_modified: { words: 'not modified', level: 'good' },
  review: { words: 'mirrored, with review', level: 'warn' },
  pending: { words: 'not all sent', level: 'warn' },
  incomplete: { words: 'incomplete', level: 'warn' },
  failed: { words: 'failed', level: 'bad' },
};

export const PullStatusLabel = ({ pull }: { pull: Pick<PullRow, 'status'> }) => {
  const { words, level } = PULL_STATUS[pull.status];
  return <span class={`status ${level}`}>{words}</span>;
};
