// How a pull ended, and whether a site is sent to, in words and a colour.
import type { SiteStatus } from '../../operations/status.ts';
import type { Action } from '../../plan/action.ts';
import type { PullStatus } from '../../store/pull/pull-row.ts';

interface Label {
  readonly words: string;
  readonly level: string;
}

export const PULL_STATUS: Readonly<Record<PullStatus, Label>> = {
  running: { words: 'running', level: 'live' },
  mirrored: { words: 'mirrored', level: 'good' },
  not_modified: { words: 'not modified', level: 'good' },
  review: { words: 'mirrored, with review', level: 'warn' },
  pending: { words: 'not all sent', level: 'warn' },
  incomplete: { words: 'incomplete', level: 'warn' },
  failed: { words: 'failed', level: 'bad' },
};

const REFUSED: Label = { words: 'not pulled, stopped by an undo', level: 'warn' };

const SITE_STATES: Readonly<Record<SiteStatus['state'], Label>> = {
  sending: { words: 'open for sending', level: 'good' },
  paused: { words: 'paused', level: 'bad' },
  stopped: { words: 'paused by a person', level: 'warn' },
  out_of_reach: { words: 'out of reach', level: 'bad' },
  waiting: { words: 'waiting, as it asked to', level: 'warn' },
};

const Labelled = ({ words, level }: Label) => <span class={`status ${level}`}>{words}</span>;

interface LabelledPull {
  readonly status: PullStatus;
  readonly actions?: readonly Action[];
}

/** A pull that was refused because an undo had stopped the feed has not failed. */
export const PullStatusLabel = ({ pull: { status, actions = [] } }: { pull: LabelledPull }) => (
  <Labelled
    {...(actions.some(({ kind }) => kind === 'resume_feed') && status === 'failed' ? REFUSED : PULL_STATUS[status])}
  />
);

export const SiteStatusLabel = ({ site: { state, moved } }: { site: SiteStatus }) => (
  <Labelled {...(moved === null ? SITE_STATES[state] : { words: 'at another address', level: 'bad' })} />
);
